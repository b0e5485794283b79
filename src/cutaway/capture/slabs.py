"""Pooled buffers that parameters and gradients are copied into, all of one step in one buffer.

The training thread fills a slab, the writer thread reduces it and gives it back. The pool is bounded: when every slab
is in use the writer cannot keep up, and the caller decides whether to wait or to do without.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cutaway.arrays import Float32Array
from cutaway.tensors.blocked_statistics import StatisticsPlan

__all__ = ["MOST_SLABS", "POOL_BYTES", "Layout", "Slab", "SlabPool"]

MOST_SLABS = 10
POOL_BYTES = 96 << 20


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
    """A bounded pool of slabs of one layout."""

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
