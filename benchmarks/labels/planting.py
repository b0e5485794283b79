"""Wrong labels that are known: which samples get one, and which. Trains nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["CLEAN", "CLOTHES", "DIGITS", "KINDS", "LETTERS", "MOST_ONE_SIDED", "ONE_SIDED", "Planted", "plant"]

Ints = npt.NDArray[np.int64]

DIGITS = (6, 7, 7, 5, 9, 3, 0, 1, 3, 4)
"""What a hasty person takes each digit for."""
CLOTHES = (6, 3, 4, 1, 2, 7, 0, 9, 3, 7)
"""The same for Fashion-MNIST: a T-shirt for a shirt, a pullover for a coat, a sandal for a sneaker."""
LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(one) for one in "RDGOFPCKJIXTNMQBOKZFVUVYTS")
"""The same for printed letters: an A for an R, a B for a D, a C for a G."""
KINDS = ("uniform", "confusable")
ONE_SIDED = "one-sided"
"""The kind of wrong labels that only samples of one class have, the largest: they get the label it is taken for."""
MOST_ONE_SIDED = 0.25
"""Of that class at most this share is made wrong."""
CLEAN = "none"
"""The kind of wrong labels of data that have none but their own."""


@dataclass(frozen=True)
class Planted:
    """Labels of which some are wrong, and which ones."""

    labels: Ints
    wrong: npt.NDArray[np.bool_]


def plant(labels: Ints, kind: str, rate: float, seed: int, confusable: tuple[int, ...] = DIGITS) -> Planted:
    """Give a share of the samples the label of another class: any other one, or the one it is taken for."""
    random = np.random.default_rng(100 + seed)
    rows = random.choice(len(labels), int(rate * len(labels)), replace=False)
    if kind == ONE_SIDED:
        of_one = np.flatnonzero(labels == np.bincount(labels).argmax())
        rows = random.choice(of_one, int(min(rate * len(labels), MOST_ONE_SIDED * len(of_one))), replace=False)
    found = labels.copy()
    if kind == "uniform":
        classes = len(confusable)
        found[rows] = (labels[rows] + random.integers(1, classes, len(rows))) % classes
    else:
        found[rows] = np.asarray(confusable)[labels[rows]]
    return Planted(found, found != labels)
