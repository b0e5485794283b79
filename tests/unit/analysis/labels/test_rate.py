"""The share of wrong labels is what contradicts labels where the evidence is surest."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.labels.rate import estimate_rate, places_of


def _counts(rates: list[float], count: int = 6_000, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sureness, whether contradicted, and class: hard samples are contradicted whatever their label."""
    random = np.random.default_rng(seed)
    preferred = random.integers(0, len(rates), count)
    sure = random.random(count)
    hard = random.random(count) < 1 / (1 + np.exp(12 * sure))
    return sure, hard | (random.random(count) < np.array(rates)[preferred]), preferred


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.2])
def test_the_share_is_found_and_the_interval_holds_it(rate: float) -> None:
    sure, contradicted, preferred = _counts([rate] * 5)
    found = estimate_rate(places_of(sure), contradicted, preferred, 5, 0)
    assert found.share == pytest.approx(rate, rel=0.25)
    assert found.low / 1.1 <= rate <= found.high * 1.1


def test_hard_samples_without_wrong_labels_are_no_reason_to_expect_any() -> None:
    sure, contradicted, preferred = _counts([0.0] * 5)
    assert contradicted.mean() > 0.05
    found = estimate_rate(places_of(sure), contradicted, preferred, 5, 0)
    assert found.share < 0.003
    assert found.low == 0


def test_one_class_can_have_them_all() -> None:
    sure, contradicted, preferred = _counts([0.25, 0.0, 0.0, 0.0])
    found = estimate_rate(places_of(sure), contradicted, preferred, 4, 0)
    assert found.by_class[0] == pytest.approx(0.25, rel=0.2)
    assert found.by_class[1:].max() < 0.01


def test_a_contradicted_label_is_likely_wrong_where_the_evidence_is_sure_only() -> None:
    sure, contradicted, preferred = _counts([0.05] * 5)
    found = estimate_rate(places_of(sure), contradicted, preferred, 5, 0)
    assert found.flipped[sure > 0.9].mean() > 0.9
    assert found.flipped[sure < 0.1].mean() < 0.3


def test_of_very_many_classes_none_has_a_share_of_its_own() -> None:
    sure, contradicted, preferred = _counts([0.05] * 1_000)
    found = estimate_rate(places_of(sure), contradicted, preferred, 1_000, 0)
    assert found.share == pytest.approx(0.05, rel=0.3)
    assert np.ptp(found.by_class) == 0


def test_places_are_even_among_all_and_within_each_class() -> None:
    sure, preferred = np.random.default_rng(0).random(1_000), np.arange(1_000) % 2
    assert set(np.bincount(places_of(sure)).tolist()) == {20}
    within = places_of(sure, preferred)
    assert set(np.bincount(within[preferred == 0]).tolist()) == {10}
    assert (np.diff(within[preferred == 1][np.argsort(sure[preferred == 1])]) >= 0).all()
