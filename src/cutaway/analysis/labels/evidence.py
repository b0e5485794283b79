"""Everything that speaks for or against each label, signal by signal. Weighs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.labels.classwise import Classwise
from cutaway.analysis.labels.ridge import MOST_PREDICTIONS, fit_ridge
from cutaway.analysis.labels.visits import Visits, read_visits
from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.samples import SUBSET, Samples
from cutaway.analysis.samples.coding import Coded
from cutaway.arrays import BoolArray, Float32Array, Float64Array, IndexArray, Int64Array
from cutaway.evaluation.progress import Listener

__all__ = ["HELD_OUT", "VOTERS", "Evidence", "Votes", "count_votes", "gather"]

HELD_OUT = ("validation", "test")
"""Subsets that training did not learn from."""

VOTERS = 10
"""So many of the nearest samples with a label are asked."""


@dataclass(frozen=True)
class Evidence:
    """For each sample a margin of its label by signal, NaN where there is none: above 0 speaks for the label.

    `classwise` is what speaks for each of the likeliest classes.
    """

    visits: Visits | None
    votes: Votes
    ridge: Float64Array
    held_out: Float64Array
    classwise: Classwise

    @property
    def margins(self) -> Float64Array:
        """The four margins, (samples, 4): visits, neighbours, ridge, held out."""
        count = len(self.ridge)
        visits = np.full(count, np.nan) if self.visits is None else self.visits.margin
        return np.stack([visits, self.votes.margin, self.ridge, self.held_out], axis=1)


def gather(samples: Samples, nearest: Nearest, labels: Coded, *, seed: int, progress: Listener | None) -> Evidence:
    """Return what speaks for and against the label of each sample."""
    visits = None if samples.dynamics is None else read_visits(samples.dynamics, len(labels.names))
    votes = count_votes(nearest, labels.codes)
    held_out = np.full(len(samples), np.nan)
    if samples.probabilities is not None:
        there = np.isin(samples.table[SUBSET].to_numpy(zero_copy_only=False), HELD_OUT)
        held_out = _held_out_margins(samples.probabilities, labels.codes, there)
    ridge, classwise = _fitted(samples, votes, labels, seed, progress)
    return Evidence(visits, votes, ridge, held_out, classwise)


def _fitted(
    samples: Samples, votes: Votes, labels: Coded, seed: int, progress: Listener | None
) -> tuple[Float64Array, Classwise]:
    """Return the margins of the linear fit, and what it, the neighbours and the model say of the likeliest classes."""
    margins = np.full(len(samples), np.nan)
    classwise = Classwise.empty(len(samples), len(labels.names))
    usable = samples.finite & (labels.codes >= 0)
    counter = Counter(progress, int((labels.codes >= 0).sum()), "samples", "looking for wrong labels")
    with_fit = bool(usable.sum() >= 2 and samples.latents.shape[1])
    for rows, found in _predictions(samples, labels, usable if with_fit else np.zeros_like(usable), seed):
        own = labels.codes[rows]
        if found is not None:
            places = np.arange(len(rows))
            mine = found[places, own].astype(np.float64)
            found[places, own] = -np.inf
            margins[rows] = mine - found.max(axis=1)
            found[places, own] = mine
        chances = None if samples.probabilities is None else samples.probabilities[rows]
        classwise.fill(rows, own, found, (votes.labels[rows], votes.asked[rows]), chances)
        counter.advance(len(rows))
    return margins, classwise


def _predictions(
    samples: Samples, labels: Coded, usable: BoolArray, seed: int
) -> Iterator[tuple[IndexArray, Float32Array | None]]:
    """Yield blocks of labelled samples with the predictions of the linear fit; None for those that it cannot see."""
    if usable.any():
        yield from fit_ridge(samples.latents, labels.codes, usable, len(labels.names), seed).predictions()
    others = np.flatnonzero(~usable & (labels.codes >= 0))
    block = max(1, MOST_PREDICTIONS // max(len(labels.names), 1))
    for start in range(0, len(others), block):
        yield others[start : start + block], None


def _held_out_margins(probabilities: Float32Array, labels: Int64Array, held_out: BoolArray) -> Float64Array:
    """Return how far the label's probability lies above the best other one, each less what is usual for its class.

    Confident learning: usual is the mean probability of a class among the held-out samples that have it as their label,
    so a class of which the model is never sure does not make each of its samples a suspect. NaN for all other samples.
    """
    classes = probabilities.shape[1]
    rows = np.flatnonzero(held_out & (labels >= 0) & (labels < classes))
    rows = rows[np.isfinite(probabilities[rows]).all(axis=1)]
    margins = np.full(len(labels), np.nan)
    if not len(rows) or classes < 2:
        return margins
    own = probabilities[rows, labels[rows]].astype(np.float64)
    counts = np.bincount(labels[rows], minlength=classes)
    sums = np.bincount(labels[rows], weights=own, minlength=classes)
    # A class of few samples is as sure as all classes are together.
    usual = (sums + own.mean()) / (counts + 1)
    usual -= usual.mean()
    adjusted = probabilities[rows] - usual.astype(np.float32)
    mine = adjusted[np.arange(len(rows)), labels[rows]].copy()
    adjusted[np.arange(len(rows)), labels[rows]] = -np.inf
    margins[rows] = np.clip(mine - adjusted.max(axis=1), -1, 1)
    return margins


@dataclass(frozen=True)
class Votes:
    """Of the nearest labelled samples of each: how many share its label, and how many have the most frequent other.

    `labels` are the labels of the neighbours, -1 beyond the last; `other` is -1 where no neighbour has another label.
    """

    labels: Int64Array
    asked: Int64Array
    own: Int64Array
    other: Int64Array
    others: Int64Array

    @property
    def margin(self) -> Float64Array:
        """The share of the own label less that of the most frequent other; NaN where nobody could be asked."""
        asked = np.where(self.asked > 0, self.asked, np.nan)
        return (self.own - self.others) / asked


def count_votes(nearest: Nearest, labels: Int64Array) -> Votes:
    """Return the votes on each sample's label; `labels` are numbers, -1 for none."""
    indices = nearest.indices
    voted = np.where(indices >= 0, labels[indices], -1)
    # The nearest that have a label, in their order.
    order = np.argsort(voted < 0, axis=1, kind="stable")[:, :VOTERS]
    voted = np.take_along_axis(voted, order, axis=1)
    asked = (voted >= 0).sum(axis=1)
    own = ((voted == labels[:, None]) & (voted >= 0)).sum(axis=1)
    against = np.where(voted == labels[:, None], -1, voted)
    # So many neighbours agree with each of those that disagree; the nearest of the most frequent wins a tie.
    same = ((against[:, :, None] == against[:, None, :]) & (against >= 0)[:, :, None]).sum(axis=2)
    if not same.shape[1]:
        nobody = np.full(len(labels), -1, np.int64)
        return Votes(voted, asked, own, nobody, np.zeros_like(nobody))
    best = same.argmax(axis=1)[:, None]
    others = np.take_along_axis(same, best, axis=1)[:, 0]
    other = np.where(others > 0, np.take_along_axis(against, best, axis=1)[:, 0], -1)
    return Votes(voted, asked, own, other, others)
