from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from cutaway.analysis.statistics.false_shares import false_shares, holm

EXPECTED = npst.arrays(np.float64, st.integers(0, 30), elements=st.floats(0, 100))


@given(EXPECTED)
def test_a_better_candidate_never_has_a_larger_share(expected: np.ndarray) -> None:
    shares = false_shares(expected)
    order = np.argsort(expected, kind="stable")
    assert (np.diff(shares[order]) >= 0).all()
    assert ((shares >= 0) & (shares <= 1)).all()


@given(EXPECTED, st.randoms(use_true_random=False))
def test_the_order_of_candidates_does_not_matter(expected: np.ndarray, chance: object) -> None:
    order = np.array(sorted(range(len(expected)), key=lambda _: chance.random()), np.int64)  # type: ignore[attr-defined]
    assert np.allclose(false_shares(expected)[order], false_shares(expected[order]))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_corrected_chances_are_never_smaller_and_keep_their_order(chances: list[float]) -> None:
    found = holm(chances)
    assert (found >= np.array(chances) - 1e-12).all()
    assert (found <= 1).all()
    order = np.argsort(chances, kind="stable")
    assert (np.diff(found[order]) >= -1e-12).all()


def test_nothing_corrected_is_nothing() -> None:
    assert holm([]).shape == (0,)


def test_one_chance_alone_stays_as_it_is() -> None:
    assert holm([0.03]).tolist() == [0.03]
