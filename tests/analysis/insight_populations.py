"""Made populations with a known answer: clean ones, and ones into which one thing is planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.samples import Samples

__all__ = ["Made", "made", "neighbours", "no_neighbours"]

CLASSES = 5


@dataclass
class Made:
    """The parts of a population, to be changed before it becomes `samples`."""

    rng: np.random.Generator
    subset: np.ndarray
    label: np.ndarray
    columns: dict[str, np.ndarray]
    chance: np.ndarray  # of being wrong
    latents: np.ndarray
    loss: Callable[[np.random.Generator, np.ndarray], np.ndarray] | None = None
    with_answers: bool = True
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def training(self) -> np.ndarray:
        return np.asarray(self.subset == "training")

    def samples(self) -> Samples:
        rng, count = self.rng, len(self.label)
        wrong = rng.random(count) < self.chance
        shifted = (self.label + rng.integers(1, CLASSES, count)) % CLASSES
        table: dict[str, Any] = {
            "sample": [f"{subset}/{row}" for row, subset in enumerate(self.subset)],
            "subset": self.subset.astype(str),
        }
        if self.with_answers:
            table |= {
                "label": self.label.astype(str),
                "prediction": np.where(wrong, shifted, self.label).astype(str),
                "correct": ~wrong,
            }
        draw = self.loss or (lambda rng, wrong: np.where(wrong, 2.0, 0.1) * rng.lognormal(0, 0.7, len(wrong)))
        table["loss"] = draw(rng, wrong)
        return Samples(pa.table({**table, **self.columns, **self.extra}), self.latents.astype(np.float32))


def made(seed: int = 0, count: int = 2000, columns: int = 30, error: float = 0.08) -> Made:
    """Return a population without any fault: errors, classes, columns and subsets are independent of each other."""
    rng = np.random.default_rng(seed)
    subset = rng.permutation(np.repeat(["training", "validation"], [count * 3 // 5, count - count * 3 // 5]))
    label = rng.integers(0, CLASSES, count)
    given: dict[str, np.ndarray] = {}
    for number in range(columns):
        name = f"metadata.m{number}"
        if number % 3 == 0:
            given[name] = rng.normal(size=count)
        elif number % 3 == 1:
            given[name] = rng.lognormal(1, 1.5, count)
        else:
            given[name] = rng.choice(list("abcdefgh")[: 2 + number % 6], count)
    centres = np.random.default_rng(7).normal(size=(CLASSES, 8)) * 3
    latents = centres[label] + rng.normal(size=(count, 8))
    return Made(rng, subset, label, given, np.full(count, error), latents)


def neighbours(samples: Samples, k: int = 20) -> Nearest:
    """Return the nearest others by brute force."""
    rows = samples.latents.astype(np.float64)
    squares = (rows**2).sum(axis=1)
    away = squares[:, None] + squares - 2 * rows @ rows.T
    np.fill_diagonal(away, np.inf)
    k = min(k, len(rows) - 1)
    found = np.argpartition(away, k - 1, axis=1)[:, :k]
    order = np.argsort(np.take_along_axis(away, found, 1), axis=1, kind="stable")
    found = np.take_along_axis(found, order, 1).astype(np.int64)
    distances = np.sqrt(np.maximum(np.take_along_axis(away, found, 1), 0)).astype(np.float32)
    return Nearest(found, distances)


def no_neighbours(samples: Samples) -> Nearest:
    """Return that nobody has a neighbour, for what does not go by them."""
    return Nearest(np.full((len(samples), 20), -1, np.int64), np.full((len(samples), 20), np.inf, np.float32))
