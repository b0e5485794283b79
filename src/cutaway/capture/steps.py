"""Counts steps, over all modes and in each, and epochs."""

from __future__ import annotations

from cutaway.run.identity import Run
from cutaway.run.schemas import SCALARS, STEPS
from cutaway.tensors.modes import ModeKeys

__all__ = ["EpochCounter", "StepCounter"]


class EpochCounter:
    """The epoch that a step belongs to: counted by passes over the training samples, unless the loop says it."""

    def __init__(self, epoch: int | None = None) -> None:
        self.epoch = epoch
        self._is_told = False
        self._began = -1  # the step before which the last epoch was counted

    def set(self, epoch: int) -> None:
        """Take the loop's own count; from now on nothing else counts."""
        self.epoch, self._is_told = epoch, True

    def count(self, step: int) -> None:
        """Note that a pass begins before a step. Two loaders side by side begin one epoch: it takes a step between."""
        if not self._is_told and step > self._began:
            self.epoch = 0 if self.epoch is None else self.epoch + 1
            self._began = step


class StepCounter:
    """The numbers of the next step."""

    def __init__(self) -> None:
        self.step = 0
        self._mode_steps = dict.fromkeys(ModeKeys, 0)
        self.newest: tuple[int, ModeKeys, int] | None = None  # the step taken last, its mode, and its number there

    @classmethod
    def after(cls, run: Run) -> tuple[StepCounter, int | None]:
        """Continue the numbers of a run at the newest attempt's first step; also return the last epoch before it."""
        counter = cls()
        counter.step = run.attempts()[-1].from_step
        rows = run.table(STEPS).read(columns=["step", "mode", "mode_step", "epoch"]).sort_by("step")
        before = [row for row in rows.to_pylist() if row["step"] < counter.step]
        for row in before:
            counter._mode_steps[ModeKeys[row["mode"]]] = row["mode_step"] + 1
        # Steps that were only counted, or that a kill kept from being listed, left no row: they belong to the mode
        # that was recorded last.
        last = before[-1]["step"] if before else -1
        mode = before[-1]["mode"] if before else _mode_of_scalars(run, counter.step)
        counter._mode_steps[ModeKeys[mode]] += counter.step - last - 1
        epochs = [row["epoch"] for row in before if row["epoch"] is not None]
        return counter, max(epochs, default=None)

    def take(self, mode: ModeKeys) -> tuple[int, int]:
        """Return the numbers of a step that begins: over all modes, and within its own."""
        step, mode_steps = self.step, self._mode_steps
        mode_step = mode_steps[mode]
        self.step, mode_steps[mode] = step + 1, mode_step + 1
        self.newest = (step, mode, mode_step)
        return step, mode_step

    def mode_step(self, mode: ModeKeys) -> int:
        """Return the number within its mode of the step that comes next."""
        return self._mode_steps[mode]

    @property
    def last(self) -> int:
        """The step that began last, or 0 before the first."""
        return max(self.step - 1, 0)


def _mode_of_scalars(run: Run, end: int) -> str:
    """Return the mode of the last scalar before a step: it is all that a run without listed steps may have."""
    rows = run.table(SCALARS).read(columns=["step", "mode"]).sort_by("step").to_pylist()
    return next((str(row["mode"]) for row in reversed(rows) if row["step"] < end), ModeKeys.GLOBAL.name)
