"""The classes as one sample sees them: how likely the model holds each, and how far the centre of each is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cutaway.arrays import Float64Array
from cutaway.errors import EvaluationError
from cutaway.studio.populations import Loaded
from cutaway.studio.populations.derived import has_probabilities
from cutaway.studio.wire.sample import ClassScore

__all__ = ["class_rows", "classes_of"]

MOST_CLASSES = 50


def classes_of(loaded: Loaded, row: int, label: str | None) -> tuple[list[ClassScore], list[str]]:
    """Return the likeliest classes of a sample and the nearest of those, the label included, and what is missing."""
    notes: list[str] = []
    likely = _probabilities(loaded, row, notes)
    far = _distances(loaded, row)
    if loaded.classes and far is None:
        command = f"`cutaway analyze {loaded.run.name} class-distances`"
        notes.append(f"Distances to the classes have not been analysed yet: run {command}.")
    return class_rows(loaded.classes, likely, far, label), notes


def class_rows(
    classes: tuple[str, ...], likely: Float64Array | None, far: Float64Array | None, label: str | None
) -> list[ClassScore]:
    """Return at most 50 classes: the likeliest first, of equals the nearest; the label is always among them."""
    if likely is None and far is None:
        return []
    count = len(classes)
    by_chance = np.zeros(count) if likely is None else -np.nan_to_num(likely, nan=-1.0)
    by_distance = np.zeros(count) if far is None else np.nan_to_num(far, nan=np.inf)
    order = np.lexsort((by_distance, by_chance)).tolist()
    chosen = order[:MOST_CLASSES]
    if label in classes and (own := classes.index(label)) not in chosen:
        chosen[-1] = own
    return [
        ClassScore(
            name=classes[one],
            probability=None if likely is None else float(likely[one]),
            distance=None if far is None else float(far[one]),
        )
        for one in chosen
    ]


def _probabilities(loaded: Loaded, row: int, notes: list[str]) -> Float64Array | None:
    """Return what the evaluation kept of the model's answer, as probabilities; None where it is not one class."""
    answer = loaded.population.answer
    column = answer.score_column
    if not has_probabilities(loaded):
        return None
    subset, inside = loaded.population.place_of(row)
    try:
        values = loaded.evaluation.values(subset, column, inside)
    except (EvaluationError, OSError, ValueError, pa.ArrowException, IndexError, KeyError):
        # A damaged file takes the probabilities with it; everything else of the sample can be shown.
        notes.append("The prediction cannot be read: its file is damaged. Evaluate again.")
        return None
    if values is None or values.size != len(answer.classes) or values.dtype.kind not in "fiu":
        return None
    return np.asarray(answer.likely(values.astype(np.float64).reshape(-1)))


def _distances(loaded: Loaded, row: int) -> Float64Array | None:
    held = loaded.kept("class_distances")
    if held is None or not loaded.classes:
        return None
    there = set(held.table.column_names)
    if not set(loaded.classes) <= there:
        return None
    try:
        return np.array([held.table[one][row].as_py() for one in loaded.classes], np.float64)
    except (TypeError, ValueError):
        # A class that is called like another column of that table.
        return None
