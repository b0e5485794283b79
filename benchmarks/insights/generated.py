"""Populations whose outcomes are drawn, without a training: classes that overlap and are easy, hard, common or rare.

What goes wrong is known exactly, and a population takes no time: so many of them can be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.insights.columns import BATCH, CAMERA, SICK_BATCH, SICK_CAMERA, columns_of
from benchmarks.insights.planted import (
    ALL_WRONG,
    GAP,
    IMBALANCE,
    OVERFIT,
    SICKNESSES,
    WEAK,
    PlantedPopulation,
    shares_of,
)
from cutaway.analysis.samples import Samples

__all__ = ["GENERATED", "Drawing", "draw"]

Mask = npt.NDArray[np.bool_]
Figures = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

UNITS = 24


@dataclass(frozen=True)
class Drawing:
    """How outcomes are drawn: sizes, classes, how far these are apart, their shares, and how much is memorised.

    `error` is that of a middling class; `memory` what the odds of an error are multiplied by in training.
    """

    name: str
    training: int
    held: int
    classes: int
    error: float
    memory: float
    imbalance: float
    held_back: bool


GENERATED = (
    Drawing("drawn, 10 even classes", 6_000, 2_000, 10, 0.12, 0.8, 0.0, held_back=False),
    Drawing("drawn, 4 rare and common classes", 3_000, 1_500, 4, 0.15, 0.4, 1.0, held_back=False),
    Drawing("drawn, 7 overlapping classes", 8_000, 2_500, 7, 0.2, 0.6, 0.3, held_back=True),
    Drawing("drawn, 20 rare and common classes", 5_000, 2_000, 20, 0.1, 0.25, 0.8, held_back=True),
)


def draw(how: Drawing, case: str, seed: int) -> PlantedPopulation:
    """Draw a population with the sicknesses of a case."""
    random = np.random.default_rng([seed, how.classes, how.training])
    sick = SICKNESSES[case]
    sizes = how.training, how.held
    trained = np.arange(sum(sizes)) < how.training
    columns = columns_of(random, shares_of(sick, trained))
    popular = (1 / np.arange(1, how.classes + 1)) ** how.imbalance
    label = random.choice(how.classes, sum(sizes), p=popular / popular.sum())
    camera, batch = columns[CAMERA] == SICK_CAMERA, columns[BATCH] == SICK_BATCH
    # Half of the classes are hard, and each is mostly taken for the next one.
    difficulty = np.exp(random.normal(0, 0.8, how.classes))
    odds = how.error / (1 - how.error) * difficulty[label]
    odds = np.where(trained, odds * how.memory, odds)
    if WEAK in sick:
        odds = np.where(camera, odds * 3.5, odds)
    if GAP in sick:
        odds = np.where(camera & ~trained, odds * 5, odds)
    if IMBALANCE in sick:
        odds = np.where(camera, odds * np.where(trained, 2, 4), odds)
    if OVERFIT in sick:
        odds = np.where(camera, odds * np.where(trained, 0.05, 4), odds)
    chance = odds / (1 + odds)
    if ALL_WRONG in sick:
        chance = np.where(batch, 1.0, chance)
    wrong = random.random(len(label)) < chance
    shift = np.where(random.random(len(label)) < 0.7, 1, random.integers(1, how.classes, len(label)))
    prediction = np.where(wrong, (label + shift) % how.classes, label)
    latents = _latents(random, how, label, prediction)
    if GAP in sick:
        latents[camera & ~trained] = 0.7 * latents[camera & ~trained] + random.normal(0.5, 0.4, UNITS)
    held = ~trained
    planted = {one: held & (batch if one == ALL_WRONG else camera) for one in sick}
    return PlantedPopulation(_samples(columns, trained, label, prediction, latents, random), planted)


def _latents(random: np.random.Generator, how: Drawing, label: Codes, prediction: Codes) -> Figures:
    """Vectors around the centres of classes; of a wrong answer between that of the label and that of the answer."""
    centres = random.normal(0, 1.2, (how.classes, UNITS))
    far = np.where(label == prediction, random.uniform(0, 0.3, len(label)), random.uniform(0.5, 0.9, len(label)))
    middle = centres[label] + far[:, None] * (centres[prediction] - centres[label])
    return np.asarray(middle + random.normal(0, 0.7, (len(label), UNITS)), np.float64)


def _samples(  # noqa: PLR0917  the parts of a table
    columns: dict[str, npt.NDArray[np.generic]],
    trained: Mask,
    label: Codes,
    prediction: Codes,
    latents: Figures,
    random: np.random.Generator,
) -> Samples:
    wrong = label != prediction
    losses = np.where(wrong, 2.0, 0.15) * random.lognormal(0, 0.6, len(label))
    subset = np.where(trained, "training", "validation")
    table = {
        "sample": [f"{name}/{row}" for row, name in enumerate(subset)],
        "subset": subset,
        "label": label.astype(str),
        "prediction": prediction.astype(str),
        "correct": ~wrong,
        "loss": losses,
    }
    return Samples(pa.table({**table, **columns}), latents.astype(np.float32))
