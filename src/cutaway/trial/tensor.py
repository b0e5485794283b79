"""One tensor of a run over its steps: its values, its reductions, its shapes."""

from __future__ import annotations

import bisect
import contextlib
import math
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from cutaway.arrays import Array
from cutaway.errors import InvalidWorker, RunDamaged, ShapeUnavailableForStep, TensorUnavailableForStep
from cutaway.run.tables import Damage
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reduction_config import NORMS, REDUCTIONS, parse_reduction, reduction_key
from cutaway.tensors.statistics import from_statistics, reduce
from cutaway.trial.html import facts_table, listed
from cutaway.trial.saved_tensors import Entry, Saved, SavedSteps, read_value

if TYPE_CHECKING:
    from cutaway.trial.follower import Follower
    from cutaway.trial.trial import Trial

__all__ = ["Tensor", "checked_value"]

Mode = ModeKeys | str


class Tensor:
    """A tensor of a trial. Steps are numbered in the `mode` that is given beside them, by default globally.

    >>> loss = trial.tensor("CrossEntropyLoss_output_0")      # doctest: +SKIP
    >>> [loss.value(step) for step in loss.steps()]           # doctest: +SKIP
    """

    def __init__(self, name: str, trial: Trial, follower: Follower) -> None:
        self.name = name
        self._trial = trial
        self._follower = follower
        self._steps: SavedSteps | None = None
        self._first: Mapping[int, Entry] = {}
        self._version = -1  # of the listed steps, when they were looked up

    def __repr__(self) -> str:
        return f"Tensor({self.name!r}, run={self._trial.name!r})"

    def _repr_html_(self) -> str:
        steps = self.steps()
        shapes = sorted({str(shape) for shape in self.shapes().values()})
        facts = {"run": self._trial.name, "saved at steps": listed(steps), "shapes": listed(shapes)}
        return facts_table(self.name, facts)

    def steps(self, mode: Mode = ModeKeys.GLOBAL, show_incomplete_steps: bool = False) -> list[int]:  # noqa: FBT001, FBT002 - upstream's signature
        """Return the steps at which the tensor, or reductions of it, were saved."""
        self._follower.maybe_refresh()
        saved, index = self._saved_steps(), self._follower.steps
        steps = saved.first.keys() if saved is not None else set()
        return index.shown(steps, ModeKeys.parse(mode), incomplete=show_incomplete_steps)

    def prev_steps(self, step: int, n: int | None = None, mode: Mode = ModeKeys.GLOBAL) -> list[int]:
        """Return the last `n` steps (None: all) up to and including `step`, in ascending order."""
        steps = self.steps(mode)
        before = steps[: bisect.bisect_right(steps, step)]
        return before if n is None else before[max(len(before) - n, 0) :]

    def workers(self, step_num: int, mode: Mode = ModeKeys.GLOBAL) -> list[str]:
        """Return the workers that saved the tensor at a step, sorted by name."""
        self._saved(step_num, mode, None)
        step = self._follower.steps.global_step(ModeKeys.parse(mode), step_num)
        saved = self._saved_steps()
        return [] if saved is None else [worker for worker, steps in saved.by_worker.items() if step in steps]

    def value(self, step_num: int, mode: Mode = ModeKeys.GLOBAL, worker: str | None = None) -> Array:
        """Return the value at a step, by default of the first worker by name.

        A read-only view of the file where that is complete. bfloat16 comes as float32; `dtype` says what it was.
        """
        follower, entry = self._follower, None
        # The common case in line: reading a small tensor over many steps should cost little more than its bytes.
        if mode is ModeKeys.GLOBAL and worker is None and self._version == follower.steps.version:
            entry = self._first.get(step_num) if monotonic() < follower.fresh_until else None
        if entry is None:
            entry = self._saved(step_num, mode, worker)
        value = checked_value(self.name, entry, follower)
        if value is None:
            raise TensorUnavailableForStep(self.name, step_num, ModeKeys.parse(mode).name, has_reductions=True)
        return value

    def values(self, mode: Mode = ModeKeys.GLOBAL, worker: str | None = None) -> dict[int, Array]:
        """Return the value of every step that has one, by step."""
        found = {}
        for step in self.steps(mode):
            # Of some steps only reductions are kept.
            with contextlib.suppress(TensorUnavailableForStep):
                found[step] = self.value(step, mode, worker)
        return found

    def dtype(self, step_num: int, mode: Mode = ModeKeys.GLOBAL, worker: str | None = None) -> str:
        """Return the name of the tensor's own type at a step, such as `float32` or `bfloat16`."""
        return self._saved(step_num, mode, worker).dtype

    def shape(self, step_num: int, mode: Mode = ModeKeys.GLOBAL, worker: str | None = None) -> tuple[int, ...]:
        """Return the shape at a step. Raises `ShapeUnavailableForStep` where the step has no row that says it."""
        where = (self.name, step_num, ModeKeys.parse(mode).name)
        try:
            shape = self._saved(step_num, mode, worker).shape
        except TensorUnavailableForStep as error:
            raise ShapeUnavailableForStep(*where, worker=error.worker, saved_by=error.saved_by) from None
        if shape is None:
            raise ShapeUnavailableForStep(*where)
        return shape

    def shapes(self, mode: Mode = ModeKeys.GLOBAL, worker: str | None = None) -> dict[int, tuple[int, ...]]:
        """Return the shape of every saved step, by step."""
        found = {step: self._saved(step, mode, worker).shape for step in self.steps(mode)}
        return {step: shape for step, shape in found.items() if shape is not None}

    def reduction_value(
        self,
        step_num: int,
        reduction_name: str,
        mode: Mode = ModeKeys.GLOBAL,
        worker: str | None = None,
        abs: bool = False,  # noqa: FBT001, FBT002 - upstream's signature
        *,
        finite: bool = False,
    ) -> float:
        """Return one reduction at a step: as it was saved, else from the statistics, else computed from the value.

        It answers at every step that has statistics, also where no value was saved. A NaN or infinity in the tensor
        makes it NaN, as numpy would, unless `finite` asks for the finite values alone.
        """
        name, absolute = parse_reduction(reduction_name)
        absolute = absolute or abs
        self._follower.refresh_if_stale()
        saved = self._find(step_num, mode, worker)
        keys = {} if saved is None or not saved.part.has_reductions else saved.reductions()
        kept = keys.get(reduction_key(name, abs=absolute))
        if kept is not None and not finite:
            return kept
        row = self._statistics(step_num, mode, worker)
        found = None if row is None else from_statistics(row, name, abs=absolute, finite=finite)
        if found is not None:
            return found
        if saved is not None and saved.offset is not None:
            value = self.value(step_num, mode, worker)
            return reduce(value[np.isfinite(value)] if finite else value, name, abs=absolute)
        if kept is not None and math.isfinite(kept):
            return kept
        raise self._absent(step_num, mode, worker, has_reductions=bool(keys) or row is not None)

    def reduction_values(
        self, step_num: int, mode: Mode = ModeKeys.GLOBAL, worker: str | None = None
    ) -> dict[tuple[str, bool], float]:
        """Return all reductions that were saved at a step or follow from its statistics, by name and `abs`."""
        self._follower.refresh_if_stale()
        saved, row = self._find(step_num, mode, worker), self._statistics(step_num, mode, worker)
        if saved is None and row is None:
            raise self._absent(step_num, mode, worker, has_reductions=False)
        derived = {
            (name, absolute): from_statistics(row, name, abs=absolute) if row is not None else None
            for name in (*REDUCTIONS, *NORMS)
            for absolute in (False, True)
        }
        kept = {} if saved is None else {parse_reduction(key): value for key, value in saved.reductions().items()}
        return {**{key: value for key, value in derived.items() if value is not None}, **kept}

    def _saved(self, step_num: int, mode: Mode, worker: str | None) -> Saved:
        """Return what was saved at a step, or raise what says why there is nothing."""
        self._follower.refresh_if_stale()
        saved = self._find(step_num, mode, worker)
        if saved is None:
            self._follower.maybe_refresh()
            saved = self._find(step_num, mode, worker)
        if saved is None:
            has_reductions = self._statistics(step_num, mode, worker) is not None
            raise self._absent(step_num, mode, worker, has_reductions=has_reductions)
        return saved

    def _saved_steps(self) -> SavedSteps | None:
        if self._version != self._follower.steps.version:
            self._steps = self._follower.tensors().steps_of(self.name)
            self._first = {} if self._steps is None else self._steps.first
            self._version = self._follower.steps.version
        return self._steps

    def _find(self, step_num: int, mode: Mode, worker: str | None) -> Saved | None:
        saved = self._saved_steps()
        if saved is None:
            return None
        step: int | None = step_num
        if mode is not ModeKeys.GLOBAL:
            step = self._follower.steps.global_step(ModeKeys.parse(mode), step_num)
        if step is None:
            return None
        entry = saved.first.get(step) if worker is None else saved.by_worker.get(worker, {}).get(step)
        return None if entry is None else Saved(*entry)

    def _statistics(self, step_num: int, mode: Mode, worker: str | None) -> dict[str, float] | None:
        step = self._follower.steps.global_step(ModeKeys.parse(mode), step_num)
        return None if step is None else self._follower.statistics().of(self.name).row(step, worker)

    def _absent(self, step_num: int, mode: Mode, worker: str | None, *, has_reductions: bool) -> Exception:
        """Return the error that says why the tensor has nothing at a step."""
        parsed = ModeKeys.parse(mode)
        if worker is not None:
            workers = self._trial.workers()
            if worker not in workers:
                return InvalidWorker(worker, workers)
            if self._find(step_num, mode, None) is not None:
                return TensorUnavailableForStep(
                    *(self.name, step_num, parsed.name),
                    has_reductions=has_reductions,
                    worker=worker,
                    saved_by=self.workers(step_num, mode),
                )
        why = self._trial.why_unavailable(step_num, parsed)
        if why is None or has_reductions:
            return TensorUnavailableForStep(self.name, step_num, parsed.name, has_reductions=has_reductions)
        return why


def checked_value(name: str, entry: Entry, follower: Follower) -> Array | None:
    """Read a saved value, or None where only reductions or the shape were saved; damage is named, and raised."""
    try:
        return read_value(entry)
    except RunDamaged as error:
        reason, saved = f"tensor {name!r}: {error.reason}", Saved(*entry)
        follower.name_damage([Damage(error.path, error.offset, int(saved.part.steps[saved.row]), reason)])
        raise
