"""What the training thread hands to the writer thread: one record per step, holding copies only.

Parameters and gradients are copied into pooled buffers, all of one step in one slab: the training thread fills it, the
writer thread reduces it and gives it back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cutaway.arrays import Array, Float32Array, Float64Array
from cutaway.tensors.blocked_statistics import StatisticsPlan
from cutaway.tensors.modes import ModeKeys

__all__ = ["MOST_SLABS", "POOL_BYTES", "Layout", "Offer", "Slab", "SlabPool", "StepRecord"]

MOST_SLABS = 10
POOL_BYTES = 96 << 20

SampleValues = Mapping[str, Float64Array]


@dataclass(frozen=True)
class Layout:
    """Which tensors a slab holds, in order: first those whose change between steps is measured."""

    names: tuple[str, ...]
    dtypes: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    changing: int
    plan: StatisticsPlan


@dataclass
class Slab:
    """One buffer with the values of one step; `present` marks the tensors that the step had."""

    layout: Layout
    buffer: Float32Array
    present: list[bool] = field(default_factory=list)
    # Divides the tensors after the changing ones: the loss scale of mixed precision.
    scale: float = 1.0
    # Whatever the framework's adapter keeps with the buffer, such as its own views of it.
    views: Any = None

    def values(self, index: int) -> Float32Array:
        """Return one tensor's values, flat, as a view."""
        return self.buffer[self.layout.plan.slices[index]]


class SlabPool:
    """A bounded pool of slabs of one layout.

    When every slab is in use the writer cannot keep up, and the caller decides whether to wait or to do without.
    """

    def __init__(self, layout: Layout, memory: int = POOL_BYTES) -> None:
        self.layout = layout
        bytes_each = max(layout.plan.size * 4, 1)
        self._allowed = max(3, min(MOST_SLABS, memory // bytes_each))
        self._made = 0
        self._free: list[Slab] = []
        self._changed = threading.Condition()
        self._stuck = False

    @property
    def is_exhausted(self) -> bool:
        """Whether every slab is in use: the next one has to come back from the writer."""
        return not self._free and self._made >= self._allowed

    def acquire(self, patience: float) -> Slab | None:
        """Return a free slab, waiting at most `patience` seconds; None when there is none.

        After one wait in vain later calls do not wait again until a slab has come back: a stalled disk costs the
        training one wait, not one per step.
        """
        with self._changed:
            if not self._free and self._made < self._allowed:
                self._made += 1
                return Slab(self.layout, np.zeros(self.layout.plan.size, np.float32))
            if not self._free and not self._stuck:
                self._stuck = not self._changed.wait_for(lambda: bool(self._free), patience)
            return self._free.pop() if self._free else None

    def release(self, slab: Slab) -> None:
        """Give a slab back."""
        if slab.layout is not self.layout:
            return
        with self._changed:
            self._stuck = False
            self._free.append(slab)
            self._changed.notify()


@dataclass(frozen=True)
class Offer:
    """A copied tensor. `dtype` is its own; numpy has no bfloat16, so those bits travel as uint16."""

    name: str
    array: Array
    dtype: str
    activity: bool = False

    def numbers(self) -> Array:
        """Return the values as numpy can compute with them; of complex ones the real and imaginary parts."""
        if self.dtype != "bfloat16":
            kind = self.array.dtype
            return np.atleast_1d(self.array).view(f"f{kind.itemsize // 2}") if kind.kind == "c" else self.array
        return (self.array.astype(np.uint32) << 16).view(np.float32)


@dataclass
class StepRecord:
    """Everything that one step left behind."""

    step: int
    mode: ModeKeys
    mode_step: int
    time: float
    epoch: int | None = None
    due: frozenset[str] = frozenset()
    statistics: bool = False
    wanted: bool = False  # whether anything of its tensors is: statistics, or a saved collection
    trains: bool = False
    has_gradients: bool = False  # whether a backward pass of it has come to its end
    slab: Slab | None = None
    offers: list[Offer] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    samples: list[str | None] | None = None
    scalars: list[tuple[str, float]] = field(default_factory=list)
    # Samples of a batch, and what computes their values by name on the writer thread, from copies.
    sample_values: list[tuple[list[str | None], Callable[[], SampleValues]]] = field(default_factory=list)
    thinned: int = 0
    # False for what is added to a step that was listed already.
    listed: bool = True
    # Told once what went wrong with writing this record: nothing, as a rule.
    written: Callable[[str], None] | None = None

    def beginning(self) -> tuple[Any, ...]:
        """Return what `late` makes another record of the same step from: no tensors."""
        begins = (self.step, self.mode, self.mode_step, self.time, self.epoch)
        return (*begins, self.due, self.statistics, self.wanted)

    @classmethod
    def late(cls, beginning: tuple[Any, ...]) -> StepRecord:
        """Return a record for what is added to a step that was listed already."""
        record = cls(*beginning)
        record.listed = False
        return record

    def leave_out(self) -> None:
        """Record nothing of its tensors after all."""
        self.statistics, self.due, self.wanted = False, frozenset(), False
        self.offers.clear()

    @property
    def raw_bytes(self) -> int:
        """How much memory its tensors take."""
        slab = 0 if self.slab is None else self.slab.buffer.nbytes
        return slab + sum(offer.array.nbytes for offer in self.offers)

    @property
    def likely_bytes(self) -> int:
        """About what its rows take on disk, rather too much than too little; raw tensors come on top."""
        tensors = len(self.offers) + (sum(self.slab.present) if self.slab is not None else 0)
        channels = sum(max(offer.array.shape, default=1) for offer in self.offers if offer.activity)
        samples = sum(len(name or "") + 16 for name in self.samples or ())
        # Every value of a sample repeats its name; there are three of them, and each row has its own columns.
        return 3_000 + 250 * tensors + 4 * channels + samples + 4 * samples * bool(self.sample_values)
