"""Inputs with their classes: images made hard, printed letters, a table of overlapping classes, texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

__all__ = ["Source", "hard_images", "letters", "tables", "texts"]

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Generator = np.random.Generator
# How much noise hard images have, and the side of the patch that hides a part of them.
NOISE, PATCH = 0.7, 15


@dataclass(frozen=True)
class Source:
    """Inputs and classes of samples in an order of chance, and what makes inputs worse: the sickness of a camera."""

    x: Floats
    y: Ints
    classes: int
    worsen: Callable[[Generator, Floats], Floats]


def hard_images(how: str) -> Callable[[Generator, Path | None, int], Source]:
    """Return what reads images of a file and makes them hard: by `noise`, by `patches`, or not at all (`plain`)."""

    def read(random: Generator, path: Path | None, count: int) -> Source:
        if path is None:
            raise FileNotFoundError("images need a file")
        with np.load(path) as file:
            images, labels = file["x_train"], file["y_train"].astype(np.int64)
        rows = random.permutation(len(labels))[:count]
        x = images[rows].reshape(count, 1, 28, 28).astype(np.float32) / (255 if images.max() > 1 else 1)
        if how == "noise":
            x = (x + random.normal(0, NOISE, x.shape)).astype(np.float32)
        if how == "patches":
            for image, (top, left) in zip(x, random.integers(0, 28 - PATCH, (count, 2)), strict=True):
                image[0, top : top + PATCH, left : left + PATCH] = random.random()
        return Source(x, labels[rows], 10, _dim_and_noisy)

    return read


def _dim_and_noisy(random: Generator, x: Floats) -> Floats:
    return np.asarray(0.4 * x + random.normal(0, 0.45, x.shape), np.float32)


def _smeared(random: Generator, x: Floats) -> Floats:
    return np.asarray(0.7 * x + random.normal(0.4, 0.7, x.shape), np.float32)


def letters(random: Generator, path: Path | None, count: int) -> Source:
    """Return measurements of printed letters, of 26 classes."""
    if path is None:
        raise FileNotFoundError("letters need a file")
    with np.load(path) as file:
        x, y = (np.concatenate([file[f"{name}_train"], file[f"{name}_test"]]) for name in ("x", "y"))
    rows = random.permutation(len(y))[:count]
    return Source(x[rows].astype(np.float32), y[rows].astype(np.int64), 26, _smeared)


def tables(random: Generator, _: Path | None, count: int) -> Source:
    """Return rows of 20 numbers of six classes that overlap, common and rare ones."""
    from sklearn.datasets import make_classification

    x, y = make_classification(
        count, 20, n_informative=10, n_redundant=4, n_classes=6, n_clusters_per_class=2, class_sep=1.6,
        weights=[0.3, 0.25, 0.2, 0.12, 0.08, 0.05], flip_y=0.02, random_state=int(random.integers(1 << 30)),
    )  # fmt: skip
    return Source((x / x.std(axis=0)).astype(np.float32), y.astype(np.int64), 6, _smeared)


def texts(random: Generator, _: Path | None, count: int) -> Source:
    """Return word counts of short texts of eight subjects that share most of their words."""
    words, classes = 300, 8
    common = random.dirichlet(np.full(words, 0.3))
    own = random.dirichlet(np.full(words, 0.1), classes)
    y = random.integers(0, classes, count)
    lengths = random.integers(15, 60, count)
    mixed = 0.55 * common + 0.45 * own[y]
    x = np.stack([random.multinomial(length, chances) for length, chances in zip(lengths, mixed, strict=True)])
    return Source(np.sqrt(x).astype(np.float32), y.astype(np.int64), classes, _forgotten)


def _forgotten(random: Generator, x: Floats) -> Floats:
    """Lose most words of a text, and add words of chance."""
    noise = random.random(x.shape) < 0.03
    return np.asarray(np.where(random.random(x.shape) < 0.35, x, 0) + noise, np.float32)
