"""What the workers of the rules' benchmark answer becomes a row that cannot hide a wrong answer."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import rules, rules_invoked
from benchmarks.figures import Verdict
from benchmarks.results import Absent
from benchmarks.rules_report import RulesReport
from benchmarks.rules_results import command_row, invoke_rows, latency_row, look_row, slowdown_row, slowest

RUN = {"steps": 1000, "tensors": 200, "nan_step": 900, "vanished_step": 950}
EXPECTED = range(200, 300)


def rule(name: str, seconds: float = 0.1, **changes: object) -> dict[str, Any]:
    standing = {"status": "SILENT", "step": 999, "behind": 0, "findings": 0, "message": ""}
    return {"rule": name, "seconds": seconds, **standing, **changes}


def look(seconds: float = 2.0, **changes: object) -> dict[str, Any]:
    rules = [rule("ExplodingTensor", 0.3, status="FIRED", findings=1), rule("VanishingGradient"), rule("AllZero", 0.6)]
    found = [["ExplodingTensor", 900], ["VanishingGradient", 950], ["AllZero", 950]]
    return {"opening": 0.1, "seconds": seconds, "rules": rules, "found": found} | changes


def invoked(whole: float, fired: range = EXPECTED, repeats: int = 3) -> list[dict[str, Any]]:
    return [{"opening": whole / 4, "invoking": whole * 3 / 4, "fired": list(fired)}] * repeats


def slowdown(watched: float = 1.0, **changes: object) -> dict[str, Any]:
    times = {"stopped": [1.0] * 9, "again": [1.0] * 9, "watched": [watched] * 9, "steps": 50}
    return {**times, "watcher_cores": 0.03, "last_step": 999, "rules": [rule("AllZero")]} | changes


class TestAllRulesOverTheLongRun:
    def test_the_row_says_the_seconds_the_rules_and_the_time_a_step(self) -> None:
        row = look_row(RUN, [look(), look(), look()])
        assert (row.estimate.median, row.verdict) == (2.0, Verdict.MET)
        assert row.figures == "3 rules, 0 of them skipped; 2000 microseconds a step"

    def test_more_than_five_seconds_miss_the_bar(self) -> None:
        assert look_row(RUN, [look(5.5)] * 3).verdict is Verdict.MISSED

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"rules": [rule("AllZero", status="BROKEN", message="KeyError")]}, "AllZero is broken: KeyError"),
            ({"rules": [rule("AllZero", step=500)]}, "AllZero looked at steps up to 500 of 999 only"),
            ({"rules": [rule("AllZero", behind=3)]}, "AllZero looked at steps up to 999 of 999 only"),
            ({"rules": []}, "the watcher did not say how its rules stand"),
            ({"found": [["VanishingGradient", 950]]}, "ExplodingTensor did not find what was planted at step 900"),
            ({"found": [["ExplodingTensor", 900]]}, "VanishingGradient did not find what was planted at step 950"),
        ],
    )
    def test_seconds_of_rules_that_did_not_look_at_everything_are_void(
        self, changes: dict[str, Any], words: str
    ) -> None:
        row = look_row(RUN, [look(), look(**changes)])
        assert row.verdict is Verdict.VOID
        assert row.problems == (words,)

    def test_a_rule_that_lacks_something_is_counted_and_does_not_void_the_rest(self) -> None:
        rules = [*look()["rules"], rule("TreeDepth", step=-1, status="SKIPPED")]
        row = look_row(RUN, [look(rules=rules)])
        assert row.verdict is Verdict.MET
        assert row.figures.startswith("4 rules, 1 of them skipped")

    def test_the_slowest_rules_come_first_with_their_share_of_all(self) -> None:
        shares = slowest([look(), look(), look()], most=2)
        assert [(one.rule, round(one.share, 2)) for one in shares] == [("AllZero", 0.6), ("ExplodingTensor", 0.3)]

    def test_the_whole_command_is_told_without_a_bar(self) -> None:
        row = command_row([{"seconds": 3.0}])
        assert (row.estimate.median, row.verdict) == (3.0, Verdict.NO_BAR)


class TestOneRuleBesideThePeers:
    def test_the_first_of_our_rules_is_held_to_the_bar(self) -> None:
        ours = {"rules": {"VanishingGradient": invoked(0.01), "written as upstream's": invoked(0.1)}}
        rows = invoke_rows(ours, {"rules": {"its": invoked(0.9)}}, "smdebug 1", 300, EXPECTED)
        found = {row.key: (round(row.estimate.median, 1), row.verdict) for row in rows}
        assert found == {
            "own-0": (33.3, Verdict.NO_BAR),
            "invoke": (90.0, Verdict.MET),
            "own-1": (333.3, Verdict.NO_BAR),
            "invoke-1": (9.0, Verdict.NO_BAR),
        }

    @pytest.mark.parametrize(("ours", "theirs"), [(range(201, 300), EXPECTED), (EXPECTED, range(300))])
    def test_a_ratio_of_rules_that_disagree_is_void(self, ours: range, theirs: range) -> None:
        answers = {"rules": {"VanishingGradient": invoked(0.01, ours)}}
        peer = {"rules": {"its": invoked(0.9, theirs)}}
        row = invoke_rows(answers, peer, "smdebug 1", 300, EXPECTED)[1]
        assert row.verdict is Verdict.VOID
        assert "fired at other steps" in row.problems[0]

    def test_without_the_peer_only_our_own_time_is_told(self) -> None:
        rows = invoke_rows({"rules": {"VanishingGradient": invoked(0.03)}}, None, "", 300, EXPECTED)
        assert [(row.key, row.verdict) for row in rows] == [("own-0", Verdict.NO_BAR)]

    def test_the_command_and_the_training_mean_the_same_steps(self) -> None:
        assert rules.INVOKED_STEPS == rules_invoked.STEPS
        assert rules.VANISHED_FROM == rules_invoked.VANISHED_FROM


class TestBesideATrainingThatRuns:
    def test_the_worst_finding_is_held_to_the_bar(self) -> None:
        row = latency_row({"seconds": [0.4, 2.5, 0.3], "missed": []})
        assert (row.estimate.median, row.verdict) == (2.5, Verdict.MISSED)
        assert row.figures == "worst of 3; median 0.40 s"

    def test_findings_in_time_meet_it(self) -> None:
        assert latency_row({"seconds": [0.4, 1.9], "missed": []}).verdict is Verdict.MET

    @pytest.mark.parametrize("seconds", [[0.4], []])
    def test_a_plant_that_was_never_found_voids_the_rest(self, seconds: list[float]) -> None:
        row = latency_row({"seconds": seconds, "missed": ["ExplodingTensor at step 200"]})
        assert row.verdict is Verdict.VOID
        assert row.problems == ("never found: ExplodingTensor at step 200",)

    @pytest.mark.parametrize(("watched", "judged"), [(1.005, Verdict.MET), (1.03, Verdict.MISSED)])
    def test_stretches_beside_a_watcher_are_paired_with_those_beside_none(
        self, watched: float, judged: Verdict
    ) -> None:
        row = slowdown_row(slowdown(watched))
        assert row.estimate.median == pytest.approx(watched)
        assert row.verdict is judged
        assert row.figures == "20.00 ms a step; A/A 1.000; the watcher took 3.0 % of a core"

    def test_a_watcher_that_did_not_look_to_the_end_cost_nothing_to_speak_of(self) -> None:
        assert slowdown_row(slowdown(rules=[rule("AllZero", step=10)])).verdict is Verdict.VOID
        assert slowdown_row(slowdown(rules=[])).verdict is Verdict.VOID


def test_every_form_of_the_report_has_all_rows_and_every_problem() -> None:
    rows = [look_row(RUN, [look(found=[])]), Absent("training beside a watcher", "no such module")]
    report = RulesReport({"cores": "2"}, rows, slowest([look()]))
    for text in (report.text(), report.markdown()):
        assert "all rules over 1,000 steps x 200 tensors, seconds" in text
        assert "not measured: no such module" in text
        assert "did not find what was planted at step 900." in text
        assert "AllZero" in text
    content = report.json()
    assert [row["label"] for row in content["rows"]] == [row.label for row in rows]
    assert content["slowest"][0]["rule"] == "AllZero"
