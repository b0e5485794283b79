"""What is planted into a population, and what is then known of it. Draws nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cutaway.analysis.samples import Samples

__all__ = ["ALL_WRONG", "CLEAN", "GAP", "IMBALANCE", "OVERFIT", "SICKNESSES", "WEAK", "PlantedPopulation", "shares_of"]

WEAK, ALL_WRONG, GAP, IMBALANCE, OVERFIT, CLEAN = "weak", "all wrong", "gap", "imbalance", "overfit", "clean"
SICKNESSES = {
    CLEAN: (),
    "weak and all wrong": (WEAK, ALL_WRONG),
    GAP: (GAP,),
    IMBALANCE: (IMBALANCE,),
    OVERFIT: (OVERFIT,),
}
"""What is planted, by the name of the case."""
# Which share of the samples is of the camera that may be sick; where it is rare in training; and common where judged.
SHARE, RARE, COMMON = 0.08, 0.01, 0.12


@dataclass(frozen=True)
class PlantedPopulation:
    """Samples, and the held-out rows of each sickness that was planted."""

    samples: Samples
    planted: dict[str, npt.NDArray[np.bool_]]


def shares_of(sick: tuple[str, ...], trained: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Return the chance of each sample to be of the camera that may be sick."""
    rare, common = (RARE, COMMON) if IMBALANCE in sick else (SHARE, SHARE)
    return np.where(trained, rare, common)
