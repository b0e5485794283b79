"""Encodes samples into batches: whole slices where a subset has arrays, otherwise one sample after the other.

A sample that fails becomes a line in `Prepared.errors`; nothing that one sample does ends the batch. Does not run the
model, and knows no threads: `preparing` calls this from several.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.dataset.content import content_hashes
from cutaway.dataset.enums import Role
from cutaway.dataset.subset import Scalar, Subset, sample_id
from cutaway.errors import BindingError, EncoderError, OverlayError, place_of
from cutaway.evaluation.prepared import Prepared, rows_not_finite
from cutaway.evaluation.wiring import SampleShapes

__all__ = ["Encoding", "Stopped", "Turn", "Underway", "begin_batch", "encode_batch"]

Key = tuple[Role, str]


class SampleFailed(Exception):
    """One sample cannot be encoded; the text says why."""


class Stopped(Exception):
    """Somebody gave this batch up while it was being encoded."""


@dataclass(frozen=True)
class Encoding:
    """What is encoded: the data set, and the shapes that every sample must have."""

    dataset: Dataset
    shapes: SampleShapes

    def keys(self, subset: str) -> list[tuple[Key, tuple[int, ...]]]:
        """Return every input and ground truth of a subset's samples, with its shape."""
        inputs = [((Role.INPUT, one.name), self.shapes.inputs[one.name]) for one in self.dataset.inputs]
        if not self.dataset.labelled(subset):
            return inputs
        truths = self.shapes.ground_truths
        return inputs + [
            ((Role.GROUND_TRUTH, one.name), truths[one.name])
            for one in self.dataset.ground_truths
            if one.name in truths
        ]


@dataclass
class Underway:
    """How far a batch is: which sample comes next, and what was made of the earlier ones.

    A thread that takes too long over a sample is left behind, and another goes on from here: `lock` and `turn` keep the
    first from writing into what is no longer its own.
    """

    batch: Prepared
    rows: list[dict[Key, Array] | None]
    whole: dict[Key, Array] | None = None
    at: int = 0
    turn: int = 0
    since: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Turn:
    """One thread's leave to write into a batch, until it is given up."""

    def __init__(self, underway: Underway, clock: Callable[[], float] = time.monotonic) -> None:
        self._underway = underway
        self._turn = underway.turn
        self._clock = clock

    def begin(self) -> None:
        """Say that something of somebody's is called now. Raises `Stopped` where this thread was left behind."""
        self.check()
        self._underway.since = self._clock()

    def check(self) -> None:
        """Raise `Stopped` where another thread goes on in this one's place."""
        if self._turn != self._underway.turn:
            raise Stopped

    def write(
        self, i: int, row: dict[Key, Array] | None, metadata: dict[str, Scalar] | None, error: str | None
    ) -> None:
        """Note what was made of the i-th sample."""
        underway = self._underway
        with underway.lock:
            self.check()
            underway.rows[i], underway.batch.metadata[i] = row, metadata
            if error is not None:
                underway.batch.fail(i, error)
            underway.at = i + 1


def begin_batch(subset: Subset, start: int, stop: int) -> Underway:
    """Return an empty batch of the samples `start` to `stop`."""
    ids = [sample_id(subset.name, own) for own in subset.ids(start, stop)]
    count = stop - start
    batch = Prepared(subset.name, start, stop, ids, [None] * count, np.ones(count, np.bool_))
    batch.metadata = [None] * count
    return Underway(batch, [{} for _ in range(count)])


def encode_batch(encoding: Encoding, underway: Underway, turn: Turn) -> Prepared:
    """Fill a batch from where it stands."""
    batch = underway.batch
    subset = encoding.dataset.subsets[batch.subset]
    if underway.whole is None:
        underway.whole = _slices(encoding, subset, batch)
    whole = underway.whole
    single = [(key, shape) for key, shape in encoding.keys(batch.subset) if key not in whole]
    if single or encoding.dataset.metadata:
        for i in range(underway.at, len(batch)):
            turn.begin()
            turn.write(i, *_encode_sample(encoding, subset, batch.start + i, single))
    turn.check()
    _stack(encoding, underway, whole)
    return batch


def _slices(encoding: Encoding, subset: Subset, batch: Prepared) -> dict[Key, Array]:
    """Return what the subset has as arrays, and of the right shape."""
    found: dict[Key, Array] = {}
    for key, shape in encoding.keys(batch.subset):
        try:
            values = subset.encode_many(*key, batch.start, batch.stop)
        except EncoderError:
            continue  # asked for singly, each sample says for itself what is wrong
        if values is not None and values.shape == (len(batch), *shape):
            found[key] = values
    return found


def _encode_sample(
    encoding: Encoding, subset: Subset, index: int, keys: list[tuple[Key, tuple[int, ...]]]
) -> tuple[dict[Key, Array] | None, dict[str, Scalar] | None, str | None]:
    """Encode one sample: its arrays, its metadata, and what went wrong."""
    row: dict[Key, Array] | None = None
    metadata: dict[str, Scalar] | None = None
    error = None
    try:
        row = {key: _encoded(subset, key, index, shape) for key, shape in keys}
    except SampleFailed as failure:
        error = str(failure)
    if encoding.dataset.metadata:
        try:
            metadata = _call_theirs_or_fail(lambda: subset.metadata(index))
        except SampleFailed as failure:
            error = error or str(failure)
    return row, metadata, error


def _encoded(subset: Subset, key: Key, index: int, shape: tuple[int, ...]) -> Array:
    values: Array = _call_theirs_or_fail(lambda: np.asarray(subset.encode(*key, index)))
    if values.shape != shape:
        role = "input" if key[0] is Role.INPUT else "ground truth"
        raise SampleFailed(f"{role} {key[1]!r} has the shape {values.shape}, but the first sample's has {shape}.")
    return values


def _call_theirs_or_fail(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except BindingError as error:
        raise SampleFailed(str(error)) from error
    except OverlayError:
        raise  # labels that an overlay was not made for are no fault of one sample
    except Exception as error:  # somebody's data set may raise anything, and only this sample may suffer
        raise SampleFailed(f"{place_of(error)}: {type(error).__name__}: {error}") from error


def _stack(encoding: Encoding, underway: Underway, whole: Mapping[Key, Array]) -> None:
    batch = underway.batch
    for i, row in enumerate(underway.rows):
        if row is None:
            batch.encoded[i] = False
    kept = [row for row in underway.rows if row is not None]
    every = bool(batch.encoded.all())
    inputs: dict[str, Array] = {}
    truths: dict[str, Array] = {}
    for key, _ in encoding.keys(batch.subset):
        if key in whole:
            values = whole[key] if every else whole[key][batch.encoded]
        elif kept:
            values = np.stack([row[key] for row in kept])
        else:
            continue
        (inputs if key[0] is Role.INPUT else truths)[key[1]] = values
    batch.inputs, batch.truths = inputs, truths
    batch.hashes = _hashes(batch)
    # They are kept.
    batch.not_finite = int(rows_not_finite(inputs.values(), len(batch.positions)).sum())


def _hashes(batch: Prepared) -> list[str | None]:
    hashes: list[str | None] = [None] * len(batch)
    for i, one in zip(batch.positions.tolist(), content_hashes(batch.inputs), strict=False):
        hashes[i] = one
    return hashes
