"""Corrections are accepted that are sure enough."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.labels import accepted
from cutaway.errors import ConfigurationError


@given(st.lists(st.floats(0, 1), max_size=50), st.floats(0.5, 1))
def test_accepted_scores_are_the_highest_and_each_is_high_enough(scores: list[float], precision: float) -> None:
    chosen = accepted(pa.table({"score": pa.array(scores, pa.float64())}), precision)
    values = np.array(scores)
    assert len(chosen) == len(values)
    if chosen.any():
        assert values[chosen].min() >= precision
        assert values[chosen].min() >= max(values[~chosen], default=0)


def test_a_precision_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"precision=1\.5"):
        accepted(pa.table({"score": [0.5]}), 1.5)
