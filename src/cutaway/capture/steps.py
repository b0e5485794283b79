"""Counts steps: one counter over all modes, and one for each mode."""

from __future__ import annotations

from cutaway.run.identity import Run
from cutaway.run.schemas import STEPS
from cutaway.tensors.modes import ModeKeys

__all__ = ["StepCounter"]


class StepCounter:
    """The numbers of the next step."""

    def __init__(self) -> None:
        self.step = 0
        self._mode_steps = dict.fromkeys(ModeKeys, 0)

    @classmethod
    def after(cls, run: Run) -> StepCounter:
        """Continue the numbers of a run at the newest attempt's first step."""
        counter = cls()
        counter.step = run.attempts()[-1].from_step
        rows = run.table(STEPS).read(columns=["step", "mode", "mode_step"])
        for step, mode, mode_step in zip(*(rows[name].to_pylist() for name in rows.column_names), strict=True):
            if step < counter.step:
                key = ModeKeys[mode]
                counter._mode_steps[key] = max(counter._mode_steps[key], mode_step + 1)
        return counter

    def take(self, mode: ModeKeys) -> tuple[int, int]:
        """Return the numbers of a step that begins: over all modes, and within its own."""
        step, mode_step = self.step, self._mode_steps[mode]
        self.step += 1
        self._mode_steps[mode] += 1
        return step, mode_step

    def mode_step(self, mode: ModeKeys) -> int:
        """Return the number within its mode of the step that comes next."""
        return self._mode_steps[mode]

    @property
    def last(self) -> int:
        """The step that began last, or 0 before the first."""
        return max(self.step - 1, 0)
