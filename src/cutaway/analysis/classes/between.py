"""Between which two classes each sample lies, by its neighbours and by a second opinion. Arrays only, no words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.arrays import Float32Array, Float64Array, Int64Array

__all__ = ["Between", "Opinion", "between_classes", "opinion_of_centres", "opinion_of_probabilities", "support_of"]


# So many samples are looked at a time: with 20 neighbours each, some megabytes.
BLOCK = 4_096
# One neighbour is always of one mind.
FEWEST_VOTES = 2
# A network that gives all but this to the label that it was trained on has left nothing to go by.
LEAST_LEFT = 0.01


class Opinion(NamedTuple):
    """What something else than neighbours holds: the two likeliest classes of each sample and how likely (rows, 2).

    `chances` has all classes where they are known; -1 and NaN where there is no opinion on a sample.
    """

    classes: Int64Array
    shares: Float64Array
    chances: Float32Array | None = None


class Between(NamedTuple):
    """For each sample the two classes with most support (-1: none), their shares, and the entropy of its neighbours.

    `voters` is how many neighbours have a class; shares are NaN for a sample that nothing is known of.
    """

    first: Int64Array
    second: Int64Array
    first_share: Float64Array
    second_share: Float64Array
    entropy: Float64Array
    voters: Int64Array


def opinion_of_probabilities(chances: Float32Array, trained_on: Int64Array, support: Float64Array) -> Opinion:
    """Return the two likeliest classes of each sample.

    `trained_on` is the label that a network was trained to give to a sample, -1 for a held-out one. It may have learnt
    a wrong label by heart, so its chance counts only as far as neighbours have that label (`support`, 0 to 1).
    """
    held = np.array(chances, np.float32)
    rows = np.flatnonzero(trained_on >= 0)
    held[rows, trained_on[rows]] *= np.minimum(support[rows], 1.0).astype(np.float32)
    left = held.sum(axis=1, keepdims=True)
    known = np.isfinite(left[:, 0]) & (left[:, 0] >= LEAST_LEFT)
    held[known] /= left[known]
    held[~known] = np.nan
    top = np.empty((len(held), 2), np.int64)
    for start in range(0, len(held), BLOCK):
        likely = np.nan_to_num(held[start : start + BLOCK])
        top[start : start + BLOCK] = np.argpartition(likely, -2, axis=1)[:, -2:]
    shares = np.take_along_axis(held, top, axis=1).astype(np.float64)
    return Opinion(np.where(known[:, None], top, -1), shares, held)


def opinion_of_centres(classes: Int64Array, distances: Float64Array) -> Opinion:
    """Return an opinion by the distances to the two nearest class centres (rows, 2), where -1 and NaN are unknown.

    Half and half where both are as far, sure where the difference is what is usual (the median) or more.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = (distances[:, 1] - distances[:, 0]) / (distances[:, 1] + distances[:, 0])
    known = np.isfinite(apart)
    usual = float(np.median(apart[known])) if known.any() else 0.0
    second = 0.5 * np.clip(1 - apart / usual, 0.0, 1.0) if usual > 0 else np.where(known, 0.5, np.nan)
    return Opinion(np.where(known[:, None], classes, -1), np.stack([1 - second, second], axis=1))


def support_of(nearest: Nearest, classes: Int64Array) -> Float64Array:
    """Return which share of each sample's neighbours has its class; 1 where too few neighbours have any."""
    said = np.where(nearest.indices >= 0, classes[nearest.indices], -1)
    total = (said >= 0).sum(axis=1)
    same = ((said == classes[:, None]) & (said >= 0)).sum(axis=1)
    return np.where(total >= FEWEST_VOTES, same / np.maximum(total, 1), 1.0)


def between_classes(nearest: Nearest, classes: Int64Array, opinion: Opinion | None) -> Between:
    """Return the two classes between which each sample lies; `classes` numbers them, -1 where a sample has none."""
    parts = [
        _between(nearest.indices[start : start + BLOCK], classes, _part(opinion, slice(start, start + BLOCK)))
        for start in range(0, max(len(classes), 1), BLOCK)
    ]
    return Between(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _part(opinion: Opinion | None, rows: slice) -> Opinion | None:
    if opinion is None:
        return None
    chances = None if opinion.chances is None else opinion.chances[rows]
    return Opinion(opinion.classes[rows], opinion.shares[rows], chances)


def _between(indices: Int64Array, classes: Int64Array, opinion: Opinion | None) -> Between:
    """Compare candidates with neighbours, which costs the same for two classes and for 10,000.

    A class among the two with most support has a vote or is among the two of the opinion: there are no other
    candidates.
    """
    said = np.where(indices >= 0, classes[indices], -1)
    fine = said >= 0
    total = fine.sum(axis=1)
    candidates = said if opinion is None else np.concatenate([said, opinion.classes], axis=1)
    votes = ((candidates[:, :, None] == said[:, None, :]) & fine[:, None, :]).sum(axis=2)
    voted = votes / np.maximum(total, 1)[:, None]
    weights = (total >= FEWEST_VOTES).astype(np.float64)
    support = voted * weights[:, None]
    if opinion is not None:
        known = opinion.classes[:, 0] >= 0
        support[known] += _held(opinion, candidates)[known]
        weights = weights + known
    support = np.where(candidates >= 0, support, -1.0) / np.maximum(weights, 1)[:, None]
    rows = np.arange(len(said))
    first = candidates[rows, support.argmax(axis=1)]
    rest = np.where(candidates == first[:, None], -1.0, support)
    second_share = rest.max(axis=1)
    bits = np.where(fine, -np.log2(np.maximum(votes[:, : said.shape[1]], 1) / np.maximum(total, 1)[:, None]), 0.0)
    return Between(
        first,
        np.where(second_share > 0, candidates[rows, rest.argmax(axis=1)], -1),
        np.where(weights > 0, support.max(axis=1), np.nan),
        np.where(weights > 0, np.maximum(second_share, 0.0), np.nan),
        np.where(total >= FEWEST_VOTES, bits.sum(axis=1) / np.maximum(total, 1), np.nan),
        total,
    )


def _held(opinion: Opinion, candidates: Int64Array) -> Float64Array:
    if opinion.chances is not None:
        return np.take_along_axis(opinion.chances, np.maximum(candidates, 0), axis=1).astype(np.float64)
    same = candidates[:, :, None] == opinion.classes[:, None, :]
    return np.asarray(np.where(same, opinion.shares[:, None, :], 0.0).sum(axis=2))
