from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.doubles.groups import Groups, best_first

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)))


@given(PAIRS)
def test_groups_are_what_pairs_connect_in_any_order(pairs: list[tuple[int, int]]) -> None:
    one, other = Groups(10), Groups(10)
    joined = sum(one.join(*pair) for pair in pairs)
    for pair in reversed(pairs):
        other.join(*reversed(pair))
    assert [one.of(row) for row in range(10)] == [other.of(row) for row in range(10)]
    assert len({one.of(row) for row in range(10)}) == 10 - joined


def test_held_out_samples_are_kept_before_training_samples() -> None:
    places = best_first(["unlabeled", "training", "test", "validation", "test", None])
    assert places.tolist() == [4, 3, 0, 2, 1, 5]
