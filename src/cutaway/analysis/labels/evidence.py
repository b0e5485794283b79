"""Everything that speaks for or against each label, signal by signal. Weighs nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.labels.ridge import fit_ridge
from cutaway.analysis.labels.visits import Visits, read_visits
from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.samples import SUBSET, Samples
from cutaway.analysis.samples.coding import Coded
from cutaway.arrays import BoolArray, Float32Array, Float64Array, IndexArray, Int64Array
from cutaway.evaluation.progress import Listener

__all__ = ["VOTERS", "Evidence", "Votes", "count_votes", "gather"]

# Subsets that training did not learn from.
HELD_OUT = ("validation", "test")

VOTERS = 10
"""So many of the nearest samples with a label are asked."""


@dataclass(frozen=True)
class Evidence:
    """For each sample a margin of its label by signal, NaN where there is none: above 0 speaks for the label.

    `suggested` is the class that all signals together prefer to the label, -1 where nothing names one. `lead` is how
    far it lies above the next class but the label; `own_lead` how far the label lies above, or below, the suggestion.
    """

    visits: Visits | None
    votes: Votes
    ridge: Float64Array
    held_out: Float64Array
    suggested: Int64Array
    lead: Float64Array
    own_lead: Float64Array

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
    ridge, preferred = _fitted(samples, votes, labels, seed, progress)
    return Evidence(visits, votes, ridge, held_out, *preferred)


def _fitted(
    samples: Samples, votes: Votes, labels: Coded, seed: int, progress: Listener | None
) -> tuple[Float64Array, tuple[Int64Array, Float64Array, Float64Array]]:
    """Return the margins of the linear fit, and the class that it, the neighbours and the model prefer together."""
    margins, suggested = np.full(len(samples), np.nan), _without_fit(samples, votes, labels)
    lead, own_lead = np.full(len(samples), np.nan), np.full(len(samples), np.nan)
    usable = samples.finite & (labels.codes >= 0)
    if usable.sum() < 2 or not samples.latents.shape[1]:
        return margins, (suggested, lead, own_lead)
    fit = fit_ridge(samples.latents, labels.codes, usable, len(labels.names), seed)
    counter = Counter(progress, len(fit.rows), "samples", "looking for wrong labels")
    for rows, found in fit.predictions():
        places, own = np.arange(len(rows)), labels.codes[rows]
        mine = found[places, own].astype(np.float64)
        found[places, own] = -np.inf
        margins[rows] = mine - found.max(axis=1)
        found[places, own] = mine
        _add_votes(found, votes.labels[rows], votes.asked[rows])
        _add_chances(found, samples.probabilities, rows)
        mine = found[places, own].astype(np.float64)
        found[places, own] = -np.inf
        suggested[rows] = found.argmax(axis=1)
        best = found[places, suggested[rows]].astype(np.float64)
        own_lead[rows] = mine - best
        found[places, suggested[rows]] = -np.inf
        lead[rows] = best - found.max(axis=1)
        counter.advance(len(rows))
    return margins, (suggested, lead, own_lead)


def _add_votes(found: Float32Array, voted: Int64Array, asked: Int64Array) -> None:
    places = np.arange(len(found))
    for voter in range(min(VOTERS, voted.shape[1])):
        chosen = voted[:, voter] >= 0
        found[places[chosen], voted[chosen, voter]] += (1 / asked[chosen]).astype(np.float32)


def _add_chances(found: Float32Array, probabilities: Float32Array | None, rows: IndexArray) -> None:
    if probabilities is not None:
        found[:, : probabilities.shape[1]] += np.nan_to_num(probabilities[rows])


def _without_fit(samples: Samples, votes: Votes, labels: Coded) -> Int64Array:
    """Return what to suggest where there is no latent vector: the model's second choice, else the neighbours'."""
    if samples.probabilities is None or samples.probabilities.shape[1] < 2:
        return votes.other.copy()
    best = np.nan_to_num(samples.probabilities, nan=-1.0)
    inside = np.flatnonzero((labels.codes >= 0) & (labels.codes < best.shape[1]))
    best[inside, labels.codes[inside]] = -1.0
    return np.where(best.max(axis=1) >= 0, best.argmax(axis=1), votes.other)


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
