"""What a correction bought: a difference of accuracies with its interval, over samples or over seeds. Pure.

Only repeats give a verdict. Two trainings of the same data differ from each other by as much as corrections buy, and an
interval over samples knows nothing of that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cutaway.analysis.comparing.paired import paired_interval
from cutaway.analysis.libraries import library
from cutaway.arrays import BoolArray, Float64Array
from cutaway.errors import AnalysisUnavailable

__all__ = ["Gain", "gain_over_samples", "gain_over_seeds", "gain_without_interval", "points"]

SEEDS = "seeds"
NOT_ENOUGH = "not enough to tell"
CERTAINTY = 0.98
"""How often the interval over seeds holds the difference."""


@dataclass(frozen=True)
class Gain:
    """Accuracy before and after, and the difference between them.

    `over` is what the interval is over: `samples` (one training each; the same samples answered twice), `seeds` (each
    seed trained twice), or nothing where two numbers are all there is. `better` and `worse` count samples, or seeds.
    An interval over samples holds for these two models alone, and decides nothing about the correction.
    """

    before: float
    after: float
    difference: float
    low: float | None
    high: float | None
    over: str
    count: int
    better: int = 0
    worse: int = 0

    @property
    def is_told(self) -> bool:
        """Whether there are repeats, whose scatter tells a difference from chance."""
        return self.over == SEEDS and self.low is not None and self.high is not None

    @property
    def is_clear(self) -> bool:
        """Whether there are repeats, and their interval leaves out 0."""
        return self.is_told and self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    @property
    def is_loss(self) -> bool:
        """Whether accuracy clearly fell."""
        return self.is_clear and self.difference < 0

    @property
    def verdict(self) -> str:
        """Whether that is better, worse, or no difference that could be told from chance; or that nobody can tell."""
        if not self.is_told:
            return NOT_ENOUGH
        if not self.is_clear:
            return "no difference found"
        return "better" if self.difference > 0 else "worse"

    @property
    def words(self) -> str:
        """Say it in one line: before and after, the difference with its interval, and what that shows."""
        moved = f"accuracy {self.before:.2%} -> {self.after:.2%}"
        if self.low is None or self.high is None:
            return f"{moved}, {100 * self.difference:+.2f} points: {self.verdict}"
        alone = "" if self.is_told else " over samples alone"
        return f"{moved}, {points(self.difference, self.low, self.high)}{alone}: {self.verdict}"


def points(difference: float, low: float, high: float) -> str:
    """Say a difference of accuracies with its interval; with two digits where one would hide it.

    >>> points(0.009, -0.03, 0.049), points(0.0021, 0.0004, 0.0038)
    ('+0.9 points [-3.0, +4.9]', '+0.21 points [+0.04, +0.38]')
    """
    digits = 1 if high - low >= 0.01 else 2
    told = [f"{100 * one:+.{digits}f}" for one in (difference, low, high)]
    return f"{told[0]} points [{told[1]}, {told[2]}]"


def gain_over_samples(before: BoolArray, after: BoolArray) -> Gain:
    """Return what changed between two models that answered the same samples, right or wrong.

    The interval is Newcombe's for matched pairs, as in a comparison of two runs. It knows these two models alone: how
    much one training differs from the next by chance is what `gain_over_seeds` is for.

    >>> gain_over_samples(np.array([True, False, False]), np.array([True, True, False])).better
    1
    """
    if before.shape != after.shape or not before.size:
        raise AnalysisUnavailable("gain", "no sample was answered by both models.")
    count = int(before.size)
    better, worse = int((after & ~before).sum()), int((before & ~after).sum())
    both = int((before & after).sum())
    low, high = paired_interval(both, worse, better, count - both - worse - better)
    first, second = float(before.mean()), float(after.mean())
    return Gain(first, second, second - first, float(low), float(high), "samples", count, better, worse)


def gain_over_seeds(before: Sequence[float], after: Sequence[float], samples: int | None = None) -> Gain:
    """Return the mean difference over seeds that trained once without and once with the corrections.

    `samples` is how many each accuracy is of, where that is known. The interval is Student's, of 98 %: where nothing
    has changed, one verdict in fifty is false. Accuracies come in steps of a sample, so two seeds may differ by exactly
    as much by chance: their scatter counts as half a step at least. One seed gives no interval; nor do trainings that
    do not depend on the seed, which are one training each.

    >>> gain = gain_over_seeds([0.90, 0.91, 0.92], [0.94, 0.95, 0.95])
    >>> round(gain.difference, 4), gain.is_clear
    (0.0367, True)
    """
    if not before or len(before) != len(after):
        raise AnalysisUnavailable("gain", f"{len(before)} and {len(after)} trainings cannot be paired.")
    first, second = np.asarray(before, np.float64), np.asarray(after, np.float64)
    moved = second - first
    count = len(moved)
    low: float | None = None
    high: float | None = None
    same_for_all_seeds = len(set(before)) == len(set(after)) == 1 and bool(moved.any())
    if count > 1 and not same_for_all_seeds:
        step = 1 / samples if samples else _smallest_step(np.concatenate([first, second]))
        half = _quantile(count - 1) * max(float(moved.std(ddof=1)), step / 2) / math.sqrt(count)
        low, high = float(moved.mean()) - half, float(moved.mean()) + half
    better, worse = int((moved > 0).sum()), int((moved < 0).sum())
    return Gain(float(first.mean()), float(second.mean()), float(moved.mean()), low, high, SEEDS, count, better, worse)


def _quantile(freedom: int) -> float:
    """Return how many standard errors lie on each side of the interval over seeds."""
    stdtrit = library("scipy.special", "An interval over seeds").stdtrit
    return float(stdtrit(freedom, (1 + CERTAINTY) / 2))


def _smallest_step(accuracies: Float64Array) -> float:
    """Return by how little two different accuracies differ; 0 where all are the same."""
    steps = np.diff(np.unique(np.round(accuracies, 9)))
    return float(steps.min()) if len(steps) else 0.0


def gain_without_interval(before: float, after: float) -> Gain:
    """Return the difference of two accuracies of which nothing else is known."""
    return Gain(before, after, after - before, None, None, "", 0)
