"""The data that label scores are judged on: images made hard, tables, texts and generated sets. Trains nothing.

A third of the sets are held back: no method, constant or bar was chosen by them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from torch import nn

from benchmarks.labels.networks import convolutional, dense
from benchmarks.labels.settings import Floats, Ints, Setting

__all__ = ["EPOCHS", "RATES", "SETS", "DataSet", "nearest_classes", "setting_of"]

EPOCHS = (2, 4, 10)
RATES = (0.05, 0.02, 0.10)
"""The share of wrong labels, by seed."""
# Of a set so many samples are used.
MOST = 6_000
SIDE = 28
# What makes images hard: the deviation of noise, and how wide a square is hidden.
NOISE, HIDDEN = 0.6, 13


@dataclass(frozen=True)
class DataSet:
    """Where inputs and right labels come from, and what is trained on them.

    `source` names the file that they are in, if any: MNIST's, or that of a package. `held_back` says that nothing was
    chosen by them, `two_classes` that there are no more.
    """

    name: str
    read: Callable[[Path | None], tuple[Floats, Ints]]
    source: str = ""
    held_back: bool = False
    images: bool = False
    two_classes: bool = False
    rate: float = 2e-3


def setting_of(data: DataSet, x: Floats, y: Ints, epochs: int) -> Setting:
    """The training of a set: a small CNN for images, else dense layers."""
    confusable = nearest_classes(x, y)
    network: Callable[[int], nn.Sequential] = convolutional
    if not data.images:
        network = partial(dense, inputs=x.shape[1], classes=len(confusable))
    return Setting(data.name, network, epochs, data.rate, confusable)


def nearest_classes(x: Floats, y: Ints) -> tuple[int, ...]:
    """For each class the one whose mean lies nearest: what a hasty person takes it for."""
    flat = x.reshape(len(x), -1)
    means = np.stack([flat[y == one].mean(axis=0) for one in range(int(y.max()) + 1)])
    distances = np.square(means[:, None] - means[None]).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    return tuple(int(one) for one in distances.argmin(axis=1))


def _some(x: npt.NDArray[np.generic], y: npt.NDArray[np.generic]) -> tuple[Floats, Ints]:
    order = np.random.default_rng(5).permutation(len(y))[:MOST]
    return np.ascontiguousarray(x[order], np.float32), y[order].astype(np.int64)


def _table(x: npt.NDArray[np.generic], y: npt.NDArray[np.generic]) -> tuple[Floats, Ints]:
    """Columns about 0, with a deviation of 1."""
    rows, labels = _some(x, y)
    spread = rows.std(axis=0)
    return (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1).astype(np.float32), labels


def _images(source: Path | None) -> tuple[Floats, Ints]:
    with np.load(source or "") as file:
        x, y = _some(file["x_train"], file["y_train"])
    return x[:, None] / np.float32(255), y


def _noisy(source: Path | None) -> tuple[Floats, Ints]:
    x, y = _images(source)
    return x + np.random.default_rng(6).normal(0, NOISE, x.shape).astype(np.float32), y


def _hidden(source: Path | None) -> tuple[Floats, Ints]:
    """Images of which a square is hidden, and some noise."""
    x, y = _images(source)
    random = np.random.default_rng(7)
    for one, (top, left) in zip(x, random.integers(2, SIDE - HIDDEN - 1, (len(x), 2)), strict=True):
        one[0, top : top + HIDDEN, left : left + HIDDEN] = 0
    return x + random.normal(0, NOISE / 3, x.shape).astype(np.float32), y


def _packed(source: Path | None) -> tuple[Floats, Ints]:
    with np.load(source or "") as file:
        return _table(file["x_train"], file["y_train"])


def _sklearn(_: Path | None, *, name: str) -> tuple[Floats, Ints]:
    from sklearn import datasets

    return _table(*getattr(datasets, name)(return_X_y=True))


def _generated(_: Path | None, *, apart: float, weights: tuple[float, ...], seed: int) -> tuple[Floats, Ints]:
    from sklearn.datasets import make_classification

    x, y = make_classification(
        5_000,
        20,
        n_informative=8,
        n_classes=len(weights),
        n_clusters_per_class=2,
        class_sep=apart,
        weights=list(weights),
        flip_y=0,
        random_state=seed,
    )
    return _table(x, y)


# Tables of packages by whose scores constants were chosen, and those by which none was.
LOOKED_AT = ("pen strokes", "spam", "segments", "phonemes", "two normals", "vowels")
HELD_BACK = ("textures", "telescope", "written digits", "ring", "mushrooms", "banana", "incomes", "chess")
TWO_CLASSES = ("spam", "phonemes", "two normals", "telescope", "ring", "mushrooms", "banana", "chess")
SETS = {
    one.name: one
    for one in (
        DataSet("MNIST, noisy", _noisy, "MNIST", images=True, rate=1e-3),
        DataSet("Fashion-MNIST", _images, "Fashion-MNIST", images=True, rate=1e-3),
        DataSet("digits", partial(_sklearn, name="load_digits")),
        DataSet("breast cancer", partial(_sklearn, name="load_breast_cancer"), two_classes=True),
        DataSet("Satellite", _packed, "Satellite"),
        DataSet("Shuttle", _packed, "Shuttle"),
        DataSet("overlapping", partial(_generated, apart=1.2, weights=(0.2,) * 5, seed=8)),
        DataSet("MNIST, hidden", _hidden, "MNIST", images=True, rate=1e-3),
        DataSet("letters", _packed, "letters"),
        DataSet("DNA", _packed, "DNA"),
        DataSet("Vehicle", _packed, "Vehicle"),
        DataSet("words", _packed, "words"),
        DataSet(
            "imbalanced",
            partial(_generated, apart=1.6, weights=(0.45, 0.25, 0.12, 0.08, 0.06, 0.04), seed=9),
        ),
        *(DataSet(name, _packed, name, two_classes=name in TWO_CLASSES) for name in LOOKED_AT),
        *(DataSet(name, _packed, name, held_back=True, two_classes=name in TWO_CLASSES) for name in HELD_BACK),
        DataSet("Fashion-MNIST, hidden", _hidden, "Fashion-MNIST", held_back=True, images=True, rate=1e-3),
        DataSet("crowded", partial(_generated, apart=2.0, weights=(0.1,) * 10, seed=10), held_back=True),
    )
}
"""By name."""
