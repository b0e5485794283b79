"""Small batches of samples that came through well, for the model and for functions of batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.dataset.subset import sample_id
from cutaway.evaluation.checks.looking import (
    GROUND_TRUTH,
    INPUT,
    ROLES,
    LimitedCalls,
    SampleCall,
    SampleFunction,
    succeeded,
)

__all__ = ["SmallBatch", "clean_positions", "small_batches"]

Looked = Mapping[tuple[str, str], Sequence[SampleCall]]


@dataclass(frozen=True)
class SmallBatch:
    """Some samples of one subset, stacked. A ground truth that failed is not among `ground_truths`."""

    subset: str
    positions: tuple[int, ...]
    samples: tuple[str, ...]
    inputs: Mapping[str, Array]
    ground_truths: Mapping[str, Array]

    def __len__(self) -> int:
        return len(self.positions)


def clean_positions(seen: Sequence[SampleCall]) -> set[tuple[str, int]]:
    """Return subset and position of the samples with which nothing was wrong: of the usual shape, and finite."""
    well = [
        one
        for one in succeeded(seen)
        if one.summary is not None and all(problem.severity != "error" for problem in one.summary.problems)
    ]
    if not well:
        return set()
    usual = Counter((one.summary.shape, one.summary.dtype) for one in well if one.summary).most_common(1)[0][0]
    return {(one.subset, one.index) for one in well if one.summary and (one.summary.shape, one.summary.dtype) == usual}


def small_batches(
    dataset: Dataset, asked: Sequence[SampleFunction], looked: Looked, call: LimitedCalls
) -> list[SmallBatch]:
    """Return a batch of each subset, of samples whose inputs all came through well; empty where there are none."""
    inputs = [one for one in asked if one.kind == INPUT]
    truths = [one for one in asked if one.kind == GROUND_TRUTH]
    clean = {one.row: clean_positions(looked[one.row]) for one in (*inputs, *truths)}
    if not inputs:
        return []
    usable = set.intersection(*(clean[one.row] for one in inputs))
    batches = []
    for name in dataset.subsets:
        positions = sorted(index for subset, index in usable if subset == name)
        labelled = [one for one in truths if dataset.labelled(name)]
        told = [one for one in labelled if any((name, index) in clean[one.row] for index in positions)]
        # Ground truths that came through for some: those samples are enough to go on with.
        positions = [index for index in positions if all((name, index) in clean[one.row] for one in told)]
        if positions:
            batches += _batch(dataset, name, positions, (*inputs, *told), call)
    return batches


def _batch(
    dataset: Dataset, name: str, positions: Sequence[int], asked: Sequence[SampleFunction], call: LimitedCalls
) -> list[SmallBatch]:
    """Encode the samples once more: what was looked at was not kept. Empty where one fails this time."""
    subset = dataset.subsets[name]
    stacked: dict[tuple[str, str], Array] = {}
    for one in asked:
        outcomes = [call(lambda o=one, i=index: subset.encode(ROLES[o.kind], o.name, i)) for index in positions]  # type: ignore[misc]
        if any(outcome.late or outcome.error is not None for outcome in outcomes):
            return []
        arrays = [np.asarray(outcome.value) for outcome in outcomes]
        if len({values.shape for values in arrays}) > 1:
            return []
        stacked[one.row] = np.stack(arrays)
    samples = tuple(sample_id(name, subset.ids(index, index + 1)[0]) for index in positions)
    return [
        SmallBatch(
            name,
            tuple(positions),
            samples,
            {one.name: stacked[one.row] for one in asked if one.kind == INPUT},
            {one.name: stacked[one.row] for one in asked if one.kind == GROUND_TRUTH},
        )
    ]
