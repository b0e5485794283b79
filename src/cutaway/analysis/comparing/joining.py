"""Which samples two sets have in common, and with which labels both are judged. Compares no answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.analysis.samples import LABEL, Samples
from cutaway.arrays import BoolArray, IndexArray, ObjectArray
from cutaway.errors import AnalysisUnavailable, ConfigurationError

__all__ = ["ANALYSIS", "Joined", "join", "texts"]


ANALYSIS = "comparison"


@dataclass(frozen=True)
class Joined:
    """Two sets of samples row by row: row `first[i]` of one is the same sample as row `second[i]` of the other.

    `labels` are what both are judged by; `relabelled` says where the two had different ones.
    """

    first: IndexArray
    second: IndexArray
    labels: ObjectArray
    relabelled: BoolArray
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.first)

    def take(self, rows: BoolArray) -> Joined:
        """Return some of the rows, of which the same is to be noted."""
        return Joined(self.first[rows], self.second[rows], self.labels[rows], self.relabelled[rows], self.notes)


def join(first: Samples, second: Samples, names: tuple[str, str]) -> Joined:
    """Join two sets by sample id. Samples whose content differs are left out; the second's labels count."""
    place = {one: row for row, one in enumerate(second.ids)}
    for samples, name, known in ((first, names[0], set(first.ids)), (second, names[1], set(place))):
        if len(known) < len(samples):
            raise ConfigurationError(
                f"The samples {name!r} name one sample twice.", hint="Give each sample an id of its own."
            )
    pairs = [(row, place[one]) for row, one in enumerate(first.ids) if one in place]
    if not pairs:
        raise AnalysisUnavailable(
            ANALYSIS,
            f"none of {len(first):,} samples {names[0]!r} and {len(second):,} samples {names[1]!r} have the same id.",
            hint="Evaluate both models on one data set, with the same ids.",
        )
    here, there = (np.array(side, np.intp) for side in zip(*pairs, strict=True))
    notes = _only_in_one(first, second, len(pairs), names)
    same = _same_content(first, second, here, there)
    if not same.all():
        notes.append(f"{int((~same).sum()):,} samples are left out: their ids are the same, but their content is not.")
        here, there = here[same], there[same]
    if not len(here):
        raise AnalysisUnavailable(ANALYSIS, " ".join(notes))
    labels, relabelled, more = _labels(first, second, here, there, names)
    return Joined(here, there, labels, relabelled, (*notes, *more))


def texts(samples: Samples, name: str, rows: IndexArray) -> ObjectArray:
    """Return a column as texts, None where there is no value or no such column."""
    if name not in samples.table.column_names:
        return np.full(len(rows), None, object)
    values = np.array(samples.table[name].to_pylist(), object)[rows]
    return np.array([None if one is None or one != one else str(one) for one in values], object)  # noqa: PLR0124


def _only_in_one(first: Samples, second: Samples, both: int, names: tuple[str, str]) -> list[str]:
    counts = {names[0]: len(first) - both, names[1]: len(second) - both}
    told = [f"{count:,} only in {name!r}" for name, count in counts.items() if count]
    return [f"{both:,} samples are in both; left out are {' and '.join(told)}."] if told else []


def _same_content(first: Samples, second: Samples, here: IndexArray, there: IndexArray) -> BoolArray:
    if first.hashes is None or second.hashes is None:
        return np.ones(len(here), np.bool_)
    one, other = (np.array(side, object) for side in (first.hashes, second.hashes))
    a, b = one[here], other[there]
    unknown = np.array([x is None or y is None for x, y in zip(a, b, strict=True)], np.bool_)
    return np.asarray(unknown | (a == b), np.bool_)


def _labels(
    first: Samples, second: Samples, here: IndexArray, there: IndexArray, names: tuple[str, str]
) -> tuple[ObjectArray, BoolArray, list[str]]:
    before, after = texts(first, LABEL, here), texts(second, LABEL, there)
    known = np.array([x is not None and y is not None for x, y in zip(before, after, strict=True)], np.bool_)
    relabelled = np.asarray(known & (before != after), np.bool_)
    labels = np.where([one is None for one in after], before, after)
    if known.any() and relabelled[known].all() and not set(before[known]) & set(after[known]):
        raise AnalysisUnavailable(
            ANALYSIS,
            f"the classes have no name in common: {sorted(set(before[known]))[:3]} against "
            f"{sorted(set(after[known]))[:3]}.",
            hint="Name the classes alike and evaluate again.",
        )
    count = int(relabelled.sum())
    note = f"{count:,} samples have another label in {names[1]!r}: both models are judged by the label in {names[1]!r}."
    return labels, relabelled, [note] if count else []
