"""Which columns explain the loss or the errors, by ranks, with the direction in words. Explains; accuses nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cutaway.analysis.curves.strength import Strength, rank_correlation, rank_share
from cutaway.analysis.insights.columns import Described
from cutaway.analysis.insights.judging import Judged, clipped
from cutaway.analysis.insights.values import ALARMS, Insight
from cutaway.analysis.insights.wording import figures, listed, told
from cutaway.analysis.samples import Samples
from cutaway.analysis.statistics.false_shares import holm
from cutaway.analysis.statistics.intervals import mean_difference
from cutaway.arrays import BoolArray, Float64Array, Int64Array
from cutaway.wording import percent

__all__ = ["explaining_columns"]

# The least share of the ranks' variance that is worth a word, and the most columns that get one.
SMALLEST, MOST = 0.01, 5
# Ends that differ by a smaller share of the mean are not worth a word, however sure it is.
SMALLEST_CHANGE = 0.1
# A column that goes with a stronger one so closely says the same.
ALIKE = 0.9
TENTHS = 10
# A value that fewer samples have is no end of anything.
FEWEST = 20


@dataclass(frozen=True)
class _ExplainingColumn:
    column: Described
    strength: Strength
    groups: Int64Array
    ends: tuple[int, int]

    @property
    def ordered(self) -> bool:
        """Whether the order of its values is what explains, and not which value it is."""
        return self.strength.measure == "rank correlation"

    @property
    def share(self) -> float:
        """How much of the ranks it explains."""
        return self.strength.value**2 if self.ordered else self.strength.value


def explaining_columns(
    samples: Samples, judged: Judged, columns: Sequence[Described], slices: Sequence[Insight] = ()
) -> list[Insight]:
    """Return the columns that explain most of the loss, or of the errors where there is no loss.

    A column that explains nothing more without the slices that are told by it is left out: it would say them again.
    """
    by = judged
    if np.isfinite(judged.losses[judged.rows]).all():
        # The loss of each sample says more than whether it is wrong.
        by = replace(judged, measure="loss", outcome=clipped(judged.losses, judged.rows))
    tried = [one for column in columns if (one := _explained(column, by.outcome, by.rows)) is not None]
    # Numbers are looked at twice, by their order and by their tenths.
    chances = holm([one.strength.p_value * (1 if one.column.numbers is None else 2) for one in tried])
    real = [(one, float(p)) for one, p in zip(tried, chances, strict=True) if p <= ALARMS and one.share >= SMALLEST]
    real.sort(key=lambda pair: (-pair[0].share, pair[0].column.name))
    kept: list[tuple[_ExplainingColumn, float, list[str]]] = []
    for one, p in real:
        twin = next((names for other, _, names in kept if _alike(one.column, other.column, judged.rows)), None)
        if twin is None:
            kept.append((one, p, []))
        else:
            twin.append(one.column.name)
    told_of = [
        _told(samples, judged, by, one, p, twins) for one, p, twins in kept if not _is_told(by, one.column, slices)
    ]
    return sorted((one for one in told_of if one is not None), key=lambda one: -one.severity)[:MOST]


def _explained(column: Described, outcome: Float64Array, rows: BoolArray) -> _ExplainingColumn | None:
    """Return how far a column explains the outcome: by its order where that says most, else by its tenths or values."""
    if column.numbers is None:
        groups, ordered = np.where(rows, column.codes, -1), None
    else:
        known = rows & np.isfinite(column.numbers)
        if known.sum() < TENTHS * FEWEST:
            return None
        cuts = np.unique(np.quantile(column.numbers[known], np.linspace(0, 1, TENTHS + 1)[1:-1]))
        groups = np.where(known, np.searchsorted(cuts, np.nan_to_num(column.numbers), "right"), -1)
        ordered = rank_correlation(column.numbers[known], outcome[known])
    used = groups >= 0
    by_groups = rank_share(groups[used], outcome[used])
    if by_groups is None:
        return None
    present = [code for code in np.unique(groups[used]) if (groups == code).sum() >= FEWEST]
    if len(present) < 2:
        return None
    if ordered is not None and ordered.value**2 >= 0.5 * by_groups.value:
        return _ExplainingColumn(column, ordered, groups, (int(present[0]), int(present[-1])))
    _, order = np.unique(outcome[used], return_inverse=True)
    means = [float(order[groups[used] == code].mean()) for code in present]
    ends = int(present[int(np.argmin(means))]), int(present[int(np.argmax(means))])
    return _ExplainingColumn(column, by_groups, groups, ends)


def _is_told(by: Judged, column: Described, slices: Sequence[Insight]) -> bool:
    """Whether the slices that are told by a column are all that it explains."""
    mine = [one.rows for one in slices if any(_is_about(text, column.name) for text in one.where)]
    if not mine:
        return False
    rest = by.rows & ~np.logical_or.reduce(mine)
    left = _explained(column, by.outcome, rest)
    return left is None or left.strength.p_value > ALARMS or left.share < SMALLEST


def _is_about(condition: str, name: str) -> bool:
    return condition.startswith((f"{name} ", f'"{name}" '))


def _alike(one: Described, other: Described, rows: BoolArray) -> bool:
    """Return whether two columns say the same: numbers in the same order, or values that go with each other."""
    if one.numbers is not None and other.numbers is not None:
        known = rows & np.isfinite(one.numbers) & np.isfinite(other.numbers)
        strength = rank_correlation(one.numbers[known], other.numbers[known])
        return strength is not None and abs(strength.value) >= ALIKE
    if one.numbers is None and other.numbers is None:
        known = rows & (one.codes >= 0) & (other.codes >= 0)
        pairs = np.unique(np.stack([one.codes[known], other.codes[known]]), axis=1).shape[1]
        return bool(pairs == min(len(np.unique(one.codes[known])), len(np.unique(other.codes[known]))))
    return False


def _told(  # noqa: PLR0917  what is explained need not be what is judged
    samples: Samples, judged: Judged, by: Judged, one: _ExplainingColumn, p: float, twins: Sequence[str]
) -> Insight | None:
    """Return the insight: the mean outcome of the judged samples at the two ends of a column, or its two values.

    What is at stake is what would be gone if the worse end did as well as all other judged samples.
    """
    rows = by.rows
    sides = [rows & (one.groups == end) for end in one.ends]
    means = [float(by.outcome[side].mean()) for side in sides]
    rises = one.strength.value > 0 if one.ordered else True
    # A few huge losses at one end turn the means round; the order is that of the many, and so is that of the medians.
    by_median = (means[1] > means[0]) != rises
    if by_median:
        means = [float(np.median(by.outcome[side])) for side in sides]
    if abs(means[1] - means[0]) < SMALLEST_CHANGE * abs(float(by.outcome[rows].mean())):
        return None
    worse, better = (sides[int((means[1] > means[0]) == side)] for side in (True, False))
    low, high = (np.nan, np.nan) if by_median else mean_difference(by.outcome[worse], by.outcome[better])
    if low <= 0:
        return None  # the order of all is sure, but not that these two ends differ
    # What would be gone if the worse end did as well as the rest.
    excess = float(by.outcome[worse].mean() - by.outcome[rows & ~worse].mean()) * int(worse.sum())
    return Insight(
        "metadata-explains-loss",
        _words(by, one, means, by_median=by_median),
        worse,
        samples.ids[judged.worst(worse)],
        by.at_stake(excess),
        (),
        by.words,
        float(worse.sum() / rows.sum()),
        f"median {by.measure}" if by_median else by.measure,
        max(means),
        min(means),
        low,
        high,
        p,
        f"Look at the samples at the worse end of {one.column.name}, and collect more of them if training has few.",
        also=tuple(twins),
        sides=("worse end", "better end"),
        is_share=by.measure == "error",
        evidence={"column": one.column.name, one.strength.measure: one.strength.value, "explains": one.share},
    )


def _words(by: Judged, one: _ExplainingColumn, means: Sequence[float], *, by_median: bool) -> str:
    noun, name, texts = by.measure.capitalize(), one.column.name, told(by.measure, *means)
    noun = f"Median {by.measure}" if by_median else noun
    if one.ordered:
        verb = "rises" if one.strength.value > 0 else "falls"
        words = f"{noun} {verb} with {name}: {texts[0]} in the lowest tenth, {texts[1]} in the highest"
    else:
        low, high = (_group(one, end) for end in one.ends)
        words = f"{noun} depends on {name}: {texts[1]} for {high}, {texts[0]} for {low}"
    return f"{words} ({by.words}; explains {percent(one.share)} of the variance in rank)."


def _group(one: _ExplainingColumn, code: int) -> str:
    if one.column.numbers is None:
        return one.column.names[code]
    values = one.column.numbers[one.groups == code]
    low, high = figures(float(values.min()), float(values.max()))
    return listed([low, high], "to")
