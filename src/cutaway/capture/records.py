"""What the training thread hands to the writer thread: one record per step, holding copies only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cutaway.arrays import Array, Float64Array
from cutaway.capture.slabs import Slab
from cutaway.tensors.modes import ModeKeys

__all__ = ["Offer", "StepRecord"]

SampleValues = Mapping[str, Float64Array]


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
