"""Calibrated scores are told from others."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.labels import calibration_error, reliability
from cutaway.errors import ConfigurationError


def test_calibrated_scores_lie_in_their_intervals_and_boasting_ones_do_not() -> None:
    random = np.random.default_rng(0)
    scores = random.random(20_000)
    wrong = random.random(20_000) < scores
    table = reliability(scores, wrong)
    assert table["count"].to_numpy().sum() == 20_000
    inside = (table["score"].to_numpy() >= table["low"].to_numpy()) & (
        table["score"].to_numpy() <= table["high"].to_numpy()
    )
    assert inside.sum() >= 8
    assert calibration_error(scores, wrong) < 0.02
    assert calibration_error(np.sqrt(scores), wrong) > 0.1


def test_scores_beyond_0_and_1_and_of_another_length_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="from 0 to 1"):
        reliability([1.5], [True])
    with pytest.raises(ConfigurationError, match="one value for each sample"):
        reliability([0.5], [True, False])


def test_no_scores_have_no_error() -> None:
    assert np.isnan(calibration_error([], []))
