"""What label scores are worth becomes rows that no bad case hides in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.figures import Verdict
from benchmarks.labels import scored
from benchmarks.labels.jobs import FULL, QUICK, scoring_cases
from benchmarks.labels.picture import reliability_svg
from benchmarks.labels.planting import MOST_ONE_SIDED, ONE_SIDED, plant
from benchmarks.labels.sets import SETS, nearest_classes
from benchmarks.population.results import Judge
from benchmarks.results import Absent, StoreRow

JUDGE = Judge(bars=scored.BARS)


def case(**changes: Any) -> dict[str, Any]:
    found = {"setting": "letters", "epochs": 4, "kind": "uniform", "seed": 1, "samples": 6_000, "wrong": 300}
    precisions = {"ours": 0.9, "loss": 0.8, "visits": 0.7, "votes": 0.7, "ridge": 0.75}
    told = {"told": True, "reason": "", "expected": 310.0, "low": 250.0, "high": 360.0}
    bins = [
        {"from": 0.0, "to": 0.1, "count": 5_700, "score": 0.01, "share": 0.01},
        {"from": 0.9, "to": 1.0, "count": 300, "score": 0.95, "share": 0.97},
    ]
    fixed = {"relabelled": 200, "relabelled_right": 196, "dropped": 2, "dropped_wrong": 2}
    return {**found, "precisions": precisions, **told, "bins": bins, **fixed} | changes


def clean(**changes: Any) -> dict[str, Any]:
    nothing = {"relabelled": 0, "relabelled_right": 0, "dropped": 0, "dropped_wrong": 0}
    return case(kind="none", wrong=0, expected=12.0, bins=[], **nothing) | changes


def verdicts(answers: list[dict[str, Any]]) -> dict[str, Verdict]:
    rows = scored.score_rows("held back", answers, JUDGE)
    return {row.key: row.verdict for row in rows if isinstance(row, StoreRow) and row.bar is not None}


def test_every_bar_is_judged_and_can_be_kept() -> None:
    found = verdicts([case(), clean()])
    assert set(found) == set(scored.BARS)
    assert set(found.values()) == {Verdict.MET}


@pytest.mark.parametrize(
    ("bad", "key"),
    [
        (case(precisions={"ours": 0.9, "loss": 0.8, "votes": 0.93}), "scores-best"),
        (case(precisions={"ours": 0.9, "loss": 0.915}), "scores-loss"),
        (case(expected=14.0), "scores-number"),
        (case(low=0.0, high=100.0), "scores-interval"),
        (clean(expected=250.0), "scores-clean"),
        (clean(dropped=523), "scores-touched"),
        (case(relabelled_right=150), "scores-relabelled"),
        (case(bins=[{"from": 0.2, "to": 0.3, "count": 500, "score": 0.25, "share": 0.65}]), "scores-bins"),
    ],
)
def test_one_bad_case_misses_its_bar(bad: dict[str, Any], key: str) -> None:
    assert verdicts([bad, clean() if bad["wrong"] else case()])[key] is Verdict.MISSED


def test_cases_without_a_number_count_for_the_order_alone() -> None:
    silent = case(told=False, reason="too few") | {"bins": []}
    del silent["expected"], silent["low"], silent["high"]
    rows = scored.score_rows("held back", [silent, clean(told=False)], JUDGE)
    assert any(isinstance(row, Absent) and "no case had a number" in row.reason for row in rows)
    assert isinstance(rows[0], StoreRow)


def test_each_set_and_kind_has_a_line() -> None:
    lines = scored.table_by_set([case(), case(seed=2), clean()])
    assert lines[0] == ("letters", "none", "-", "-", "-", "1 of 1", "12 of 0")
    assert lines[1] == ("letters", "uniform", "0.900", "0.800", "0.800", "2 of 2", "620 of 600")


def test_the_curve_joins_ranges_and_is_drawn_with_a_dot_for_each() -> None:
    lines = scored.curve([case(), case()])
    assert [one["count"] for one in lines] == [11_400, 600]
    assert reliability_svg(lines, "Scores").count("<circle") == 2


def test_a_third_of_the_sets_is_held_back() -> None:
    held = [name for name in SETS if SETS[name].held_back]
    assert len(held) == 10
    assert len(SETS) == 29
    assert "Fashion-MNIST, hidden" in held
    assert "digits" not in held


def test_all_kinds_and_lengths_are_asked_for() -> None:
    cases = scoring_cases(FULL, ["digits", "letters"])
    assert len(cases) == 2 * 3 * 4 * 3
    assert len(scoring_cases(QUICK, ["digits"])) == 4
    assert [one["kind"] for one in scoring_cases(QUICK, ["spam"])] == ["none", "confusable", "one-sided"]


def test_one_sided_mistakes_are_of_the_largest_class_and_spare_most_of_it() -> None:
    right = np.repeat([0, 1, 2], [100, 300, 200])
    planted = plant(right, ONE_SIDED, 0.5, 0, (1, 2, 0))
    assert set(right[planted.wrong]) == {1}
    assert set(planted.labels[planted.wrong]) == {2}
    assert planted.wrong.sum() == MOST_ONE_SIDED * 300


def test_a_class_is_taken_for_the_one_that_lies_nearest() -> None:
    x = np.array([[0.0], [1.0], [5.0]] * 4, np.float32)
    assert nearest_classes(x, np.array([0, 1, 2] * 4)) == (1, 0, 1)
