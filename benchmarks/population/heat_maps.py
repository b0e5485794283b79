"""Measures heat maps beside captum's: of a live module, and of an export here and in the process of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.population.network import DEEPEST, export_onnx
from benchmarks.population.prepared import Prepared
from benchmarks.population.timing import in_turn
from cutaway import models
from cutaway.analysis.heat_maps.making import heat_map
from cutaway.models import Limits, Model

__all__ = ["METHODS", "measure_heat_maps"]

# How often each method takes its turn, in hundredths of the turns that were asked for.
METHODS = {"grad_cam": 100, "input_gradient": 100, "integrated_gradients": 20, "occlusion": 20}
SAMPLES = 16
WINDOW, STRIDE = 4, 2
# As many windows at a time as make the batch that ours asks the model for; captum is quickest so.
WINDOWS_AT_ONCE = 4


def measure_heat_maps(job: dict[str, Any], prepared: Prepared) -> dict[str, Any]:
    """Seconds and the largest difference from captum, by method: live, from a file here, from a file in its process."""
    torch.set_num_threads(1)
    # ONNX Runtime takes every core here unless it is told, and would be compared with one in the other process.
    os.environ["CUTAWAY_MODEL_THREADS"] = "1"
    module = prepared.module()
    images = prepared.array("test_images", mapped=True)[:SAMPLES].copy()
    targets = prepared.array("test_probabilities")[:SAMPLES].argmax(axis=1)
    path = Path(job["scratch"]) / "network.onnx"
    export_onnx(module, path)
    found = {}
    with (
        models.load(module, example=images) as live,
        models.load(path, trust=True) as here,
        models.load(path, limits=Limits(threads=1)) as child,
    ):
        opened = {"live": live, "here": here, "child": child}
        for method, hundredths in METHODS.items():
            turns = max(3, job["turns"] * hundredths // 100)
            captum = _by_captum(method, module, torch.from_numpy(images), torch.from_numpy(targets))
            ours: dict[str, Callable[[], Any]] = {
                name: partial(_ours, method, model, images, targets) for name, model in opened.items()
            }
            found[method] = _compared(captum, ours, turns)
    return {"methods": found, "samples": SAMPLES}


def _compared(captum: Callable[[], Any], ours: dict[str, Callable[[], Any]], turns: int) -> dict[str, Any]:
    wanted = captum().detach().numpy()
    differences = {name: _difference(make(), wanted) for name, make in ours.items()}
    seconds = in_turn({"captum": captum, **ours}, turns)
    return {"seconds": seconds, "differences": differences, "largest": float(np.abs(wanted).max())}


def _ours(method: str, model: Model, images: Any, targets: Any) -> Any:
    if method == "occlusion":
        return heat_map(model, images, method=method, target=targets, window=WINDOW, stride=STRIDE)
    return heat_map(model, images, method=method, target=targets)


def _difference(maps: Any, wanted: Any) -> float:
    values = np.stack([one.values if one.attribution is None else one.attribution for one in maps])
    return float(np.abs(values.reshape(wanted.shape) - wanted).max())


def _by_captum(method: str, module: Any, images: Any, targets: Any) -> Callable[[], Any]:
    """Captum's call for the same map, its objects made anew each time as its tutorials do."""
    from captum.attr import IntegratedGradients, LayerAttribution, LayerGradCam, Occlusion, Saliency

    size = tuple(images.shape[2:])
    window, stride = (1, WINDOW, WINDOW), (1, STRIDE, STRIDE)

    def grad_cam() -> Any:
        small = LayerGradCam(module, module[DEEPEST]).attribute(images, targets, relu_attributions=True)
        return LayerAttribution.interpolate(small, size, "bilinear")

    def input_gradient() -> Any:
        return Saliency(module).attribute(images.clone().requires_grad_(), target=targets, abs=False)

    def integrated_gradients() -> Any:
        return IntegratedGradients(module).attribute(images, target=targets)

    def occlusion() -> Any:
        return Occlusion(module).attribute(
            images, window, stride, target=targets, perturbations_per_eval=WINDOWS_AT_ONCE
        )

    calls = (grad_cam, input_gradient, integrated_gradients, occlusion)
    return {call.__name__: call for call in calls}[method]
