from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.doubles.close import close_pairs
from cutaway.analysis.neighbours import build_index
from cutaway.analysis.neighbours.nearest import Nearest, nearest_of
from cutaway.analysis.samples import Samples


def nearest(vectors: np.ndarray) -> Nearest:
    return nearest_of(Samples.from_arrays(vectors), lambda: build_index(vectors.astype(np.float32)))


@pytest.mark.parametrize("width", [2, 4, 8])
def test_chance_gives_about_as_many_pairs_as_are_expected(width: int) -> None:
    vectors = np.random.default_rng(0).normal(size=(4000, width))
    pairs = close_pairs(nearest(vectors), np.ones(4000, np.bool_), false_share=1.0)
    # Of the pairs up to any place, the share of chance is about all of them: none stands out.
    assert pairs.chance[10] > 0.3


def test_scale_and_place_do_not_matter() -> None:
    vectors = np.random.default_rng(0).normal(size=(500, 5))
    vectors[1] = vectors[0] + 1e-3
    every = np.ones(500, np.bool_)
    one = close_pairs(nearest(vectors), every, false_share=0.05)
    other = close_pairs(nearest(1000 * vectors), every, false_share=0.05)
    assert [one.first.tolist(), one.second.tolist()] == [[0], [1]] == [other.first.tolist(), other.second.tolist()]


def test_a_lattice_has_no_pairs() -> None:
    lattice = np.stack(np.meshgrid(*[np.arange(8.0)] * 3), axis=-1).reshape(-1, 3)
    assert len(close_pairs(nearest(lattice), np.ones(512, np.bool_), false_share=0.05).first) == 0


def test_rows_that_do_not_count_are_in_no_pair() -> None:
    vectors = np.random.default_rng(0).normal(size=(300, 5))
    vectors[1] = vectors[0] + 1e-4
    counted = np.ones(300, np.bool_)
    counted[1] = False
    assert len(close_pairs(nearest(vectors), counted, false_share=0.05).first) == 0
