from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.slices.features import Box, Feature, box_rows, featured
from cutaway.analysis.slices.outcome import target_of
from cutaway.analysis.slices.pursuing import SliceLimits, kept, pursued
from cutaway.analysis.slices.searching import Searcher

LIMITS = SliceLimits(level=5.0, alpha=0.05, effect=0.01, most=10)


@pytest.fixture
def searcher() -> Searcher:
    random = np.random.default_rng(0)
    columns = [random.uniform(size=8000), random.uniform(size=8000), random.choice(["a", "b", "c", "d"], 8000)]
    made = [featured(f"c{place}", pa.chunked_array([pa.array(one)]), 50) for place, one in enumerate(columns)]
    return Searcher([one for one in made if isinstance(one, Feature)], 50, 4000)


def _wrong(searcher: Searcher, box: Box, rise: float) -> np.ndarray:
    chance = 0.05 + rise * box_rows(searcher.features, box)
    return (np.random.default_rng(1).random(searcher.rows) < chance).astype(float)


def test_a_crumb_beside_a_surer_slice_is_not_kept(searcher: Searcher) -> None:
    target = target_of(_wrong(searcher, ((0, 80, 100),), 0.4))
    held = kept(searcher, target, LIMITS, [((0, 84, 100),), ((0, 80, 84),)])
    assert [one.box for one in held] == [((0, 84, 100),)]


def test_slices_apart_on_one_column_are_both_kept(searcher: Searcher) -> None:
    both = _wrong(searcher, ((0, 90, 100),), 0.4) + _wrong(searcher, ((0, 0, 10),), 0.4) > 0
    held = kept(searcher, target_of(both.astype(float)), LIMITS, [((0, 90, 100),), ((0, 0, 10),)])
    assert len(held) == 2


def test_the_same_slice_twice_is_kept_once(searcher: Searcher) -> None:
    target = target_of(_wrong(searcher, ((0, 80, 100),), 0.4))
    assert len(kept(searcher, target, LIMITS, [((0, 80, 100),), ((0, 79, 100),)])) == 1


def test_a_slice_that_only_rides_on_another_is_not_kept(searcher: Searcher) -> None:
    target = target_of(_wrong(searcher, ((0, 80, 100),), 0.4))
    box: Box = ((0, 60, 100), (2, 0, 1))
    assert box not in [one.box for one in kept(searcher, target, LIMITS, [((0, 80, 100),), box])]


def test_a_pursuit_moves_both_ends_to_where_they_are(searcher: Searcher) -> None:
    box: Box = ((0, 20, 45), (1, 60, 100))
    (held,) = pursued(searcher, target_of(_wrong(searcher, box, 0.5)), LIMITS, lambda: None)
    one, two = box_rows(searcher.features, held.box), box_rows(searcher.features, box)
    assert (one & two).sum() > 0.85 * (one | two).sum()


def test_no_boxes_keep_none(searcher: Searcher) -> None:
    assert kept(searcher, target_of(_wrong(searcher, ((0, 80, 100),), 0.4)), LIMITS, []) == []
