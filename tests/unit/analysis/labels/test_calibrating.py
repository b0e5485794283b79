"""Margins become probabilities, without knowing any wrong label."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.labels.calibrating import calibrate


def _margins(count: int, rate: float, hard: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Margins of which a share is mirrored; a `hard` share lies about 0 instead of at about 2.5."""
    random = np.random.default_rng(seed)
    right = np.where(random.random(count) < hard, random.normal(0.3, 0.8, count), random.normal(2.5, 0.25, count))
    wrong = random.random(count) < rate
    return np.clip(np.where(wrong, -0.9 * right, right), -3, 3), wrong


@pytest.mark.parametrize("hard", [0.0, 0.05, 0.2])
def test_no_wrong_labels_are_expected_where_there_are_none(hard: float) -> None:
    margins, _ = _margins(4000, 0.0, hard)
    found = calibrate(margins)
    assert found.scores.max() < 0.95
    assert found.rate < 0.01
    assert found.low <= 0.001


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2])
def test_the_share_of_wrong_labels_is_found(rate: float) -> None:
    margins, wrong = _margins(4000, rate, 0.05)
    found = calibrate(margins)
    assert found.rate == pytest.approx(wrong.mean(), rel=0.35)
    assert found.low <= found.rate <= found.high
    assert wrong[found.scores >= 0.95].mean() > 0.95


def test_a_larger_margin_is_never_more_likely_wrong() -> None:
    margins, _ = _margins(500, 0.1, 0.3)
    ordered = calibrate(np.sort(margins)).scores
    assert (np.diff(ordered) <= 1e-12).all()
    assert ((ordered >= 0) & (ordered <= 1)).all()


@pytest.mark.parametrize("margins", [[], [0.0, 0.0], [1.0], [-1.0]])
def test_next_to_nothing_says_next_to_nothing(margins: list[float]) -> None:
    scores = calibrate(np.array(margins, float)).scores
    assert len(scores) == len(margins)
    assert (scores < 0.8).all()
