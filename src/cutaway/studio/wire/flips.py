"""Two runs on the same samples: what got better, what got worse, and where."""

from __future__ import annotations

from pydantic import Field

from cutaway.studio.wire.base import Number, Wire

__all__ = ["DifferenceRow", "FlipRow", "FlipsAnswer", "RegionRow", "SliceRow"]


class DifferenceRow(Wire):
    """A figure before and after: the change with a 95 % interval, and the p of a paired test."""

    before: Number
    after: Number
    change: Number
    low: Number
    high: Number
    p: Number


class FlipRow(Wire):
    """A sample on which two models differ."""

    sample: str
    row: int
    flip: str = Field(description="`worse` or `better`; without classes which way the loss went.")
    score: Number
    reason: str
    label: str | None
    before: str | None
    after: str | None
    loss_change: Number
    preview: bool


class SliceRow(Wire):
    """A slice and what became of it."""

    slice: str
    count: int
    worse: int
    better: int
    before: Number
    after: Number
    change: Number
    p: Number
    found: bool


class RegionRow(Wire):
    """A place on the map where flips lie more densely than elsewhere."""

    flip: str
    x: Number
    y: Number
    width: Number
    height: Number
    count: int
    flips: int
    expected: Number
    p: Number
    found: bool


class FlipsAnswer(Wire):
    """Two models on the same samples. `flips` has the first 500 of `total`, those that got worst first."""

    before: str
    after: str
    evaluation_before: int
    evaluation_after: int
    count: int
    counts: dict[str, int] | None
    accuracy: DifferenceRow | None
    loss: DifferenceRow | None
    flips: list[FlipRow]
    total: int
    slices: list[SliceRow]
    regions: list[RegionRow] | None
    words: list[str]
    notes: list[str]
