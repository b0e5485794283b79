"""Which steps a run has recorded: their modes, who wrote them, and up to which one all workers have.

Knows rows and numbers, not files: `Follower` feeds it.
"""

from __future__ import annotations

from collections.abc import Collection, Set

import numpy as np
import pyarrow as pa

from cutaway.arrays import BoolArray, Int64Array
from cutaway.run.rows import TableRows, numbers
from cutaway.run.segments import SegmentName
from cutaway.run.tables import Batch
from cutaway.tensors.modes import ModeKeys

__all__ = ["StepIndex", "StepRange"]


class StepRange:
    """The steps that a trial looks at: `first <= step < end`, each side open where it is None."""

    def __init__(self, first: int | None = None, end: int | None = None) -> None:
        self.first, self.end = first, end

    def __contains__(self, step: int) -> bool:
        return (self.first is None or step >= self.first) and (self.end is None or step < self.end)

    def mask(self, steps: Int64Array, limit: int | None = None) -> BoolArray:
        """Say for each step whether it is in range, and before the first step that a later attempt took over."""
        inside = np.ones(len(steps), bool)
        if self.first is not None:
            inside &= steps >= self.first
        for end in (self.end, limit):
            if end is not None:
                inside &= steps < end
        return inside


class StepIndex:
    """The steps that have their row in `trace/steps`; such a step is listed, and all of its other rows are there."""

    def __init__(self, within: StepRange, window: int) -> None:
        self.within = within
        self._window = window
        self.version = 0
        self.clear()

    def clear(self) -> None:
        """Forget everything, as when a new attempt has replaced steps."""
        self._steps: set[int] = set()
        self._listed: dict[tuple[str, int], set[int]] = {}
        self._open: set[int] = set()  # not known to be complete
        self._complete = -1  # with every step before it
        self._last = -1
        self._modes = ModeIndex()
        self._sorted: dict[ModeKeys, list[int]] = {}
        self._global: dict[ModeKeys, Int64Array] = {}
        self.past_end = False  # whether the training has left the range
        self.version += 1

    def add(self, batch: Batch, limit: int | None) -> None:
        """Take in rows of `trace/steps`, up to the first step that a later attempt took over."""
        steps = numbers(batch.content.column("step"))
        if self.within.end is not None and len(steps) and steps.max() >= self.within.end:
            self.past_end = True
        shown = self.within.mask(steps, limit)
        found = (steps if shown.all() else steps[shown]).tolist()
        if not found:
            return
        self._modes.add(batch.content, shown)
        self._last = max(self._last, *found)
        self._steps.update(found)
        self._listed.setdefault((batch.segment.worker, batch.segment.attempt), set()).update(found)
        self._open.update(found if self._complete < 0 else [step for step in found if step > self._complete])
        self._sorted.clear()
        self._global.clear()
        self.version += 1

    def judge(self, expected: Collection[str], attempt: int, *, ended: bool, missing: int = 0) -> None:
        """Work out which steps are complete.

        A step is when the attempt that wrote it is over, or when all `expected` workers of the running one have listed
        it; and then so is every step before it. `missing` workers have been announced and not shown up yet.
        """
        if not self._open:
            return
        before = self._complete
        if ended:
            self._complete = max(self._open)
        else:
            running = [self._listed.get((worker, attempt), set()) for worker in expected]
            over = [steps for (_, number), steps in self._listed.items() if number != attempt]
            for step in self._open:
                whole = not missing and all(step in steps for steps in running)
                if whole or any(step in steps for steps in over):
                    self._complete = max(self._complete, step)
        self._close()
        if len(self._open) > self._window:
            self._complete = sorted(self._open)[max(self._window // 2 - 1, 0)]
            self._close()
        if self._complete != before:
            self.version += 1

    def _close(self) -> None:
        self._open = {step for step in self._open if step > self._complete}

    def is_complete(self, step: int) -> bool:
        """Whether every worker that will write this step has."""
        return step <= self._complete

    def listed(self, segment: SegmentName) -> frozenset[int] | set[int]:
        """Return the steps that the writer of a segment has listed, as far as they are shown."""
        return self._listed.get((segment.worker, segment.attempt), frozenset())

    def __contains__(self, step: int) -> bool:
        return step in self._steps

    @property
    def steps(self) -> Set[int]:
        """All global steps."""
        return self._steps

    def mode(self, step: int) -> tuple[ModeKeys, int] | None:
        """Return the mode of a global step and its number in that mode."""
        return self._modes.of_steps.get(step)

    def global_step(self, mode: ModeKeys, mode_step: int) -> int | None:
        """Return the global step of a mode's own step, or None where it is not recorded."""
        if mode is ModeKeys.GLOBAL:
            return mode_step if mode_step in self._steps else None
        return self._modes.steps_in(mode).get(mode_step)

    def modes(self) -> list[ModeKeys]:
        """Return the modes that steps were recorded in; GLOBAL is not one of them."""
        return [mode for mode in ModeKeys if mode is not ModeKeys.GLOBAL and self._modes.steps_in(mode)]

    def workers(self, attempt: int | None = None) -> set[str]:
        """Return who has recorded steps, in one attempt or in all that are shown."""
        return {worker for worker, number in self._listed if attempt in (None, number)}

    def recorded(self, mode: ModeKeys) -> list[int]:
        """Return the steps of a mode, numbered in that mode, in order."""
        if mode not in self._sorted:
            self._sorted[mode] = sorted(self._steps if mode is ModeKeys.GLOBAL else self._modes.steps_in(mode))
        return self._sorted[mode]

    def global_steps(self, mode: ModeKeys) -> Int64Array:
        """Return the global steps of a mode, ascending."""
        if mode not in self._global:
            found = self._steps if mode is ModeKeys.GLOBAL else self._modes.steps_in(mode).values()
            self._global[mode] = np.sort(np.fromiter(found, np.int64))
        return self._global[mode]

    def last_complete(self, mode: ModeKeys) -> int:
        """Return the last complete step of a mode, numbered in that mode, or -1."""
        if not self._open and mode is ModeKeys.GLOBAL:
            return self._last
        own = {} if mode is ModeKeys.GLOBAL else self._modes.steps_in(mode)
        complete = (step for step in reversed(self.recorded(mode)) if self.is_complete(own.get(step, step)))
        return next(complete, -1)

    def shown(self, steps: Set[int], mode: ModeKeys, *, incomplete: bool) -> list[int]:
        """Return those of some global steps that belong to a mode, numbered in that mode, in order."""
        if self._open and not incomplete:
            steps = {step for step in steps if step <= self._complete}
        if mode is ModeKeys.GLOBAL:
            return sorted(steps)
        found = (self._modes.of_steps.get(step) for step in steps)
        return sorted(one[1] for one in found if one is not None and one[0] is mode)

    def mode_columns(self, steps: Int64Array) -> tuple[pa.Array, pa.Array]:
        """Return the mode names and mode steps of rows with these global steps; null where a step is not listed."""
        nothing: tuple[None, None] = (None, None)
        values, places = np.unique(steps, return_inverse=True)
        found = [self._modes.of_steps.get(step, nothing) for step in values.tolist()]
        names = pa.array([None if mode is None else mode.name for mode, _ in found], pa.string())
        numbers = pa.array([mode_step for _, mode_step in found], pa.int64())
        return names.take(pa.array(places)), numbers.take(pa.array(places))


class ModeIndex:
    """The modes of steps. Rows wait until somebody asks: most that read tensors never do."""

    def __init__(self) -> None:
        self._waiting: list[tuple[TableRows, BoolArray]] = []
        self._of_steps: dict[int, tuple[ModeKeys, int]] = {}
        self._steps_in: dict[ModeKeys, dict[int, int]] = {}

    def add(self, rows: TableRows, shown: BoolArray) -> None:
        """Take in rows of `trace/steps`, those that are shown."""
        self._waiting.append((rows, shown))

    @property
    def of_steps(self) -> dict[int, tuple[ModeKeys, int]]:
        """The mode of each global step, and its number in that mode."""
        self._sort()
        return self._of_steps

    def steps_in(self, mode: ModeKeys) -> dict[int, int]:
        """Return the global step of each step of a mode."""
        self._sort()
        return self._steps_in.get(mode, {})

    def _sort(self) -> None:
        for rows, shown in self._waiting:
            columns = [rows.column(name).filter(pa.array(shown)) for name in ("step", "mode_step", "mode")]
            steps, mode_steps = (numbers(column) for column in columns[:2])
            modes = columns[2].fill_null("").dictionary_encode()
            codes = modes.indices.to_numpy()
            for code, name in enumerate(modes.dictionary.to_pylist()):
                mode, of_mode = ModeKeys.__members__.get(name, ModeKeys.GLOBAL), codes == code
                own, known = mode_steps[of_mode].tolist(), steps[of_mode].tolist()
                self._of_steps.update(zip(known, ((mode, mode_step) for mode_step in own), strict=True))
                self._steps_in.setdefault(mode, {}).update(zip(own, known, strict=True))
        self._waiting.clear()
