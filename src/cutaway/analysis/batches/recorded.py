"""The numbers of batches that a run holds: values of samples, scalars, tensors of losses. Chooses none among them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.arrays import Array, BoolArray
from cutaway.errors import ConfigurationError, RunDamaged, TensorUnavailableForStep
from cutaway.trial import Trial

__all__ = ["NAMES", "Batch", "BatchNumbers", "Number", "sources", "steps_without_record"]

Batch = tuple[str, int]
"""The mode and the global step of a batch."""
Number = tuple[float, int | None]
"""What was measured, and of how many samples it is the mean, where that is known."""

# What people call these where they save them with `hook.save_scalar`.
NAMES = {
    "loss": re.compile(r"(?:^|[/_.])loss$", re.IGNORECASE),
    "accuracy": re.compile(r"(?:^|[/_.])acc(?:uracy)?$", re.IGNORECASE),
}
# People who never set a mode say in the name that a number is of an evaluation.
OF_EVALUATION = re.compile(r"(?:val|valid|validation|eval|test)[/_.]", re.IGNORECASE)
OF_SAMPLES = {"loss": "loss", "accuracy": "correct"}


class BatchNumbers(NamedTuple):
    """Numbers of batches, and in words where they come from."""

    words: str
    values: Mapping[Batch, Number]


def sources(trial: Trial, name: str) -> list[BatchNumbers]:
    """Return where the numbers of batches may come from, the best first; `name` is `loss` or `accuracy`."""
    found = [BatchNumbers("the mean over their samples", _of_samples(trial, OF_SAMPLES[name]))]
    found += _first_of_mode(_of_scalars(trial, name))
    if name == "loss":
        found += _first_of_mode(_of_tensors(trial))
    else:
        found.append(BatchNumbers("from saved labels and predictions", _of_labels(trial)))
    return [source for source in found if source.values]


def _first_of_mode(given: Iterable[BatchNumbers]) -> Iterator[BatchNumbers]:
    """Leave to each mode the first that has numbers of it: two scalars of different names are not one curve."""
    taken: set[str] = set()
    for source in given:
        yield BatchNumbers(source.words, {batch: one for batch, one in source.values.items() if batch[0] not in taken})
        taken |= {mode for mode, _ in source.values}


def _of_scalars(trial: Trial, name: str) -> Iterator[BatchNumbers]:
    rows = trial.scalars()
    for scalar in _by_nearness(rows["name"].unique().to_pylist(), name):
        own = rows.filter(pc.equal(rows["name"], scalar))
        if OF_EVALUATION.match(scalar):
            own = own.set_column(own.column_names.index("mode"), "mode", pa.array(["EVAL"] * own.num_rows, pa.string()))
        yield BatchNumbers(f"scalar {scalar!r}", _means(own, counted=False))


def _by_nearness(names: Iterable[str], wanted: str) -> list[str]:
    """Return the names that mean what is wanted, the plain one first."""
    return sorted((one for one in names if NAMES[wanted].search(one)), key=lambda one: (len(one), one))


def _of_samples(trial: Trial, name: str) -> dict[Batch, Number]:
    rows = trial.sample_values(name=name)
    rows = rows.filter(pc.is_valid(rows["mode"]))
    if name == OF_SAMPLES["accuracy"]:
        # A sample whose label the loss ignores is neither right nor wrong. A loss that is NaN is a fault, and stays.
        rows = rows.filter(pc.invert(pc.is_nan(rows["value"])))
    return _means(rows, counted=True)


def _of_tensors(trial: Trial) -> Iterator[BatchNumbers]:
    rows = trial.statistics(_in_collection(trial, "losses"))
    rows = rows.filter(pc.equal(rows["size"], 1))
    values = pc.if_else(pc.greater(rows["nonfinite"], 0), pa.scalar(np.nan, pa.float64()), rows["mean"])
    rows = rows.append_column("value", values)
    for name in sorted(rows["tensor"].unique().to_pylist()):
        yield BatchNumbers(f"tensor {name!r}", _means(rows.filter(pc.equal(rows["tensor"], name)), counted=False))


def _of_labels(trial: Trial) -> dict[Batch, Number]:
    """Return the accuracy of the steps that saved one class number a sample, and a score for each class."""
    names = [_in_collection(trial, collection) for collection in ("labels", "predictions")]
    if any(len(one) != 1 for one in names):
        return {}
    labels, predictions = (trial.tensor(one[0]) for one in names)
    found: dict[Batch, Number] = {}
    for step in sorted({*labels.steps()} & {*predictions.steps()}):
        # Of some steps only reductions are kept, and damage is named by the trial: others still answer.
        with contextlib.suppress(TensorUnavailableForStep, RunDamaged):
            right = _right(labels.value(step), predictions.value(step))
            if right is not None and len(right):
                found[trial.mode(step).name, step] = float(right.mean()), len(right)
    return found


def _right(labels: Array, scores: Array) -> BoolArray | None:
    if labels.ndim != 1 or scores.ndim != 2 or len(labels) != len(scores) or labels.dtype.kind not in "iu":
        return None
    known = labels >= 0  # what a loss ignores
    return np.asarray(scores[known].argmax(axis=1) == labels[known])


def _in_collection(trial: Trial, collection: str) -> list[str]:
    try:
        return trial.tensor_names(collection=collection)
    except ConfigurationError:  # the run has no such collection
        return []


def _means(rows: pa.Table, *, counted: bool) -> dict[Batch, Number]:
    """Return the mean of the column `value` for each batch, over its samples and the workers that had a part of it."""
    grouped = rows.group_by(["mode", "step"]).aggregate([("value", "mean"), ("value", "count")])
    columns = (grouped[name].to_pylist() for name in ("mode", "step", "value_mean", "value_count"))
    return {
        (mode, step): (np.nan if mean is None else mean, count if counted else None)
        for mode, step, mean, count in zip(*columns, strict=True)
    }


def steps_without_record(trial: Trial) -> int:
    """Count the steps with values of samples of which nobody knows what they were for, for they left no record."""
    rows = trial.sample_values(name=list(OF_SAMPLES.values()))
    return len(rows.filter(pc.is_null(rows["mode"]))["step"].unique())
