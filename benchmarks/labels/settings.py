"""What is trained on, and how: the small CNN on images, dense layers on digits and letters. Trains nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from torch import nn

from benchmarks.labels.networks import convolutional, dense
from benchmarks.labels.planting import CLOTHES, DIGITS, LETTERS
from benchmarks.population.images import read_images

__all__ = ["SETTINGS", "Data", "Setting", "read_data"]

# So many samples are trained on, and at most so many are for testing.
TRAINED, TESTED = 12_000, 10_000
# Of digits so many are trained on where some are kept for testing.
DIGITS_TRAINED = 1_200

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Setting:
    """An ordinary training: a network, made from a seed, and how long it is trained at which rate.

    `confusable` is what a hasty person takes each class for.
    """

    name: str
    network: Callable[[int], nn.Sequential]
    epochs: int
    rate: float
    confusable: tuple[int, ...] = DIGITS

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.confusable)


SETTINGS = {
    one.name: one
    for one in (
        Setting("MNIST", convolutional, 5, 1e-3),
        Setting("MNIST, 2 epochs", convolutional, 2, 1e-3),
        Setting("Fashion-MNIST", convolutional, 5, 1e-3, CLOTHES),
        Setting("letters", partial(dense, inputs=16, classes=26), 20, 1e-3, LETTERS),
        Setting("digits", dense, 30, 2e-3),
    )
}
"""By the name of their data."""


@dataclass(frozen=True)
class Data:
    """Inputs with their right labels, to train on and to test with."""

    x: Floats
    y: Ints
    x_test: Floats
    y_test: Ints


def read_data(setting: str, source: str | None, *, split: int | None = None, share: float = 1.0) -> Data:
    """The data of a setting, from a file where they are in one.

    Of digits a third is for testing, drawn by `split`; without one all are trained on. Only this `share` of the samples
    is taken, for a smoke run.
    """
    if setting == "letters":
        with np.load(source or "") as file:
            x, y, x_test, y_test = (file[name] for name in ("x_train", "y_train", "x_test", "y_test"))
        trained, tested = int(TRAINED * share), int(TESTED * share)
        return Data(x[:trained], y[:trained], x_test[:tested], y_test[:tested])
    if setting != "digits":
        images = read_images(Path(source or ""), int(TRAINED * share), int(TESTED * share))
        return Data(images.train, images.train_labels, images.test, images.test_labels)
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    x, y = load_digits(return_X_y=True)
    x, y = (x / 16).astype(np.float32), y.astype(np.int64)
    if split is None:
        return Data(x, y, x[:0], y[:0])
    rows, tests = train_test_split(np.arange(len(y)), train_size=DIGITS_TRAINED, stratify=y, random_state=split)
    return Data(x[rows], y[rows], x[tests], y[tests])
