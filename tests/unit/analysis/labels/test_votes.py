"""Neighbours vote with their labels."""

from __future__ import annotations

import numpy as np

from cutaway.analysis.labels.evidence import count_votes
from cutaway.analysis.neighbours.nearest import Nearest


def test_the_most_frequent_other_label_is_counted_beside_the_own() -> None:
    indices = np.array([[1, 2, 3, 4], [0, -1, -1, -1], [-1, -1, -1, -1], [4, 0, 1, 2], [3, 0, 1, 2]])
    votes = count_votes(Nearest(indices, np.ones(indices.shape, np.float32)), np.array([0, 1, 1, 0, -1]))
    assert votes.asked.tolist() == [3, 1, 0, 3, 4]
    assert votes.own.tolist() == [1, 0, 0, 1, 0]
    assert votes.other.tolist()[:4] == [1, 0, -1, 1]
    np.testing.assert_allclose(votes.margin[:4], [-1 / 3, -1, np.nan, -1 / 3])
