from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.slices.features import Feature, featured
from cutaway.analysis.slices.multiplicity import false_boxes, level_of, step_up
from cutaway.analysis.slices.outcome import target_of
from cutaway.analysis.slices.searching import Searcher


def _searcher(columns: int, rows: int = 1000) -> Searcher:
    random = np.random.default_rng(0)
    made = [featured(f"c{place}", pa.chunked_array([random.normal(size=rows)]), 10) for place in range(columns)]
    return Searcher([one for one in made if isinstance(one, Feature)], 10, rows // 2)


def test_chance_reaches_further_among_more_columns() -> None:
    target = target_of(np.random.default_rng(1).normal(size=1000))
    few, many = (level_of(_searcher(columns), target, 0, lambda: None) for columns in (1, 12))
    assert few < many


def test_chance_gives_fewer_boxes_the_higher_the_score() -> None:
    assert false_boxes(2.0, 5.0) > 1
    assert 0.001 < false_boxes(5.0, 5.0) < 0.01
    assert false_boxes(9.0, 5.0) < 1e-9


def test_one_score_alone_is_held_to_a_fifth_of_alpha() -> None:
    (p,) = step_up([4.9], 5.0, 0.05)
    assert p == pytest.approx(false_boxes(4.9, 5.0))
    assert false_boxes(4.5, 5.0) < 0.05 < step_up([4.5], 5.0, 0.05)[0]


def test_scores_together_allow_more_than_one_alone() -> None:
    together = step_up([9.0, 8.0, 4.2], 5.0, 0.05)
    assert together[2] <= 0.05 < step_up([4.2], 5.0, 0.05)[0]
    assert together == sorted(together)


def test_no_scores_give_none() -> None:
    assert step_up([], 10.0, 0.05) == []
