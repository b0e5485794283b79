"""What the workers answer becomes a row that cannot hide a loss."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.cases import OURS, case
from benchmarks.figures import Verdict
from benchmarks.report import Report
from benchmarks.results import Absent, overhead_row, store_rows

ACCURATE = {"compared": 90, "missing": 0, "inexact": 0, "worst_error": 1e-7, "worst_share_of_bound": 0.1}


def answer(**changes: object) -> dict[str, Any]:
    triples = {
        "bare": [0.010] * 20,
        "again": [0.010] * 20,
        "captured": [0.0105] * 20,
        "expected_steps": 60,
        "recorded_steps": 60,
        "same_weights": True,
        "accuracy": ACCURATE,
    }
    blocks = {"wall_ratios": [1.06], "cpu_ratios": [1.2], "expected_steps": 40, "recorded_steps": 40}
    return {"version": "1", "describes": "statistics", "triples": triples | changes, "blocks": blocks}


def test_a_row_carries_the_ratio_beside_what_it_cost_and_kept() -> None:
    row = overhead_row(case("cnn-statistics"), OURS, answer())
    assert row.ratio.median == pytest.approx(1.05)
    assert (row.sustained_ratio, row.cpu_ratio, row.accuracy, row.lost) == (1.06, 1.2, "1e-07", "0 + 0")
    assert row.verdict is Verdict.MET


@pytest.mark.parametrize(
    "changes",
    [
        {"recorded_steps": 59},
        {"same_weights": False},
        {"accuracy": ACCURATE | {"inexact": 1}},
        {"accuracy": ACCURATE | {"worst_share_of_bound": 1.5}},
        {"accuracy": ACCURATE | {"compared": 0}},
    ],
)
def test_a_ratio_bought_by_losing_or_spoiling_records_is_void(changes: dict[str, Any]) -> None:
    row = overhead_row(case("cnn-statistics"), OURS, answer(**changes))
    assert row.verdict is Verdict.VOID
    assert row.problems


def test_peers_are_not_held_to_our_bar() -> None:
    row = overhead_row(case("cnn-statistics"), "smdebug", answer(captured=[0.03] * 20))
    assert row.verdict is Verdict.NO_BAR
    assert row.label.startswith("  smdebug")


def test_the_store_is_compared_with_a_plain_write_and_with_each_peer() -> None:
    def writes(rate: float) -> dict[str, Any]:
        return {"version": "1", "tool": [rate] * 3, "plain": [4000.0] * 3, "expected_steps": 9, "recorded_steps": 9}

    rows = store_rows({("writes", OURS): writes(3000.0), ("writes", "smdebug"): writes(1000.0)})
    found = {row.key: (row.estimate.median, row.verdict) for row in rows}
    assert found == {
        "write-plain": (0.75, Verdict.MET),
        "write-plain-smdebug": (0.25, Verdict.NO_BAR),
        "write-smdebug": (3.0, Verdict.MET),
    }


def test_what_was_not_measured_stands_in_every_form_of_the_report() -> None:
    report = Report({"cores": "2"}, [Absent("CNN", "no such module")], [])
    assert "not measured: no such module" in report.text()
    assert "not measured: no such module" in report.markdown()
    assert report.json()["overhead"] == [{"label": "CNN", "reason": "no such module"}]
