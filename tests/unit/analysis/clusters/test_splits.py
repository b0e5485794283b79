"""Splits of columns, their exact test and the bound for all of them together."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact
from sklearn.metrics import mutual_info_score

from cutaway.analysis.clusters.splits import FALSE_ALARMS, Split, compare_splits, splits_of
from cutaway.analysis.statistics.false_shares import holm


def _split(yes: np.ndarray) -> Split:
    return Split("flag", "yes-no", None, np.ones(len(yes), bool), yes)


def test_numbers_are_cut_at_quantiles_and_equal_cuts_are_asked_once() -> None:
    many = list(splits_of("level", pa.chunked_array([np.arange(100.0)])))
    assert [int(split.yes.sum()) for split in many] == [90, 50, 10]
    few = list(splits_of("level", pa.chunked_array([np.repeat([0, 1], [70, 30])])))
    assert [int(split.yes.sum()) for split in few] == [30]


def test_categories_give_a_split_for_each_common_value() -> None:
    column = pa.chunked_array([["a"] * 20 + ["b"] * 10 + ["c"] * 4 + [None] * 3])
    found = list(splits_of("letter", column))
    assert [(split.value, int(split.yes.sum()), int(split.known.sum())) for split in found] == [
        ("a", 20, 34),
        ("b", 10, 34),
    ]


@pytest.mark.parametrize(("inside", "outside"), [(18, 12), (2, 60), (25, 20), (0, 70)])
def test_the_chance_is_twice_the_smaller_tail_of_fishers_exact_test(inside: int, outside: int) -> None:
    labels = np.repeat([0, 1], [30, 170])
    yes = np.zeros(200, bool)
    yes[:inside] = True
    yes[30 : 30 + outside] = True
    chance = compare_splits([_split(yes)], labels, 2)[0].chances[0]
    cells = [[inside, 30 - inside], [outside, 170 - outside]]
    tails = [fisher_exact(cells, alternative=side).pvalue for side in ("less", "greater")]
    assert chance == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-6)


def test_what_is_near_to_expected_is_not_worked_out_and_never_differs() -> None:
    labels = np.repeat([0, 1], 50)
    even = compare_splits([_split(np.arange(100) % 2 == 0)], labels, 2)[0]
    assert even.chances.tolist() == [1.0, 1.0]
    assert not even.differs.any()


def test_the_score_is_the_share_of_doubt_that_a_split_settles() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 500)
    yes = rng.random(500) < 0.2 + 0.3 * (labels == 1)
    found = compare_splits([_split(yes)], labels, 3)[0]
    for cluster in range(3):
        inside = labels == cluster
        assert found.score[cluster] == pytest.approx(
            mutual_info_score(inside, yes) / mutual_info_score(inside, inside), abs=1e-9
        )
    assert compare_splits([_split(labels == 1)], labels, 3)[0].score[1] == pytest.approx(1.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_bound_for_all_together_is_holms(chances: list[float]) -> None:
    found = holm(chances) <= FALSE_ALARMS
    left, expected = len(chances), set()
    for place in sorted(range(len(chances)), key=lambda one: chances[one]):
        if chances[place] * left > FALSE_ALARMS:
            break
        expected.add(place)
        left -= 1
    assert set(np.flatnonzero(found)) == expected


def test_more_questions_need_a_larger_difference() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [40, 160])
    yes = np.zeros(200, bool)
    yes[:18], yes[40:72] = True, True
    alone = compare_splits([_split(yes)], labels, 2)[0]
    among = compare_splits([_split(yes), *(_split(rng.random(200) < 0.5) for _ in range(300))], labels, 2)[0]
    assert alone.differs[0]
    assert not among.differs[0]


def test_a_cluster_without_known_values_is_no_trouble() -> None:
    known = np.repeat([True, False], 20)
    split = Split("flag", "yes-no", None, known, known & (np.arange(40) % 3 == 0))
    found = compare_splits([split], np.repeat([0, 1], 20), 2)[0]
    assert np.isnan(found.inside[1])
    assert not found.differs.any()


def test_no_splits_give_nothing() -> None:
    assert compare_splits([], np.zeros(3, np.int64), 1) == []
