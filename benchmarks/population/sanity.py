"""Measures how often the sanity figure lets heat maps pass that know something, and ones that know nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from benchmarks.population.prepared import Prepared
from cutaway import models
from cutaway.analysis.heat_maps.making import heat_map
from cutaway.analysis.heat_maps.sanity import check_sanity
from cutaway.analysis.heat_maps.values import HeatMap

__all__ = ["RANDOM", "measure_sanity"]

Draw = Callable[[np.random.Generator, int, tuple[int, int]], Any]


def _smooth(cells: int) -> Draw:
    """Random numbers in so many cells along each side, brought to the size of the image."""

    def draw(random: np.random.Generator, count: int, size: tuple[int, int]) -> Any:
        coarse = torch.from_numpy(random.random((count, 1, cells, cells), np.float32))
        return torch.nn.functional.interpolate(coarse, size=size, mode="bilinear")[:, 0].numpy()

    return draw


def _every_place(random: np.random.Generator, count: int, size: tuple[int, int]) -> Any:
    return random.random((count, *size), np.float32)


def _few_places(random: np.random.Generator, count: int, size: tuple[int, int]) -> Any:
    """Nothing at most places, as in the maps of methods that cut at zero."""
    return np.maximum(_every_place(random, count, size) - np.float32(0.8), 0)


# What a map that knows nothing may look like.
RANDOM: dict[str, Draw] = {
    "noise": _every_place,
    "3 x 3 cells": _smooth(3),
    "7 x 7 cells": _smooth(7),
    "14 x 14 cells": _smooth(14),
    "few places": _few_places,
}


def measure_sanity(job: dict[str, Any], prepared: Prepared) -> dict[str, Any]:
    """How many maps of each kind pass, of images that the network reads correctly."""
    correct = prepared.array("test_probabilities").argmax(axis=1) == prepared.array("test_labels")
    rows = np.flatnonzero(correct)[: job["samples"]]
    images, labels = prepared.array("test_images")[rows], prepared.array("test_labels")[rows]
    random = np.random.default_rng(job["seed"])
    with models.load(prepared.module(), example=images[:2]) as model:
        made = heat_map(model, images, method="integrated_gradients", target=labels)
        passes = {"integrated gradients": _passes(check_sanity(model, images, made, seed=job["seed"]))}
        for name, draw in RANDOM.items():
            drawn = draw(random, len(images), images.shape[2:])
            maps = [_random_map(values, one) for values, one in zip(drawn, made, strict=True)]
            passes[name] = _passes(check_sanity(model, images, maps, seed=job["seed"]))
    worst = max(one.completeness or 0.0 for one in made)
    return {"passes": passes, "samples": len(images), "completeness": worst}


def _passes(figures: Any) -> int:
    return sum(one.better_than_random for one in figures)


def _random_map(values: Any, like: HeatMap) -> HeatMap:
    return HeatMap(values, "random", like.input, like.output, like.target, like.score)
