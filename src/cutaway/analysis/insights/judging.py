"""By what samples are judged, and which of them: held-out ones where there are any. Finds no insight."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cutaway.analysis.insights.wording import listed
from cutaway.analysis.samples import CORRECT, LOSS, SUBSET, Samples
from cutaway.analysis.samples.held_out import TRAINING, UNLABELED
from cutaway.analysis.statistics.intervals import mean_difference, share_difference
from cutaway.arrays import BoolArray, Float64Array
from cutaway.wording import counted

__all__ = ["CLIPPED", "FEWEST", "Judged", "clipped", "judged", "subsets_of"]

# Of fewer samples nothing systematic can be said.
FEWEST = 50
# Losses are cut off at these shares of them before they are averaged.
CUT = (0.01, 0.99)
CLIPPED = "Means of losses are of values cut off at the 1st and 99th percentile."
"""What is said wherever a mean of losses is told."""
# With fewer errors the loss says more, where there is one.
FEWEST_ERRORS = 25


@dataclass(frozen=True)
class Judged:
    """What is judged: `outcome` of every sample (larger is worse, NaN where there is none) and the `rows` that count.

    `measure` is `error` (1 where the answer is wrong) or `loss`. `training` are rows of training with an outcome where
    the judged ones are held out from it, and none otherwise.
    """

    measure: str
    outcome: Float64Array
    losses: Float64Array
    rows: BoolArray
    training: BoolArray
    subsets: tuple[str, ...]

    @property
    def overall(self) -> float:
        """The mean over all judged rows."""
        return float(self.outcome[self.rows].mean())

    @cached_property
    def scaled(self) -> Float64Array:
        """The outcome in a scale in which means can be compared: errors as they are, losses by rank from 0 to 1."""
        if self.measure == "error":
            return self.outcome
        used = self.rows | self.training
        ranks = np.full(len(used), np.nan)
        _, places, counts = np.unique(self.outcome[used], return_inverse=True, return_counts=True)
        ranks[used] = (np.cumsum(counts) - (counts + 1) / 2)[places] / max(int(used.sum()) - 1, 1)
        return ranks

    @property
    def words(self) -> str:
        """The judged subsets."""
        return listed(self.subsets)

    @property
    def noun(self) -> str:
        """What the mean is called."""
        return "error" if self.measure == "error" else "mean loss"

    def means(self, inside: BoolArray) -> tuple[float, float]:
        """Return the mean of the judged rows inside and outside."""
        own, other = self._sides(inside)
        return (float(own.mean()) if len(own) else float("nan"), float(other.mean()) if len(other) else float("nan"))

    def interval(self, inside: BoolArray) -> tuple[float, float]:
        """Return the 95 % interval of the difference between inside and outside."""
        own, other = self._sides(inside)
        if not len(own) or not len(other):
            return float("nan"), float("nan")
        if self.measure == "error":
            return share_difference((float(own.sum()), float(other.sum())), (len(own), len(other)))
        return mean_difference(own, other)

    def at_stake(self, amount: float) -> float:
        """Return which share of all error or loss of the judged rows an amount is, from 0 to 1."""
        return min(1.0, max(0.0, amount / max(float(self.outcome[self.rows].sum()), 1e-12)))

    def worst(self, rows: BoolArray) -> int:
        """Return the row to look at first: of the worst outcomes, the largest loss."""
        places = np.flatnonzero(rows)
        return int(places[np.lexsort((-np.nan_to_num(self.losses[places]), -np.nan_to_num(self.outcome[places])))[0]])

    def _sides(self, inside: BoolArray) -> tuple[Float64Array, Float64Array]:
        return self.outcome[self.rows & inside], self.outcome[self.rows & ~inside]


def subsets_of(samples: Samples) -> tuple[tuple[str, ...], dict[str, BoolArray]]:
    """Return the names of the subsets, and the rows of each."""
    column = samples.table[SUBSET]
    names = tuple(str(one) for one in column.unique().to_pylist() if one is not None)
    values = np.asarray(column.to_pylist(), object)
    return names, {name: np.asarray(values == name, np.bool_) for name in names}


def judged(samples: Samples) -> tuple[Judged | None, str]:
    """Return what is judged and how, or None and why not; the text also says what limits it."""
    wrong, losses = 1.0 - _numbers(samples, CORRECT), _numbers(samples, LOSS)
    answered = bool(np.isfinite(wrong).any())
    known = np.isfinite(wrong) if answered else np.isfinite(losses)
    if not known.any():
        return None, "these samples have neither a loss nor labels to compare predictions with"
    rows, training, subsets, note = _held_out(samples, known)
    if rows.sum() < FEWEST:
        return None, f"only {int(rows.sum())} samples have an outcome, and {FEWEST} are needed"
    with_loss = np.isfinite(losses)
    errors = float(wrong[rows].sum()) if answered else 0.0
    if answered and (errors >= FEWEST_ERRORS or (rows & with_loss).sum() < FEWEST):
        return Judged("error", wrong, losses, rows, training, subsets), note
    if answered:
        wrong_ones = counted(int(errors), "prediction is", "predictions are")
        note = f"{note} Only {wrong_ones} wrong: the loss is judged instead.".strip()
    rows, training = rows & with_loss, training & with_loss
    if rows.sum() < FEWEST:
        return None, f"only {int(rows.sum())} samples have a finite loss, and {FEWEST} are needed"
    outcome = clipped(losses, rows | training)
    note = f"{note} {CLIPPED}".strip()
    return Judged("loss", outcome, losses, rows, training, subsets), note


def clipped(losses: Float64Array, rows: BoolArray) -> Float64Array:
    """Return losses cut off at the 1st and 99th percentile of some rows: a few huge ones would decide every mean."""
    return np.asarray(np.clip(losses, *np.quantile(losses[rows], CUT)))


def _held_out(samples: Samples, known: BoolArray) -> tuple[BoolArray, BoolArray, tuple[str, ...], str]:
    """Return the rows to judge, those of training beside them, whose they are, and what limits that."""
    _, rows_of = subsets_of(samples)
    none = np.zeros(len(samples), np.bool_)
    training = rows_of.get(TRAINING, none) & known
    held = {name: mask & known for name, mask in rows_of.items() if name not in (TRAINING, UNLABELED)}
    rows = np.logical_or.reduce([none, *held.values()])
    if rows.sum() >= FEWEST or training.sum() < FEWEST:
        return rows, training, tuple(name for name, mask in held.items() if mask.any()), ""
    held_out = counted(int(rows.sum()), "sample is", "samples are")
    note = f"Only {held_out} held out: training itself is judged, which hides errors."
    return training, none, (TRAINING,), note


def _numbers(samples: Samples, name: str) -> Float64Array:
    if not samples.has(name):
        return np.full(len(samples), np.nan)
    values = samples.numbers(name)
    return np.where(np.isfinite(values), values, np.nan)
