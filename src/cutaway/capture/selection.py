"""Decides which tensors are wanted, what of each is kept at a step, and which steps anything is recorded of.

Statistics are wanted of weights, biases, gradients and losses, and of whatever else a user included. Full tensors, or
the reductions that a ReductionConfig asks for, are kept of the included collections at the steps of their SaveConfig.
Reads no tensors, knows no framework.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cutaway.capture.budget import DiskBudget
from cutaway.capture.records import StepRecord
from cutaway.capture.statistics_batch import Part
from cutaway.tensors.collection import Collection
from cutaway.tensors.collections import Collections
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reduction_config import ReductionConfig
from cutaway.tensors.save_config import SaveConfig

__all__ = ["ALWAYS_INCLUDED", "EVERYTHING", "Keep", "NanWatch", "Selection", "StepSchedule"]

# The seed's hook saves losses whatever else it is told.
ALWAYS_INCLUDED = ("losses",)
ALWAYS_WITH_STATISTICS = ("weights", "biases", "gradients", "losses")

NOTHING_DUE: frozenset[str] = frozenset()
# Stands among the collections that are due for every tensor that is wanted; no collection has an empty name.
EVERYTHING = ""


class NanWatch:
    """The collections with `save_when_nan`, and the tensors that each of them looks at. False where there are none."""

    def __init__(self, by_config: Mapping[SaveConfig, set[str]]) -> None:
        self._watching = [(config, names) for config, names in by_config.items() if config.when_nan]
        self._by_tensor: dict[str, frozenset[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._watching)

    def due(self, tensor: str) -> frozenset[str]:
        """Return the collections that are saved when this tensor is not finite."""
        found = self._by_tensor.get(tensor)
        if found is None:
            found = frozenset().union(*(names for config, names in self._watching if config.watches(tensor)))
            self._by_tensor[tensor] = found
        return found

    def due_after(self, parts: Iterable[Part]) -> frozenset[str]:
        """Return the collections that are saved because of what these statistics count as not finite."""
        sick = (part.names[int(i)].as_py() for part in parts for i in np.flatnonzero(part.columns["nonfinite"]))
        return frozenset().union(*map(self.due, sick))


class Keep(NamedTuple):
    """What is kept of one tensor at one step."""

    raw: bool
    reductions: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class _Included:
    collection: Collection
    save_config: SaveConfig
    reduction_config: ReductionConfig | None


class Selection:
    """The included collections with their configurations filled in, and the answers worked out once per tensor name."""

    def __init__(
        self,
        collections: Collections,
        included: Iterable[str],
        save_config: SaveConfig,
        reduction_config: ReductionConfig | None,
    ) -> None:
        self._included = {
            name: _Included(
                found := collections.get(name),
                found.save_config.fill(save_config) if found.save_config is not None else save_config,
                None if found.scalar else found.reduction_config or reduction_config,
            )
            for name in included
        }
        self._always = [collections.get(name) for name in ALWAYS_WITH_STATISTICS]
        self._by_config: dict[SaveConfig, set[str]] = {}
        for name, one in self._included.items():
            self._by_config.setdefault(one.save_config, set()).add(name)
        self.nan_watch = NanWatch(self._by_config)
        self._of: dict[str, frozenset[str]] = {}
        self._statistics: dict[str, bool] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The included collections."""
        return tuple(self._included)

    def due(self, mode: ModeKeys, mode_step: int) -> frozenset[str]:
        """Return the included collections whose schedule names this step."""
        due = [names for config, names in self._by_config.items() if config.should_save_step(mode, mode_step)]
        return frozenset().union(*due) if due else NOTHING_DUE

    def next_due(self, mode: ModeKeys, mode_step: int) -> int | None:
        """Return the first step of a mode, from `mode_step` on, that any schedule names; None where none does."""
        coming = [config.schedule(mode).next_save(mode_step) for config in self._by_config]
        return min((step for step in coming if step is not None), default=None)

    def collections_of(self, tensor: str) -> frozenset[str]:
        """Return the included collections that a tensor belongs to."""
        found = self._of.get(tensor)
        if found is None:
            found = frozenset(name for name, one in self._included.items() if one.collection.matches(tensor))
            self._of[tensor] = found
        return found

    def wants(self, tensor: str) -> bool:
        """Whether anything of this tensor is wanted: at least its statistics."""
        wanted = self._statistics.get(tensor)
        if wanted is None:
            wanted = (
                bool(self.collections_of(tensor))
                or any(found.matches(tensor) for found in self._always)
                # Also what nobody saves: a tensor that is not looked at cannot be seen to turn into NaN.
                or bool(self.nan_watch.due(tensor))
            )
            self._statistics[tensor] = wanted
        return wanted

    def keep(self, tensor: str, due: frozenset[str]) -> Keep | None:
        """Return what of a tensor is kept when these collections are due, or None."""
        names = self.collections_of(tensor) & due
        raw = EVERYTHING in due
        if not names and not raw:
            return None
        reductions: dict[tuple[str, bool], None] = {}
        for name in sorted(names):
            config = self._included[name].reduction_config
            raw = raw or config is None or config.save_raw_tensor
            if config is not None:
                reductions.update(dict.fromkeys(config.wanted()))
        return Keep(raw, tuple(reductions))


class StepSchedule:
    """The schedules of the included collections and of statistics, thinned as the disk budget asks."""

    def __init__(self, selection: Selection, statistics_every: int, budget: DiskBudget | None) -> None:
        self.selection = selection
        self._every = statistics_every
        self._budget = budget
        self._due_seen = 0  # steps that were due, to leave some of them out

    def decide(self, record: StepRecord, *, dump: bool) -> None:
        """Say in the record of a step that begins what is recorded of it; of a dump, everything."""
        thinning = 1 if self._budget is None else self._budget.thinning
        record.statistics = bool(self._every) and record.step % (self._every * thinning) == 0
        due = self.selection.due(record.mode, record.mode_step)
        if due:
            record.due = due if self._due_seen % thinning == 0 else NOTHING_DUE
            self._due_seen += 1
        if dump:
            record.due |= {EVERYTHING}
        record.wanted = record.statistics or bool(record.due) or bool(self.selection.nan_watch)

    def next_wanted(self, step: int, mode: ModeKeys, mode_step: int) -> int:
        """Return the first step, from this one on, of which anything is recorded by schedule; far off where none is."""
        thinning = 1 if self._budget is None else self._budget.thinning
        coming = [] if not self._every else [step + -step % (self._every * thinning)]
        due = self.selection.next_due(mode, mode_step)
        if due is not None:
            coming.append(step + due - mode_step)
        return min(coming, default=sys.maxsize)
