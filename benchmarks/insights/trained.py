"""Populations of small networks that were trained on images, tables and texts with planted sicknesses.

What is planted is in the inputs or in the labels, so that the network itself decides what goes wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.insights.columns import BATCH, CAMERA, SICK_BATCH, SICK_CAMERA, columns_of
from benchmarks.insights.planted import ALL_WRONG, GAP, IMBALANCE, SICKNESSES, WEAK, shares_of
from benchmarks.insights.sources import Source, hard_images, letters, tables, texts
from benchmarks.labels.networks import convolutional, dense

__all__ = ["TRAINED", "Training", "evaluated", "sick_parts"]

Mask = npt.NDArray[np.bool_]
BATCH_SIZE, PREDICTED = 64, 1_000


@dataclass(frozen=True)
class Training:
    """What is trained on, and for how long; `file` says which file of data it takes, if any."""

    name: str
    source: Callable[[np.random.Generator, Path | None, int], Source]
    epochs: int
    held_back: bool
    file: str = ""
    training: int = 6_000
    held: int = 2_000


TRAINED = (
    Training("MNIST with noise, 2 epochs", hard_images("noise"), 2, held_back=False, file="MNIST"),
    Training("MNIST with patches, 3 epochs", hard_images("patches"), 3, held_back=True, file="MNIST"),
    Training("Fashion-MNIST, 2 epochs", hard_images("plain"), 2, held_back=True, file="Fashion-MNIST"),
    Training("letters, 4 epochs", letters, 4, held_back=True, file="letters"),
    Training("table, 10 epochs", tables, 10, held_back=False),
    Training("texts, 4 epochs", texts, 4, held_back=True),
)


def evaluated(setting: Training, case: str, seed: int, path: Path | None) -> dict[str, Any]:
    """Train with the sicknesses of a case; return columns, labels, probabilities, latents, and who was trained on."""
    random = np.random.default_rng([seed, len(setting.name), setting.epochs])
    sick = SICKNESSES[case]
    count = setting.training + setting.held
    source = setting.source(random, path, count)
    trained = np.arange(count) < setting.training
    columns = columns_of(random, shares_of(sick, trained))
    camera, batch = (columns[name] == value for name, value in ((CAMERA, SICK_CAMERA), (BATCH, SICK_BATCH)))
    x, y = source.x.copy(), source.y.copy()
    worse = sick_parts(sick, camera, trained)
    if worse.any():
        x[worse] = source.worsen(random, x[worse])
    if ALL_WRONG in sick:
        # Somebody called the classes of this batch by other names.
        y[batch] = (y[batch] + 1) % source.classes
    module = _train(setting, source, x[trained], y[trained], seed)
    latents, chances = _asked(module, x)
    return {"columns": columns, "label": y, "chances": chances, "latents": latents, "trained": trained}


def sick_parts(sick: tuple[str, ...], camera: Mask, trained: Mask) -> Mask:
    """Return which inputs are made worse: of the camera, everywhere or where the model is judged alone."""
    if WEAK in sick or IMBALANCE in sick:
        return camera
    return camera & ~trained if GAP in sick else np.zeros_like(camera)


def _train(
    setting: Training, source: Source, x: npt.NDArray[np.float32], y: npt.NDArray[np.int64], seed: int
) -> torch.nn.Sequential:
    images = x.ndim == 4
    module = convolutional(seed) if images else dense(seed, inputs=x.shape[1], classes=source.classes)
    criterion, optimizer = torch.nn.CrossEntropyLoss(), torch.optim.Adam(module.parameters(), 1e-3)
    random = np.random.default_rng(seed)
    inputs, targets = torch.from_numpy(x), torch.from_numpy(y)
    for _ in range(setting.epochs):
        order = random.permutation(len(x))
        for start in range(0, len(order), BATCH_SIZE):
            rows = order[start : start + BATCH_SIZE]
            optimizer.zero_grad()
            criterion(module(inputs[rows]), targets[rows]).backward()
            optimizer.step()
    return module.eval()


def _asked(module: torch.nn.Sequential, x: npt.NDArray[np.float32]) -> tuple[Any, Any]:
    """Return latent vectors and probabilities of all inputs."""
    latents, chances = [], []
    with torch.no_grad():
        for piece in torch.split(torch.from_numpy(x), PREDICTED):
            inside = module[0](piece)
            latents.append(inside.numpy())
            chances.append(torch.softmax(module[1](inside), 1).numpy())
    return np.concatenate(latents), np.concatenate(chances)
