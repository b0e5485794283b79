"""A run in a few numbers, for lists of many: its scalars, a glance at its loss, its settings with dotted keys.

Reads a few places of a run through its index. Prints nothing and keeps nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

import pyarrow as pa

from cutaway.run.identity import Run
from cutaway.run.preview import last_batches, preview
from cutaway.run.schemas import SCALARS, STATISTICS, STEPS
from cutaway.tensors import Collections

__all__ = [
    "GLANCES",
    "Facts",
    "ScalarFacts",
    "StepsGlance",
    "flat_items",
    "flatten",
    "glance_at_steps",
    "in_order",
    "loss_series",
    "scalar_facts",
    "shrink",
]

Facts = dict[str, Any]
# A series in JSON has no more points than this, each the mean of a stretch.
MOST_POINTS = 120
# How many places of a long run a list looks at.
GLANCES = 48
# How far back from its end a list looks for the last loss of the training.
MOST_LOOKS_BACK = 256
# Settings that lie deeper than this are not taken apart: aliases can make a small file endless.
DEEPEST = 16
# A mode's scalars in this order of interest.
_MODES = ("TRAIN", "GLOBAL", "EVAL", "PREDICT")


class ScalarFacts(NamedTuple):
    """One scalar of one mode: its first and last value, the last step, and the series between them."""

    name: str
    mode: str
    first: float
    last: float
    step: int
    series: list[float | None]


class StepsGlance(NamedTuple):
    """How many steps and epochs a run has, and the seconds from its first row to its last."""

    steps: int
    epochs: int | None
    seconds: float | None


def glance_at_steps(run: Run) -> StepsGlance:
    """Return how far a run is, from the first and the last rows of its steps alone."""
    ends = preview(run, STEPS, 2)
    if ends is None:
        return StepsGlance(0, None, None)
    epochs, times = ([one for one in ends[name].to_pylist() if one is not None] for name in ("epoch", "time"))
    seconds = max(times) - min(times) if times else None
    return StepsGlance(max(ends["step"].to_pylist()) + 1, max(epochs) + 1 if epochs else None, seconds)


def loss_series(run: Run) -> ScalarFacts | None:
    """Return a glance at the loss over the steps: a scalar that is called so, else what a registered loss returned."""
    scalars = preview(run, SCALARS, GLANCES)
    if scalars is not None:
        named = [fact for fact in scalar_facts(scalars) if "loss" in fact.name.lower()]
        if named:
            return _with_last(run, named[0])
    statistics = preview(run, STATISTICS, GLANCES)
    return None if statistics is None else _loss_tensor(statistics, Collections().get("losses").matches)


def scalar_facts(table: pa.Table | pa.RecordBatch) -> list[ScalarFacts]:
    """Return each scalar of each mode: its first and last value, and the series between them."""
    series: dict[tuple[str, str], list[tuple[int, float]]] = {}
    columns = (table[name].to_pylist() for name in ("name", "mode", "step", "value"))
    for name, mode, step, value in zip(*columns, strict=True):
        series.setdefault((name, mode), []).append((step, value))
    return [
        _scalar_of_points(name, mode, sorted(series[name, mode], key=lambda point: point[0]))
        for name, mode in in_order(series)
    ]


def in_order(series: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Order names and modes: losses first, then by name; of one name the training's before the others."""

    def key(item: tuple[str, str]) -> tuple[bool, int, str, str]:
        name, mode = item
        return ("loss" not in name.lower(), _MODES.index(mode) if mode in _MODES else len(_MODES), name, mode)

    return sorted(series, key=key)


def shrink(values: Sequence[float | None], width: int) -> list[float | None]:
    """Average a series into at most `width` stretches; one non-finite value makes its stretch NaN."""
    if width < 1:
        message = f"`width >= 1` must hold, but got {width=}."
        raise ValueError(message)
    if len(values) <= width:
        return list(values)
    edges = [round(i * len(values) / width) for i in range(width + 1)]
    return [_mean(values[start:end]) for start, end in pairwise(edges)]


def flatten(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Write nested settings with dotted keys, the items of a list of groups with their place.

    >>> flatten({"optimizer": {"groups": [{"lr": 0.1}]}, "seed": 1})
    {'optimizer.groups.0.lr': 0.1, 'seed': 1}
    """
    return dict(flat_items(value, prefix))


def flat_items(value: Mapping[str, Any], prefix: str = "", depth: int = DEEPEST) -> Iterator[tuple[str, Any]]:
    """Yield what `flatten` returns, one at a time, for those who take no more than they can hold."""
    for key, item in value.items():
        if depth and isinstance(item, list) and item and all(isinstance(one, Mapping) for one in item):
            yield from flat_items({str(i): one for i, one in enumerate(item)}, f"{prefix}{key}.", depth - 1)
        elif depth and isinstance(item, Mapping) and item:
            yield from flat_items(item, f"{prefix}{key}.", depth - 1)
        else:
            yield f"{prefix}{key}", item


def _with_last(run: Run, glance: ScalarFacts) -> ScalarFacts:
    """Put the very last value at the end of a glance: the last batch may have held another mode's scalars."""
    for batch in islice(last_batches(run, SCALARS), MOST_LOOKS_BACK):
        for fact in scalar_facts(batch):
            if (fact.name, fact.mode) == (glance.name, glance.mode):
                series = glance.series if fact.step == glance.step else [*glance.series, fact.last]
                return glance._replace(last=fact.last, step=fact.step, series=series)
    return glance


def _loss_tensor(statistics: pa.Table, is_loss: Callable[[str], bool]) -> ScalarFacts | None:
    series: dict[str, list[tuple[int, float]]] = {}
    columns = (statistics[name].to_pylist() for name in ("tensor", "step", "mean"))
    for name, step, value in zip(*columns, strict=True):
        if is_loss(name):
            series.setdefault(name, []).append((step, value))
    name = next(iter(series), None)
    return None if name is None else _scalar_of_points(name, "", sorted(series[name], key=lambda point: point[0]))


def _scalar_of_points(name: str, mode: str, points: list[tuple[int, float]]) -> ScalarFacts:
    values = [value for _, value in points]
    return ScalarFacts(name, mode, values[0], values[-1], points[-1][0], shrink(values, MOST_POINTS))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    if not all(map(math.isfinite, known)):
        return math.nan
    # Divided first: the sum of a stretch of huge values may overflow, their mean does not.
    return math.fsum(value / len(known) for value in known)
