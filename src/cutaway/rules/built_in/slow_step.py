"""SlowStep: training steps that take much longer than they did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cutaway.arrays import Array, BoolArray, Float64Array, Int64Array
from cutaway.rules.arguments import Number, Whole
from cutaway.rules.judgement import Judgement
from cutaway.rules.losses import TrainingSteps
from cutaway.rules.rule import Rule
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.recent_steps import PHASES

__all__ = ["SlowStep"]


# Windows of steps that must have passed before anything is usual: first steps compile, fill caches and queues.
_WARM_UP = 3
# By so many seconds a step may always take longer: operating systems do other things as well.
_JITTER = 2e-3
# For so many seconds it must have been slow: what is over soon costs nothing, and every machine is busy at times.
_LASTING = 3.0

_BETWEEN = "between steps"


@dataclass(eq=False, repr=False, kw_only=True)
class SlowStep(Rule):
    """Training steps take much longer than they usually did in this run.

    What it sees:
        The seconds from the begin of each training step to the begin of the next; stretches of validation in between
        do not count. The rule fires where their median over the last `window` steps is more than `factor` times what
        was usual before, by two milliseconds at least, and has been so for three seconds. Usual is the median of all
        earlier stretches of `window` steps, of which there must be three. The message names the phase that grew most.

    Why it matters:
        The training takes twice the time for the same result. A cause that creeps in while it runs (a full disk cache,
        a neighbour on the machine, a list that grows with every step) gets worse.

    What to try:
        Where `data` grew: more loader workers, data on a nearer or faster disk, less decoding per sample. Where
        `forward` or `backward` grew: other processes on the device, thermal throttling, swapping, longer inputs, a
        graph that is kept alive from step to step. Where the time lies between steps: logging, saving checkpoints,
        moving values to the CPU.

    Needs:
        The times of the steps, which every run has.

    Parameters:
        window: over how many training steps the median is taken.
        factor: how many times what is usual a step may take.
    """

    window: Whole = Whole(20, least=3)
    factor: Number = Number(2.0, above=1)

    def reset(self) -> None:
        """Forget the times."""
        self._training = TrainingSteps()
        self._last: _Rows | None = None
        self._kept = _Intervals.none()
        self._count = 0  # intervals so far
        # Of each stretch of `window` intervals the medians: in all, and of each phase.
        self._blocks: list[Float64Array] = []
        self._slow_since: float | None = None

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Compare the last steps of every training step with all before."""
        fresh = self._intervals(reader, start, stop)
        if not len(fresh.steps):
            return
        before = len(self._kept.steps)
        joined = self._kept.followed_by(fresh)
        self._kept = joined.last(self.window)
        first = max(before, self.window - 1)  # the first interval that ends a whole window
        numbers = np.arange(self._count - before + first, self._count + len(fresh.steps))
        self._count += len(fresh.steps)
        if first >= len(joined.steps):
            return
        recent = np.median(np.lib.stride_tricks.sliding_window_view(joined.seconds[:, 0], self.window), axis=1)
        recent = recent[first - self.window + 1 :]
        for place in np.flatnonzero((numbers + 1) % self.window == 0).tolist():
            end = first + place + 1
            self._blocks.append(_medians(joined.seconds[end - self.window : end]))
        # Those that end before the window begins.
        passed = (numbers + 1 - self.window) // self.window
        known = passed >= _WARM_UP
        if known.any():
            yield self._judged(joined, first + np.flatnonzero(known), recent[known], passed[known])

    def _judged(self, joined: _Intervals, places: Int64Array, recent: Float64Array, passed: Int64Array) -> Judgement:
        blocks = np.array(self._blocks)
        medians = {count: float(np.median(blocks[:count, 0])) for count in set(passed.tolist())}
        usual = np.array([medians[count] for count in passed.tolist()])
        steps = joined.steps[places]
        fires = self._lasting((recent > self.factor * usual) & (recent > usual + _JITTER), joined.times[places])
        ratio = np.divide(recent, usual, out=np.zeros(len(recent)), where=usual > 0)

        def grown(i: int) -> _Grown:
            now = _medians(joined.seconds[places[i] + 1 - self.window : places[i] + 1])
            return _grown(_medians(blocks[: passed[i]]), now)

        def message(i: int) -> str:
            return (
                f"Training has become slow: at step {steps[i]} a training step takes {_time(recent[i])} (the median of "
                f"the last {self.window}), {ratio[i]:.2g} times the {_time(usual[i])} that is usual in this run. "
                f"{grown(i).in_words()}"
            )

        def evidence(i: int) -> dict[str, float | str]:
            most = grown(i)
            return {
                "seconds": float(recent[i]),
                "usual_seconds": float(usual[i]),
                "phase": most.phase,
                "phase_seconds": most.now,
                "phase_usual_seconds": most.before,
            }

        return Judgement.of_one("", steps, fires, ratio, self.factor, message, evidence)

    def _lasting(self, slow: BoolArray, times: Float64Array) -> BoolArray:
        """Say where steps have been slow for long enough."""
        found = np.zeros(len(slow), bool)
        for i in range(len(slow)):
            if not slow[i]:
                self._slow_since = None
            elif self._slow_since is None:
                self._slow_since = float(times[i])
            found[i] = slow[i] and times[i] - (self._slow_since or 0.0) >= _LASTING
        return found

    def _intervals(self, reader: TensorReader, start: int, stop: int) -> _Intervals:
        """Return the times between neighbouring training steps, and how they divide into phases."""
        window = reader.step_window(start, stop)
        rows = _Rows(
            window["step"],
            window["mode_step"],
            np.asarray(window["time"], np.float64),
            self._training.among(window),
            np.stack([np.asarray(window[phase], np.float64) for phase in PHASES], axis=1),
        )
        if self._last is not None:
            rows = _Rows(*(np.concatenate([a, b]) for a, b in zip(self._last, rows, strict=True)))
        self._last = _Rows(*(column[-1:] for column in rows)) if len(rows.steps) else None
        count = np.diff(rows.mode_steps)
        # Where another mode had steps in between, these do not follow each other in both numberings.
        good = rows.trains[1:] & rows.trains[:-1] & (count > 0) & (count == np.diff(rows.steps))
        whole = np.diff(rows.times)[good] / count[good]
        # The data of a step is fetched before it begins, all else happens after.
        phases = np.concatenate([rows.phases[1:, :1], rows.phases[:-1, 1:]], axis=1)[good]
        seconds = np.concatenate([whole[:, None], phases], axis=1)
        return _Intervals(rows.steps[1:][good], rows.times[1:][good], seconds)


class _Rows(NamedTuple):
    """Recorded steps."""

    steps: Array
    mode_steps: Array
    times: Array
    trains: Array
    phases: Array


class _Intervals(NamedTuple):
    """Times between training steps, by the step at which each ends: in all, then of each phase."""

    steps: Array
    times: Array
    seconds: Array

    @classmethod
    def none(cls) -> _Intervals:
        return cls(np.empty(0, np.int64), np.empty(0), np.empty((0, 1 + len(PHASES))))

    def followed_by(self, other: _Intervals) -> _Intervals:
        return _Intervals(*(np.concatenate([a, b]) for a, b in zip(self, other, strict=True)))

    def last(self, count: int) -> _Intervals:
        return _Intervals(*(column[-count:] for column in self))


class _Grown(NamedTuple):
    """The phase that explains most of why steps take longer."""

    phase: str
    before: float
    now: float

    def in_words(self) -> str:
        """Return a sentence about it."""
        where = "lies between steps" if self.phase == _BETWEEN else f"goes into the phase `{self.phase}`"
        return f"The time {where}: {_time(self.now)}, usually {_time(self.before)}."


def _grown(before: Float64Array, now: Float64Array) -> _Grown:
    """Return the phase that grew most, or what lies between steps where no phase explains half of it."""
    known = np.isfinite(before[1:]) & np.isfinite(now[1:])
    growth = np.where(known, now[1:] - before[1:], 0.0)
    most = int(np.argmax(growth))
    if growth[most] >= (now[0] - before[0]) / 2:
        return _Grown(PHASES[most], float(before[1 + most]), float(now[1 + most]))
    outside = [float(one[0] - one[1:][known].sum()) for one in (before, now)]
    return _Grown(_BETWEEN, *outside)


def _medians(rows: Float64Array) -> Float64Array:
    """Return the median of the known values of each column; NaN where none is known."""
    found = [column[np.isfinite(column)] for column in rows.T]
    return np.array([np.median(column) if len(column) else np.nan for column in found])


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"
