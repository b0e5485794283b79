from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.slices.features import Feature, featured
from cutaway.analysis.slices.multiplicity import looks_of, step_up
from cutaway.analysis.slices.outcome import target_of
from cutaway.analysis.slices.searching import Searcher


def _searcher(columns: int, rows: int = 1000) -> Searcher:
    random = np.random.default_rng(0)
    made = [featured(f"c{place}", pa.chunked_array([random.normal(size=rows)]), 10) for place in range(columns)]
    return Searcher([one for one in made if isinstance(one, Feature)], 10, rows // 2)


def test_more_columns_are_more_looks() -> None:
    target = target_of(np.random.default_rng(1).normal(size=1000))
    few, many = (looks_of(_searcher(columns), target, 0, lambda: None) for columns in (1, 12))
    assert 1 <= few < many


def test_one_score_alone_is_held_to_a_twentieth_of_alpha() -> None:
    (p,) = step_up([2.9], 1.0, 0.05)
    assert p == pytest.approx(0.00187, abs=1e-4)
    (p,) = step_up([2.5], 1.0, 0.05)
    assert p > 0.05


def test_scores_together_allow_more_than_one_alone() -> None:
    together = step_up([6.0, 5.0, 2.0], 2.0, 0.05)
    assert together[2] <= 0.05 < step_up([2.0], 2.0, 0.05)[0]
    assert together == sorted(together)


def test_no_scores_give_none() -> None:
    assert step_up([], 10.0, 0.05) == []
