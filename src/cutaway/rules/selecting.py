"""What a rule looks at: tensors, which of them are trained, full values where statistics do not do; and the words for
what a run lacks.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cutaway.arrays import Array, BoolArray, Float64Array, Int64Array
from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation, RunDamaged
from cutaway.rules.rule import UNAVAILABLE
from cutaway.tensors.collections import DEFAULT_PATTERNS
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock

__all__ = [
    "SCALE",
    "has_gradient",
    "has_vanished",
    "in_collection",
    "lacking",
    "saved_places",
    "selected",
    "share_per_channel",
    "value_at",
]

PREFIX = "gradient/"
# What a hook records where gradients are scaled.
SCALE = "gradient_scale"


def selected(reader: TensorReader, collection_names: Iterable[str] = (), tensor_regex: str | None = None) -> list[str]:
    """Return the tensors of some collections and those that a regex finds, together, sorted.

    Raises `InsufficientInformationForRuleInvocation` where the run has none of them.
    """
    collections = tuple(collection_names)
    names: set[str] = set()
    for collection in collections:
        names.update(in_collection(reader, collection))
    if tensor_regex is not None:
        names.update(reader.tensor_names(regex=tensor_regex))
    if not names:
        raise lacking(reader, collections, tensor_regex)
    return sorted(names)


def in_collection(reader: TensorReader, collection: str) -> list[str]:
    """Return the tensors of a collection; none where the run has no such collection."""
    try:
        return list(reader.tensor_names(collection=collection))
    except ConfigurationError:
        return []


def lacking(
    reader: TensorReader,
    collections: Iterable[str] = (),
    tensor_regex: str | None = None,
    *,
    full: bool = False,
    every: bool = False,
) -> InsufficientInformationForRuleInvocation:
    """Return the error that says what a rule needs, what this run saved, and what to change.

    `full` says that statistics do not suffice: the tensors themselves must have been saved. `every` says that all of
    it is needed; else one suffices.
    """
    wanted = list(collections)
    needs = [f"collection {name!r}" for name in wanted]
    needs += [f"tensors that match {tensor_regex!r}"] if tensor_regex is not None else []
    saved = [name for name in DEFAULT_PATTERNS if name not in ("all", "default") and in_collection(reader, name)]
    here = ", ".join(map(repr, saved)) or "nothing so far"
    kept, both = " in full" if full else "", " and " if every else " or "
    how = f" Add {', '.join(map(repr, wanted))} to the hook's `include_collections`." if wanted else ""
    how = how or " Choose others with the rule's parameters, or add them with the hook's `include_regex`."
    return InsufficientInformationForRuleInvocation(f"needs {both.join(needs)}{kept}; this run saved {here}.{how}")


def has_gradient(reader: TensorReader, block: StatisticsBlock) -> BoolArray:
    """Return for every tensor and step of a block whether the tensor's gradient has statistics there too.

    Weights without a gradient stand still on purpose; with mixed precision, where a gradient overflows, the scaler
    skips the update of all weights.

    In a run that keeps no gradients at all nobody knows, and every tensor counts as trained. A step whose update was
    skipped has no gradient that counts.
    """
    every = in_collection(reader, "gradients")
    if not every:
        return np.ones((len(block.names), len(block)), bool)
    found = np.zeros((len(block.names), len(block)), bool)
    rows = {f"{PREFIX}{name}": row for row, name in enumerate(block.names)}
    for gradients in reader.statistics_blocks(list(rows), int(block.steps[0]), int(block.steps[-1]) + 1):
        found[[rows[name] for name in gradients.names]] = np.isin(block.steps, gradients.steps)
    if SCALE in reader.scalar_names():
        for gradients in reader.statistics_blocks(every, int(block.steps[0]), int(block.steps[-1]) + 1):
            skipped = gradients.steps[(gradients["nonfinite"] > 0).any(axis=0)]
            found[:, np.isin(block.steps, skipped)] = False
    return found


def has_vanished(reader: TensorReader, block: StatisticsBlock, limit: float) -> BoolArray:
    """Return for every tensor and step of a block whether the tensor's gradient there is known to be below a limit.

    Meant is the mean of its absolute values.
    """
    found = np.zeros((len(block.names), len(block)), bool)
    if not len(block):
        return found
    rows = {f"{PREFIX}{name}": row for row, name in enumerate(block.names)}
    for gradients in reader.statistics_blocks(list(rows), int(block.steps[0]), int(block.steps[-1]) + 1):
        small = (gradients.mean_abs < limit) & (gradients["nonfinite"] == 0)
        _, own, theirs = np.intersect1d(block.steps, gradients.steps, return_indices=True)
        own_rows = np.array([rows[name] for name in gradients.names], np.intp)
        found[np.ix_(own_rows, own)] = small[:, theirs]
    return found


def saved_places(reader: TensorReader, steps: Int64Array) -> list[int]:
    """Return the places, among some steps, of those at which any tensor was saved in full."""
    found: list[int] = np.flatnonzero(np.isin(steps, np.asarray(reader.steps(), np.int64))).tolist()
    return found


def value_at(reader: TensorReader, tensor: str, step: int) -> Array | None:
    """Return a tensor's value at a step, or None where it was not saved or its bytes are damaged."""
    try:
        return reader.value(tensor, step)
    except (*UNAVAILABLE, RunDamaged):
        # The trial has named the damage already; a rule goes on with what there is.
        return None


def share_per_channel(holds: Array) -> Float64Array:
    """Return for each channel the share of its values that something holds for.

    Channels lie along axis 1, or along the last of a vector, as in the activity that a hook records.

    >>> share_per_channel(np.array([[True, False], [True, True]])).tolist()
    [1.0, 0.5]
    """
    if not holds.size:
        return np.empty(0)
    channel = min(1, holds.ndim - 1)
    axes = tuple(axis for axis in range(holds.ndim) if axis != channel)
    found: Float64Array = np.atleast_1d(holds.mean(axis=axes))
    return found
