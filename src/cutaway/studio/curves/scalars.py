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
from cutaway.trial.scalar_series import ScalarPoints
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

    @property
    def key(self) -> str:
        """How it is asked for."""
        return f"{self.name}@{self.mode}"


def all_curves(trial: Trial) -> dict[str, ScalarCurve]:
    """Return every series of a run by its key: losses first, then metrics, rates and throughput."""
    saved = [ScalarCurve(name, mode, points) for (name, mode), points in trial.scalar_series().items()]
    columns = trial.step_columns()
    has_loss = any("loss" in curve.name.lower() for curve in saved)
    derived = [*_of_steps(columns, trial), *([] if has_loss else _of_losses(trial, columns))]
    known = {curve.key for curve in saved}
    found = [*saved, *(curve for curve in derived if curve.key not in known)]
    return {curve.key: curve for curve in sorted(found, key=_order)}


def scalar_row(curve: ScalarCurve) -> ScalarRow:
    """Return what a list of series says of one."""
    value = curve.points.value
    good = value[np.isfinite(value)]
    return ScalarRow(
        series=curve.key,
        name=curve.name,
        mode=curve.mode,
        group=scalar_group(curve.name),
        derived=curve.derived,
        count=len(value),
        first=float(value[0]),
        last=float(value[-1]),
        min=float(good.min()) if len(good) else None,
        max=float(good.max()) if len(good) else None,
        last_step=int(curve.points.step[-1]),
        nonfinite=len(value) - len(good),
    )


def scalar_group(name: str) -> Group:
    """Return which kind of number a series holds, from its name."""
    if "loss" in name.lower():
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
    losses = trial.collections().get("losses")
    if losses is None or not len(columns["step"]):
        return
    for name in [one.name for one in trial.overviews.tensors() if losses.matches(one.name)]:
        found = trial.overviews.series(name, columns=MOST_POINTS)
        mean, nonfinite = found.statistics["mean"].last, found.statistics["nonfinite"].last
        steps, values = found.ends, np.where(nonfinite > 0, np.nan, mean)
        # A stretch ends where the next begins; the step that its last value is of is the last one recorded in it.
        places = np.searchsorted(columns["step"], steps, side="right") - 1
        steps, values, places = steps[places >= 0], values[places >= 0], places[places >= 0]
        for mode in dict.fromkeys(columns["mode"][places].tolist()):
            own = columns["mode"][places] == mode
            points = ScalarPoints(steps[own], values[own], columns["time"][places[own]])
            yield ScalarCurve(name, mode, points, derived=True, approximate="" if found.exact else found.approximate)
