"""`find_slices`: which samples, told by one or two conditions, are systematically worse than others, and how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cutaway.analysis.counting import Counter
from cutaway.analysis.filters import rows_where
from cutaway.analysis.samples.coding import left_out
from cutaway.analysis.slices.confirming import confirmed
from cutaway.analysis.slices.features import Box, Feature
from cutaway.analysis.slices.multiplicity import DEALS, level_of
from cutaway.analysis.slices.outcome import Target, as_numbers, measured_rows, target_of
from cutaway.analysis.slices.pursuing import ROUNDS, Held, SliceLimits, kept, pursued
from cutaway.analysis.slices.reading import Columns, as_table, features_of
from cutaway.analysis.slices.saying import conditions_of
from cutaway.analysis.slices.searching import MOST_PAIRED, Searcher
from cutaway.analysis.slices.values import HeldBack, Slice, SliceSearch
from cutaway.analysis.statistics.intervals import mean_difference, share_difference
from cutaway.arrays import BoolArray, Float64Array, Int64Array
from cutaway.errors import ConfigurationError
from cutaway.evaluation.progress import Listener
from cutaway.wording import counted

__all__ = ["SliceDifference", "clipped", "difference", "find_slices", "in_words"]

# Boxes are looked for among so many samples, taken at random; they are tested on all.
SEARCHED_ROWS = 60_000
# Of fewer samples nothing is said.
FEWEST = 10

# Values beyond these percentiles are taken as these: a few enormous losses are no trend.
CUT_OFF = (1.0, 99.0)


def find_slices(
    columns: Columns,
    outcome: npt.ArrayLike,
    *,
    alpha: float = 0.05,
    min_effect: float = 0.1,
    min_share: float = 0.008,
    max_share: float = 0.5,
    most: int = 40,
    confirm: bool = False,
    name: str | None = None,
    seed: int = 0,
    progress: Listener | None = None,
) -> SliceSearch:
    """Return the slices of samples that are worse than the others, by conditions on one or two columns.

    `columns` hold numbers, yes and no, or texts; missing values may be. `outcome` is a number for each sample, larger
    is worse: 1 for wrong and 0 for right, or a loss, of which the ranks are tested. Samples with NaN are left out.

    Of what is reported, a share `alpha` is false at most, on average; where nothing is wrong, something is reported
    in about one of a hundred tables (a fifth of `alpha`). A slice is worse by at least `min_effect` standard
    deviations of the outcome, or of its normal scores, beside all other slices. It holds a share of samples from
    `min_share` to `max_share`. At most `most` slices are reported. `name` is what the outcome is called in words.

    With `confirm` a slice must also be worse in halves of the samples that did not choose it, and so must each of its
    conditions beside the other: fewer weak slices are found then, and each says what is left of it there.

    >>> rng = np.random.default_rng(0)
    >>> light = rng.uniform(0, 1, 2000)
    >>> wrong = rng.random(2000) < np.where(light < 0.1, 0.5, 0.05)
    >>> found = find_slices({"light": light, "day": rng.integers(1, 8, 2000)}, wrong)
    >>> [one.where[0].split()[:2] for one in found]
    [['light', '<']]
    """
    _check(alpha, min_effect, min_share, max_share, most)
    table, refused = as_table(columns)
    values = as_numbers(outcome)
    known = measured_rows(values, table.num_rows)
    measured = int(known.sum())
    fewest = max(FEWEST, int(np.ceil(min_share * measured)))
    features, notes = features_of(table, refused, fewest)
    target = target_of(values[known])
    rows = np.flatnonzero(known)
    whole = Searcher(_taken(features, rows), fewest, int(max_share * measured))
    part, partial = _part(whole, target, seed)
    notes += _limits_told(known, len(features))
    steps = _Steps(progress)
    limits = SliceLimits(level_of(part, partial, seed, steps.done), alpha, min_effect * target.spread, most)
    held = pursued(part, partial, limits, steps.done)
    halves: dict[Box, HeldBack] = {}
    if confirm:
        both = confirmed(part, partial, limits, held, seed)
        held, halves = [one for one, _ in both], {one.box: told for one, told in both}
    if part is not whole:
        held = kept(whole, target, limits, [one.box for one in held])
    steps.finish()
    measures = _Measured(table, known, clipped(values[known]), name or ("error" if target.binary else "loss"))
    made = [_slice(features, one, halves.get(one.box), measures) for one in held]
    if any(one is None for one in made):
        notes += ("A slice is left out: its conditions cannot be written as text that is read back the same.",)
    return SliceSearch(tuple(one for one in made if one is not None), part.boxes(), notes)


class _Steps:
    """Tells how far a search is. Nobody knows how many searches it takes, so the last ones come at once."""

    def __init__(self, progress: Listener | None) -> None:
        self._left = DEALS + ROUNDS
        self._counter = Counter(progress, self._left, "searches", "looking for slices")

    def done(self) -> None:
        if self._left > 1:
            self._left -= 1
            self._counter.advance()

    def finish(self) -> None:
        self._counter.advance(self._left)


def _check(alpha: float, min_effect: float, min_share: float, max_share: float, most: int) -> None:
    if not 0 < alpha < 1:
        raise ConfigurationError(f"`0 < alpha < 1` must hold, but got alpha={alpha}.")
    if not min_effect >= 0:
        raise ConfigurationError(f"`min_effect >= 0` must hold, but got min_effect={min_effect}.")
    if not 0 <= min_share < max_share <= 1:
        raise ConfigurationError(
            f"`0 <= min_share < max_share <= 1` must hold, but got min_share={min_share}, max_share={max_share}."
        )
    if most < 1:
        raise ConfigurationError(f"`most >= 1` must hold, but got most={most}.")


def _limits_told(known: BoolArray, columns: int) -> tuple[str, ...]:
    measured = int(known.sum())
    notes = left_out(len(known), {"without an outcome": len(known) - measured})
    if measured > SEARCHED_ROWS:
        notes += (f"Slices were looked for among {SEARCHED_ROWS:,} of {measured:,} samples, and tested on all.",)
    if columns > MOST_PAIRED:
        notes += (f"Pairs were made of the {MOST_PAIRED} of {columns} columns that say most by themselves.",)
    return notes


def _taken(features: Sequence[Feature], rows: Int64Array) -> list[Feature]:
    return [replace(one, codes=one.codes[rows]) for one in features]


def _part(whole: Searcher, target: Target, seed: int) -> tuple[Searcher, Target]:
    count = len(target.scores)
    if count <= SEARCHED_ROWS:
        return whole, target
    rows = np.sort(np.random.default_rng(seed).choice(count, SEARCHED_ROWS, replace=False))
    scale = SEARCHED_ROWS / count
    part = Searcher(_taken(whole.features, rows), max(1, int(whole.fewest * scale)), int(whole.largest * scale))
    return part, target.take(rows)


@dataclass(frozen=True)
class _Measured:
    """What slices are measured by: the table, which rows have an outcome, these without extremes, and its name."""

    table: pa.Table
    known: BoolArray
    values: Float64Array
    name: str


def _slice(features: Sequence[Feature], held: Held, held_back: HeldBack | None, measures: _Measured) -> Slice | None:
    said = conditions_of(features, held.box, measures.table)
    if said is None:
        return None
    where = tuple(text for text, _ in said)
    conditions = tuple(condition for _, condition in said)
    rows = rows_where(measures.table, conditions)
    inside = rows[measures.known]
    found = difference(measures.values, inside)
    share = set(np.unique(measures.values)) <= {0.0, 1.0}
    count = int(rows.sum())
    return Slice(
        conditions=conditions,
        where=where,
        rows=rows,
        count=count,
        share=count / len(rows),
        measured=int(inside.sum()),
        inside=found.inside,
        outside=found.outside,
        effect=found.inside - found.outside,
        interval=found.interval,
        score=held.score,
        p=held.p,
        words=in_words(measures.name, found, where, int(inside.sum()), share=share),
        held_back=held_back,
    )


class SliceDifference(NamedTuple):
    """The means inside and outside, and the 95 % interval of their difference."""

    inside: float
    outside: float
    interval: tuple[float, float]


def clipped(outcome: Float64Array) -> Float64Array:
    """Return an outcome with its extremes cut off; one of two values as it is, or as 0 and 1 where one is infinite."""
    values = np.unique(outcome)
    if len(values) == 2:
        return outcome if np.isfinite(values).all() else (outcome == values[1]).astype(np.float64)
    low, high = np.percentile(outcome, CUT_OFF, method="nearest")
    finite = outcome[np.isfinite(outcome)]
    return np.clip(outcome, max(low, finite.min()), min(high, finite.max()))


def difference(values: Float64Array, rows: BoolArray) -> SliceDifference:
    """Return how the mean of some rows differs from that of the others."""
    inside, outside = values[rows], values[~rows]
    if set(np.unique(values)) <= {0.0, 1.0}:
        interval = share_difference((float(inside.sum()), float(outside.sum())), (len(inside), len(outside)))
    else:
        interval = mean_difference(inside, outside)
    return SliceDifference(float(inside.mean()), float(outside.mean()), interval)


def in_words(name: str, found: SliceDifference, where: tuple[str, ...], count: int, *, share: bool) -> str:
    """Return a line such as `error 21 % where thickness < 2, 9 % elsewhere: 412 samples`, as many as were measured."""
    inside, outside = _percents(found) if share else _numbers(found)
    samples = counted(count, "sample")
    return f"{name} {inside} where {' and '.join(where)}, {outside} elsewhere: {samples}"


def _percents(found: SliceDifference) -> tuple[str, str]:
    figures = [100 * found.inside, 100 * found.outside]
    for digits in (0, 1, 2, 4):
        inside, outside = (f"{one:.{digits}f}" for one in figures)
        told = all(float(text) > 0 or one == 0 for text, one in zip((inside, outside), figures, strict=True))
        if inside != outside and told:
            break
    return f"{inside} %", f"{outside} %"


def _numbers(found: SliceDifference) -> tuple[str, str]:
    for digits in (2, 3, 5, 8):
        inside, outside = f"{found.inside:.{digits}g}", f"{found.outside:.{digits}g}"
        if inside != outside:
            break
    return inside, outside
