"""What the labels of the nearest other samples say about a label. Never makes a table of samples by classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.arrays import Float64Array, Int64Array

__all__ = ["VOTERS", "Votes", "count_votes"]

VOTERS = 10
"""So many of the nearest samples with a label are asked."""


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
