from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.classes.between import (
    between_classes,
    opinion_of_centres,
    opinion_of_probabilities,
    support_of,
)
from cutaway.analysis.neighbours.nearest import Nearest


@pytest.mark.parametrize("seed", range(5))
def test_the_two_classes_are_those_of_a_table_of_all_classes(seed: int) -> None:
    chance = np.random.default_rng(seed)
    rows, width, k = 200, 7, 6
    classes = chance.integers(-1, width, rows)
    indices = chance.integers(-1, rows, (rows, k))
    chances = chance.dirichlet(np.full(width, 0.3), rows).astype(np.float32)
    opinion = opinion_of_probabilities(chances, np.full(rows, -1), np.ones(rows))
    between = between_classes(Nearest(indices, np.ones((rows, k), np.float32)), classes, opinion)
    said = np.where(indices >= 0, classes[indices], -1)
    votes = np.stack([(said == one).sum(axis=1) for one in range(width)], axis=1).astype(float)
    voters = votes.sum(axis=1)
    voted = votes / np.maximum(voters, 1)[:, None]
    dense = np.where((voters >= 2)[:, None], (voted + chances) / 2, chances)
    ordered = np.sort(dense, axis=1)
    assert np.allclose(between.first_share, ordered[:, -1], atol=1e-6)
    assert np.allclose(between.second_share, ordered[:, -2], atol=1e-6)
    assert np.allclose(dense[np.arange(rows), between.second], ordered[:, -2], atol=1e-6)
    bits = -(voted * np.log2(np.where(voted > 0, voted, 1))).sum(axis=1)
    assert np.allclose(between.entropy[voters >= 2], bits[voters >= 2])


def test_a_label_learnt_by_heart_counts_as_far_as_neighbours_have_it() -> None:
    chances = np.array([[0.6, 0.4], [0.6, 0.4], [0.999, 0.001]], np.float32)
    opinion = opinion_of_probabilities(chances, np.array([0, -1, 0]), np.array([0.0, 0.0, 0.0]))
    assert opinion.chances is not None
    assert opinion.chances[0].tolist() == [0.0, 1.0]
    assert opinion.chances[1].tolist() == pytest.approx([0.6, 0.4])
    assert opinion.classes[2].tolist() == [-1, -1]


def test_centres_that_are_as_far_divide_a_sample_in_half() -> None:
    opinion = opinion_of_centres(np.array([[0, 1]] * 4), np.array([[1.0, 1.0], [1.0, 3.0], [1.0, 3.0], [1.0, 3.0]]))
    assert opinion.shares.tolist() == [[0.5, 0.5], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]


def test_a_sample_without_neighbours_that_have_a_class_has_full_support() -> None:
    nearest = Nearest(np.array([[1, 2], [0, 2], [-1, -1]]), np.ones((3, 2), np.float32))
    assert support_of(nearest, np.array([0, 0, 1])).tolist() == [0.5, 0.5, 1.0]
