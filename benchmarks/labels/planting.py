"""Wrong labels that are known: which samples get one, and which. Trains nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["CONFUSABLE", "KINDS", "Planted", "plant"]

Ints = npt.NDArray[np.int64]

CONFUSABLE = (6, 7, 7, 5, 9, 3, 0, 1, 3, 4)
"""What a hasty person takes each digit for."""
KINDS = ("uniform", "confusable")


@dataclass(frozen=True)
class Planted:
    """Labels of which some are wrong, and which ones."""

    labels: Ints
    wrong: npt.NDArray[np.bool_]


def plant(labels: Ints, kind: str, rate: float, seed: int) -> Planted:
    """Give a share of the samples the label of another digit: any other one, or the one it is taken for."""
    random = np.random.default_rng(100 + seed)
    rows = random.choice(len(labels), int(rate * len(labels)), replace=False)
    found = labels.copy()
    if kind == "uniform":
        found[rows] = (labels[rows] + random.integers(1, 10, len(rows))) % 10
    else:
        found[rows] = np.asarray(CONFUSABLE)[labels[rows]]
    return Planted(found, found != labels)
