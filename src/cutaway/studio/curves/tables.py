"""Series of a run as one Arrow table, with epochs and times beside the steps.

Long ones are thinned without losing what matters: of each stretch its last value, its extremes, its faults.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cutaway.arrays import Float64Array, Int64Array
from cutaway.errors import did_you_mean
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.curves.scalars import ScalarCurve
from cutaway.trial.growing import Columns
from cutaway.trial.scalar_series import ScalarPoints

__all__ = ["Thinned", "curve_columns", "curves_table", "epochs_at", "stretches", "thin", "wanted_curves"]


def wanted_curves(curves: Mapping[str, ScalarCurve], keys: Iterable[str], run: str) -> list[ScalarCurve]:
    """Return the series that were asked for, each once. One that there is not is refused."""
    wanted = list(dict.fromkeys(keys))
    for key in wanted:
        if key not in curves:
            near = did_you_mean(key, curves) or f" It has {len(curves)} series: `GET api/runs/ID/scalars` lists them."
            raise Refusal(404, "series-unavailable", f"No series {key!r} in run {run!r}.", near.strip())
    return [curves[key] for key in wanted]


def curves_table(
    wanted: Sequence[ScalarCurve], steps: Columns, *, first: int | None, last: int | None, points: int
) -> pa.Table:
    """Return series as columns, one after the other; the metadata says what each has before thinning."""
    epochs = _epochs(steps)
    parts = [curve_columns(_within(curve.points, first, last), epochs, points) for curve in wanted]
    counts = [len(part["step"]) for part in parts]
    codes = np.repeat(np.arange(len(wanted), dtype=np.int32), counts)
    columns = {
        "series": pa.DictionaryArray.from_arrays(
            pa.array(codes, pa.int32()), pa.array([one.key for one in wanted], pa.string())
        )
    }
    for name in ("step", "epoch", "time", "value", "min", "max", "nonfinite"):
        joined = np.concatenate([part[name] for part in parts])
        columns[name] = pa.array(joined, from_pandas=joined.dtype.kind == "f")
    whole = {one.key: len(_within(one.points, first, last).step) for one in wanted}
    thinned = [one.key for one, count in zip(wanted, counts, strict=True) if count < whole[one.key]]
    approximate = {one.key: one.approximate for one in wanted if one.approximate}
    about = {"points": whole, "thinned": thinned, "approximate": approximate}
    return pa.table(columns).replace_schema_metadata({name: json.dumps(value) for name, value in about.items()})


def curve_columns(series: ScalarPoints, epochs: tuple[Int64Array, Float64Array], points: int) -> Columns:
    """Return one series, thinned to at most `points`, as columns; NaN where a value is not finite or not known."""
    short = thin(series.value, points)
    step = series.step[short.places]
    return {
        "step": step,
        "epoch": epochs_at(epochs, step),
        "time": series.time[short.places],
        "value": short.value,
        "min": short.min,
        "max": short.max,
        "nonfinite": short.nonfinite.astype(np.int32),
    }


def epochs_at(epochs: tuple[Int64Array, Float64Array], steps: Int64Array) -> Float64Array:
    """Return where in which epoch each step is: 1.5 in the middle of the second; NaN where no epochs are known."""
    known, positions = epochs
    if not len(known):
        return np.full(len(steps), np.nan)
    # A number may have been saved between two recorded steps: it is where the last one was.
    places = np.searchsorted(known, steps, side="right") - 1
    return np.where(places >= 0, positions[np.maximum(places, 0)], np.nan)


def _epochs(columns: Columns) -> tuple[Int64Array, Float64Array]:
    """Return each recorded step with its epoch and the share of that epoch's steps before it.

    An epoch that is still going on is taken to be as long as the one before it.
    """
    steps, epochs = columns["step"], columns["epoch"]
    told = epochs >= 0
    if not told.any():
        return np.empty(0, np.int64), np.empty(0)
    steps, epochs = steps[told], epochs[told]
    starts = np.concatenate(([0], np.flatnonzero(epochs[1:] != epochs[:-1]) + 1))
    lengths = np.diff(np.append(starts, len(epochs)))
    whole = lengths.copy()
    if len(whole) > 1:
        whole[-1] = max(whole[-1], whole[-2])
    rank = np.arange(len(epochs)) - np.repeat(starts, lengths)
    return steps, epochs + rank / np.repeat(whole, lengths)


def _within(series: ScalarPoints, first: int | None, last: int | None) -> ScalarPoints:
    start = 0 if first is None else int(np.searchsorted(series.step, first))
    end = len(series.step) if last is None else int(np.searchsorted(series.step, last, side="right"))
    return ScalarPoints(series.step[start:end], series.value[start:end], series.time[start:end])


class Thinned(NamedTuple):
    """A series by stretches: `places` are those of the last point of each; NaN where there is no finite value."""

    places: Int64Array
    value: Float64Array
    min: Float64Array
    max: Float64Array
    nonfinite: Int64Array


def stretches(count: int, points: int) -> Int64Array:
    """Return where at most `points` stretches of `count` points begin; each point is one of its own where they fit.

    >>> stretches(5, 10).tolist(), stretches(10, 3).tolist()
    ([0, 1, 2, 3, 4], [0, 3, 6])
    """
    if count <= points:
        return np.arange(count, dtype=np.int64)
    return (np.arange(points, dtype=np.int64) * count) // points


def thin(values: npt.ArrayLike, points: int) -> Thinned:
    """Return a series in at most `points` stretches of nearly equal length.

    >>> thin([1.0, 5.0, 2.0, float("nan")], 2)._asdict()["max"].tolist()
    [5.0, 2.0]
    """
    array = np.asarray(values, np.float64)
    starts = stretches(len(array), points)
    if not len(array):
        return Thinned(starts, array, array, array, starts)
    finite = np.isfinite(array)
    lowest = np.minimum.reduceat(np.where(finite, array, np.inf), starts)
    highest = np.maximum.reduceat(np.where(finite, array, -np.inf), starts)
    bad = np.add.reduceat((~finite).astype(np.int64), starts)
    places = np.append(starts[1:], len(array)) - 1
    value = np.where(finite[places], array[places], np.nan)
    return Thinned(
        places,
        value,
        np.where(np.isfinite(lowest), lowest, np.nan),
        np.where(np.isfinite(highest), highest, np.nan),
        bad,
    )
