"""The series of numbers that a run has: what was saved, and what follows from its steps. Thins nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from cutaway.arrays import BoolArray, Float64Array, Int64Array
from cutaway.studio.wire.life import ScalarRow
from cutaway.tensors.recent_steps import PHASES
from cutaway.trial.growing import Columns
from cutaway.trial.loss_totals import loss_values
from cutaway.trial.scalar_series import ScalarPoints
from cutaway.trial.series_totals import SeriesTotals, is_loss, totals_of
from cutaway.trial.trial import Trial

__all__ = ["ScalarCurve", "all_curves", "scalar_group", "scalar_row"]

Group = Literal["loss", "metric", "rate", "throughput", "other"]
STEPS_RATE = "steps_per_second"
SAMPLES_RATE = "samples_per_second"
# As many as one answer may have of a series.
MOST_POINTS = 20_000

_GROUPS: tuple[Group, ...] = ("loss", "metric", "rate", "throughput", "other")
_MODES = ("TRAIN", "GLOBAL", "EVAL", "PREDICT")
_RATE = re.compile(r"(?i)learning_?rate|(?:^|[/._-])lr(?:$|[/._-])")
_THROUGHPUT = re.compile(r"(?i)throughput|_per_sec|_?seconds$|(?:^|[/._-])(?:time|fps)(?:$|[/._-])")
_OTHER = re.compile(r"(?i)(?:^|[/._-])(?:epoch|step|memory|gpu|cpu|norm|grad)")


class ScalarCurve(NamedTuple):
    """A series with what it is called and where it comes from; `approximate` says where a point stands for several."""

    name: str
    mode: str
    points: ScalarPoints
    derived: bool = False
    approximate: str = ""
    exact: SeriesTotals | None = None

    @property
    def totals(self) -> SeriesTotals:
        """What the series comes to: of every value, also where points stand for several."""
        return self.exact or totals_of(self.points.step, self.points.value)

    @property
    def key(self) -> str:
        """How it is asked for."""
        return f"{self.name}@{self.mode}"


def all_curves(trial: Trial) -> dict[str, ScalarCurve]:
    """Return every series of a run by its key: losses first, then metrics, rates and throughput."""
    saved = [ScalarCurve(name, mode, points) for (name, mode), points in trial.scalar_series().items()]
    columns = trial.step_columns()
    has_loss = any(is_loss(curve.name) for curve in saved)
    derived = [*_of_steps(columns, trial), *([] if has_loss else _of_losses(trial, columns))]
    known = {curve.key for curve in saved}
    found = [*saved, *(curve for curve in derived if curve.key not in known)]
    return {curve.key: curve for curve in sorted(found, key=_order)}


def scalar_row(curve: ScalarCurve) -> ScalarRow:
    """Return what a list of series says of one."""
    one = curve.totals
    return ScalarRow(
        series=curve.key,
        name=curve.name,
        mode=curve.mode,
        group=scalar_group(curve.name),
        derived=curve.derived,
        count=one.count,
        first=one.first,
        last=one.last,
        min=one.min,
        max=one.max,
        last_step=one.last_step,
        nonfinite=one.nonfinite,
    )


def scalar_group(name: str) -> Group:
    """Return which kind of number a series holds, from its name."""
    if is_loss(name):
        return "loss"
    if _RATE.search(name):
        return "rate"
    if _THROUGHPUT.search(name):
        return "throughput"
    return "other" if _OTHER.search(name) else "metric"


def _order(curve: ScalarCurve) -> tuple[int, int, str, str]:
    mode = _MODES.index(curve.mode) if curve.mode in _MODES else len(_MODES)
    return _GROUPS.index(scalar_group(curve.name)), mode, curve.name, curve.mode


def _of_steps(columns: Columns, trial: Trial) -> Iterator[ScalarCurve]:
    """Yield throughput and the seconds of each phase, for each mode."""
    begun = np.array([attempt.from_step for attempt in trial.run.attempts()], np.int64)
    for mode in dict.fromkeys(columns["mode"].tolist()):
        own = {name: column[columns["mode"] == mode] for name, column in columns.items()}
        for phase in PHASES:
            yield from _curve(f"{phase}_seconds", mode, own, own[phase], ~np.isnan(own[phase]))
        rate, known = _rates(own, begun)
        yield from _curve(STEPS_RATE, mode, own, rate, known)
        yield from _curve(SAMPLES_RATE, mode, own, rate * own["samples"], known & (own["samples"] >= 0))


def _rates(own: Columns, begun: Int64Array) -> tuple[Float64Array, BoolArray]:
    """Return the steps per second that each step ended with, and where that is known.

    Only between neighbours: a pause for the steps of another mode, or for another attempt to begin, is no slowness.
    """
    rate = np.full(len(own["step"]), np.nan)
    done, passed, seconds = (np.diff(own[name]) for name in ("mode_step", "step", "time"))
    good = (done > 0) & (done == passed) & (seconds > 0) & ~np.isin(own["step"][1:], begun)
    rate[1:][good] = done[good] / seconds[good]
    return rate, ~np.isnan(rate)


def _curve(name: str, mode: str, own: Columns, values: Float64Array, known: BoolArray) -> Iterator[ScalarCurve]:
    if known.any():
        points = ScalarPoints(own["step"][known], values[known], own["time"][known])
        yield ScalarCurve(name, mode, points, derived=True)


def _of_losses(trial: Trial, columns: Columns) -> Iterator[ScalarCurve]:
    """Yield the mean of what registered losses returned, where no loss was saved as a number.

    Of a run with very many statistics not every row is read: a point is then the last of a stretch of steps.
    """
    totals = trial.loss_totals() if len(columns["step"]) else {}
    for name in dict.fromkeys(name for name, _ in totals):
        found = trial.overviews.series(name, columns=MOST_POINTS)
        values = loss_values(found.statistics["mean"].last, found.statistics["nonfinite"].last)
        # A stretch ends where the next begins; the step that its last value is of is the last one recorded in it.
        places = np.searchsorted(columns["step"], found.ends, side="right") - 1
        listed = (places >= 0) & (found.ends <= columns["step"][-1])
        for key, exact in totals.items():
            if key[0] == name:
                own = listed & (columns["mode"][places] == key[1])
                points = ScalarPoints(found.ends[own], values[own], columns["time"][places[own]])
                told = "" if found.exact else found.approximate
                yield ScalarCurve(*key, _ending_with(exact, points, columns), approximate=told, exact=exact)


def _ending_with(exact: SeriesTotals, points: ScalarPoints, columns: Columns) -> ScalarPoints:
    """Return points whose last one is the last value: a stretch may have ended with a step of another mode."""
    if len(points.step) and points.step[-1] >= exact.last_step:
        return points
    place = np.searchsorted(columns["step"], exact.last_step, side="right") - 1
    ending = (exact.last_step, exact.last, columns["time"][place])
    return ScalarPoints(*(np.append(column, one) for column, one in zip(points, ending, strict=True)))
