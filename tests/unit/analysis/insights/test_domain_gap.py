"""A mean under another mix."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.insights.columns import Described
from cutaway.analysis.insights.domain_gap import as_if_mixed


def test_a_mean_is_weighted_to_the_other_mix() -> None:
    codes = np.repeat([0, 1, 0, 1], [80, 20, 20, 80])
    outcome = np.where(codes == 0, 0.1, 0.5)
    inside = np.arange(200) < 100
    found = as_if_mixed(Described("x", None, codes, ("a", "b")), outcome, inside, ~inside)
    assert found is not None
    assert found.before == pytest.approx(0.18)
    assert found.after == pytest.approx(0.42)
    assert found.low <= found.after <= found.high


def test_what_is_not_there_cannot_be_weighted_up() -> None:
    codes = np.repeat([0, 1], [100, 100])
    inside = np.arange(200) < 100
    assert as_if_mixed(Described("x", None, codes, ("a", "b")), np.ones(200), inside, ~inside) is None


def test_the_same_mix_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=2000)
    inside = np.arange(2000) % 2 == 0
    found = as_if_mixed(Described("x", values, np.zeros(0, np.int64), ()), (values > 1).astype(float), inside, ~inside)
    assert found is not None
    assert found.after == pytest.approx(found.before, abs=0.02)
