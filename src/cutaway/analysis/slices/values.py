"""What a search for slices gives: the slices, what was looked at, and what was left out. Computes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cutaway.analysis.filters import Filter
from cutaway.arrays import BoolArray

__all__ = ["HeldBack", "Slice", "SliceSearch"]


@dataclass(frozen=True)
class HeldBack:
    """What halves of the samples that did not choose a slice say of it.

    `p` is the chance of a slice as bad there, corrected for all sets of columns; `share` which part of its effect is
    left there, from 0 to 1: the rest came of choosing it.
    """

    p: float
    share: float


@dataclass(frozen=True)
class Slice:
    """Samples that one or two conditions pick out, and that are worse than the others.

    `where` are the conditions as text, `conditions` the same as filters: both pick out exactly `rows`. `count` samples
    fulfil them, a share `share` of all, and `measured` of these have an outcome. `inside` and `outside` are the mean
    outcome of the slice and of all others, `effect` is the difference and `interval` holds it with 95 % certainty.
    Of losses, the means are those of values cut off at the 1st and 99th percentile, so that a few enormous ones do not
    decide. A slice was chosen for being bad, so on new samples the effect will be somewhat smaller. `score` is how
    surely the slice is worse, all other slices known, in standard deviations less what its conditions cost to say; `p`
    is the chance of that after correction for all boxes that were looked at. `words` says it in a line. `held_back` is
    what halves say that did not choose it, where they were asked.
    """

    conditions: tuple[Filter, ...]
    where: tuple[str, ...]
    rows: BoolArray = field(repr=False, compare=False)
    count: int
    share: float
    measured: int
    inside: float
    outside: float
    effect: float
    interval: tuple[float, float]
    score: float
    p: float
    words: str
    held_back: HeldBack | None = None


@dataclass(frozen=True)
class SliceSearch:
    """The slices of a search, the surest first; how many boxes were `tested`; and `notes` on what was left out."""

    slices: tuple[Slice, ...]
    tested: int
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.slices)

    def __len__(self) -> int:
        return len(self.slices)
