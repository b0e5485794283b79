"""What lists of many runs tell of one besides its series: how far it is, and its settings with dotted keys.

Reads a few places of a run through its index. Prints nothing and keeps nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from cutaway.run.identity import Run
from cutaway.run.preview import preview
from cutaway.run.schemas import STEPS

__all__ = [
    "GLANCES",
    "Facts",
    "StepsGlance",
    "flat_items",
    "flatten",
    "glance_at_steps",
    "shrink",
]

Facts = dict[str, Any]
# How many places of a long run a list looks at.
GLANCES = 48
# Settings that lie deeper than this are not taken apart: aliases can make a small file endless.
DEEPEST = 16


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


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    if not all(map(math.isfinite, known)):
        return math.nan
    # Divided first: the sum of a stretch of huge values may overflow, their mean does not.
    return math.fsum(value / len(known) for value in known)
