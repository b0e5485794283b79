"""Weights are those by which observed classes are likeliest."""

from __future__ import annotations

import numpy as np

from cutaway.analysis.labels.weighing import chances_of, fit_weights, weigh_with_flips

USUAL = np.array([1.0, 0.0])


def _observed(count: int = 4_000) -> tuple[np.ndarray, np.ndarray]:
    """Features of which the first says a lot and the second nothing, and the classes."""
    random = np.random.default_rng(0)
    features = random.normal(size=(count, 3, 2))
    chances = chances_of(features, np.array([2.0, 0.0]))
    classes = (chances.cumsum(axis=1) < random.random((count, 1))).sum(axis=1)
    return features, np.eye(3)[classes]


def test_the_weights_that_made_the_classes_are_found() -> None:
    features, target = _observed()
    found = fit_weights(features, target, USUAL)
    assert 1.5 < found[0] < 2.2
    assert abs(found[1]) < 0.15


def test_features_that_say_nothing_leave_the_usual_weights() -> None:
    assert fit_weights(np.zeros((9, 3, 2)), np.eye(3)[np.arange(9) % 3], USUAL).tolist() == [1.0, 0.0]


def test_classes_that_are_told_apart_for_certain_do_not_run_away() -> None:
    features = np.zeros((300, 3, 2))
    features[:, 0] = 15.0
    found = fit_weights(features, np.tile([1.0, 0.0, 0.0], (300, 1)), USUAL)
    assert np.isfinite(found).all()
    assert np.abs(found).max() < 10


def test_weights_that_are_held_together_grow_but_keep_what_each_counts_beside_the_others() -> None:
    features, target = _observed()
    usual = np.array([0.5, 0.5])
    free, held = (fit_weights(features, target, usual, together=one) for one in (False, True))
    assert free[1] / free[0] < 0.2
    assert held[1] / held[0] > 0.4
    assert held.sum() > 1.1 * usual.sum()


def test_a_label_that_a_clear_sample_contradicts_is_a_flip() -> None:
    features, _ = _observed(2_000)
    features[:, :, 0] *= 8
    right = chances_of(features, np.array([2.0, 0.0])).argmax(axis=1)
    # The label is in the first column; of each tenth sample it is wrong.
    flipped = np.arange(2_000) % 10 == 0
    first = np.where(flipped, (right + 1) % 3, right)
    order = (first[:, None] + np.arange(3)) % 3
    features = np.take_along_axis(features, order[:, :, None], axis=1)
    flips = np.tile([0.9, 0.05, 0.05], (2_000, 1))
    found = weigh_with_flips(features, flips, USUAL, USUAL)
    assert (found[flipped, 0] < 0.5).mean() > 0.9
    assert (found[~flipped, 0] > 0.5).mean() > 0.95
