"""Which classes get which wrong labels is read from labels that are likely wrong."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.labels.flips import estimate_flips

CLASSES = 5


def _estimated(wrong: np.ndarray, preferred: np.ndarray, sure: float = 1.0):  # noqa: ANN202
    rates = np.full(CLASSES, 0.05)
    contradicted = wrong != preferred
    return estimate_flips(rates, wrong, preferred, contradicted, np.full(len(wrong), sure))


def _pair(flips: object, right: int, label: int) -> float:
    found = flips.of(np.array([[right]]), np.array([label]))  # type: ignore[attr-defined]
    return float(found[0, 0])


def test_a_habit_is_found() -> None:
    preferred = np.repeat(np.arange(CLASSES), 40)
    flips = _estimated((preferred + 1) % CLASSES, preferred)
    assert _pair(flips, 2, 3) > 0.045
    assert _pair(flips, 2, 4) < 0.003
    assert _pair(flips, 2, 2) == pytest.approx(0.95)


def test_labels_that_are_spread_evenly_stay_even() -> None:
    random = np.random.default_rng(0)
    preferred = np.repeat(np.arange(CLASSES), 40)
    flips = _estimated((preferred + random.integers(1, CLASSES, len(preferred))) % CLASSES, preferred)
    assert [round(_pair(flips, 2, one) / 0.05, 1) for one in (0, 1, 3, 4)] == pytest.approx([0.25] * 4, abs=0.1)


def test_hard_samples_are_no_proof_of_a_habit() -> None:
    preferred = np.repeat(np.arange(CLASSES), 40)
    flips = _estimated((preferred + 1) % CLASSES, preferred, sure=0.2)
    assert _pair(flips, 2, 3) == pytest.approx(0.05 / 4)


def test_what_is_believed_half_lies_half_way_to_classes_that_are_all_alike() -> None:
    preferred = np.repeat(np.arange(CLASSES), 40)
    rates = np.array([0.02, 0.06, 0.02, 0.06, 0.04])
    wrong = (preferred + 1) % CLASSES
    flips = estimate_flips(rates, wrong, preferred, wrong != preferred, np.ones(len(wrong)))
    evened = flips.evened()
    assert _pair(evened, 1, 1) == pytest.approx(0.95)
    pair, other = _pair(flips, 1, 2) / 0.06, _pair(evened, 1, 2) / 0.05
    assert pair > 0.9
    assert other == pytest.approx((pair + 0.25) / 2)
    alike = estimate_flips(rates[:2], wrong[:0], wrong[:0], wrong[:0] > 0, np.zeros(0))
    assert _pair(alike.evened(), 1, 0) == pytest.approx(0.05)


@pytest.mark.parametrize("classes", [2, 500])
def test_of_two_or_very_many_classes_no_pair_is_looked_at(classes: int) -> None:
    none = np.zeros(0, np.int64)
    flips = estimate_flips(np.full(classes, 0.1), none, none, none.astype(bool), np.zeros(0))
    assert _pair(flips, 0, 1) == pytest.approx(0.1 / (classes - 1))
