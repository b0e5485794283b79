"""What judges maps is judged by scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import manifold

from benchmarks.population import judging

RANDOM = np.random.default_rng(0)
LATENTS = RANDOM.normal(size=(400, 12)).astype(np.float32)


def test_trustworthiness_is_that_of_scikit_learn_for_each_of_several_maps() -> None:
    maps = [LATENTS[:, :2], RANDOM.normal(size=(400, 2)).astype(np.float32)]
    wanted = [manifold.trustworthiness(LATENTS, one, n_neighbors=15) for one in maps]
    assert judging.trustworthiness(LATENTS, maps, queries=400) == pytest.approx(wanted, abs=1e-9)


def test_the_same_queries_are_asked_of_every_map() -> None:
    whole = judging.trustworthiness(LATENTS, [LATENTS[:, :2]], queries=100)
    assert judging.trustworthiness(LATENTS, [LATENTS[:, 2:4], LATENTS[:, :2]], queries=100)[1] == whole[0]


def test_the_vectors_themselves_are_trusted_wholly() -> None:
    plane = LATENTS[:, :2].copy()
    assert judging.trustworthiness(plane, [plane], queries=400) == [1.0]


def test_neighbours_that_were_kept_are_counted_in_any_order() -> None:
    before, now = np.array([[1, 2, 3, 4], [5, 6, 7, 8]]), np.array([[4, 9, 1, 10], [1, 2, 3, 4]])
    assert judging.kept_share(before, now).tolist() == [0.5, 0.0]
    assert judging.recall(now, before) == 0.25


def test_labels_are_read_from_the_nearest_in_the_plane() -> None:
    known = np.concatenate([RANDOM.normal(0, 0.1, (50, 2)), RANDOM.normal(5, 0.1, (50, 2))]).astype(np.float32)
    labels = np.repeat([3, 7], 50)
    asked = np.array([[0, 0], [5, 5], [5, 5.1], [0, 0.1]], np.float32)
    assert judging.label_accuracy(known, labels, asked, np.array([3, 7, 3, 3])) == 0.75
