"""How far the samples of a population lie from each class, as a table and in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cutaway.analysis.classes.centres import class_distances, in_words, nearest_classes
from cutaway.analysis.samples import LABEL, PREDICTION, SAMPLE, SUBSET, Samples
from cutaway.arrays import Float32Array
from cutaway.errors import AnalysisUnavailable

__all__ = ["Distances", "population_distances"]

TRAINING = "training"
# Above so many classes a column for each is no table that anybody reads.
MOST_COLUMNS = 1_000
NEAREST = 5


@dataclass(frozen=True)
class Distances:
    """The distance of each sample to the centre of each class in latent space.

    `values` has a column for each of `classes`, NaN for a class without samples; None where the classes are so many
    that `table` has the nearest five instead. `table` begins with `sample`.
    """

    classes: tuple[str, ...]
    table: pa.Table
    values: Float32Array | None
    notes: tuple[str, ...] = ()
    said: str = ""

    def in_words(self, row: int) -> str:
        """Say how far one sample lies from the nearest classes and from its label: `6.83 to class 6, 7.71 to ...`."""
        label = self.table[LABEL][row].as_py() if LABEL in self.table.column_names else None
        if self.values is not None:
            return in_words(self.values[row], self.classes, label)
        near = [
            f"{self.table[f'distance_{i}'][row].as_py():.2f} to class {self.table[f'class_{i}'][row]}" for i in (1, 2)
        ]
        return ", ".join(near)


def population_distances(samples: Samples) -> Distances:
    """Measure every sample against the centres of the classes: those of the training subset where there is one."""
    if not samples.has(LABEL):
        raise AnalysisUnavailable("class distances", "these samples have no labels.")
    labels = samples.column(LABEL)
    subset = np.array(samples.column(SUBSET).to_pylist(), object)
    training = (subset == TRAINING) & np.asarray(labels.is_valid())
    apart = bool(training.any()) and not bool(training.all())
    centres = training if apart else None
    notes = ("The centres are those of the training samples.",) if apart else ()
    columns = {name: samples.column(name) for name in (SAMPLE, LABEL, PREDICTION) if name in samples.table.column_names}
    if len(samples.classes) > MOST_COLUMNS:
        near = nearest_classes(samples.latents, labels, samples.classes, NEAREST, centres_from=centres)
        names = np.array([*samples.classes, None], object)
        for i in range(NEAREST):
            columns[f"class_{i + 1}"] = pa.array(names[near.numbers[:, i]].tolist(), pa.string())
            columns[f"distance_{i + 1}"] = pa.array(near.distances[:, i])
        many = f"There are {len(samples.classes):,} classes: the nearest {NEAREST} of each sample are given."
        return Distances(samples.classes, pa.table(columns), None, (*notes, many))
    values = class_distances(samples.latents, labels, samples.classes, centres_from=centres)
    wide = {name: values[:, i] for i, name in enumerate(samples.classes)}
    table = pa.table({**columns, **{_free(name, columns): column for name, column in wide.items()}})
    return Distances(samples.classes, table, values, notes, _said(samples, values))


def _free(name: str, taken: dict[str, object]) -> str:
    """Return the name of a class as a column; one that is called like another column gets a word before it."""
    return f"class {name}" if name in taken else name


def _said(samples: Samples, values: Float32Array) -> str:
    """Say how many errors the distances explain."""
    if not samples.has(PREDICTION):
        return ""
    number = {name: i for i, name in enumerate(samples.classes)}
    pairs = zip(samples.column(LABEL).to_pylist(), samples.column(PREDICTION).to_pylist(), strict=True)
    wrong = [(row, number[is_], number[said]) for row, (is_, said) in enumerate(pairs) if _both(is_, said, number)]
    if not wrong:
        return "No sample with a label is misclassified."
    nearer = sum(bool(values[row, said] < values[row, is_]) for row, is_, said in wrong)
    return (
        f"Of {len(wrong):,} misclassified samples, {nearer:,} lie nearer to the class that they were predicted as "
        "than to their own."
    )


def _both(label: str | None, prediction: str | None, known: dict[str, int]) -> bool:
    return label != prediction and label in known and prediction in known
