"""What the workers of the labels' benchmark answer becomes rows that cannot hide a wrong answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.figures import Verdict
from benchmarks.labels import results
from benchmarks.labels.analyzing import parts_of
from benchmarks.labels.figures import mean_over_seeds
from benchmarks.labels.jobs import FULL, QUICK, finding_cases, mending_cases
from benchmarks.labels.report import markdown, text
from benchmarks.labels.results import BARS
from benchmarks.population.results import Judge
from benchmarks.results import Absent, StoreRow

JUDGE = Judge(bars=BARS)
DROPPED = {"dropped": 20, "dropped_wrong": 15}
CASE = {"setting": "MNIST", "kind": "uniform", "rate": 0.05}


def found(**changes: Any) -> dict[str, Any]:
    counts = {"wrong": 600, "expected": 590.0, "named": 594, "accepted": 500, "accepted_wrong": 495}
    precisions = {"precision": 0.99, "loss_precision": 0.98, "margin_precision": 0.97}
    times = {"training": 12.0, "looking": 3.0, "folds_seconds": 40.0}
    low = {"from": 0.0, "to": 0.1, "count": 90, "score": 0.01, "share": 0.0}
    high = {"from": 0.9, "to": 1.0, "count": 10, "score": 0.97, "share": 1.0}
    more = {"accepted_right": 490, "calibration_error": 0.004, "bins": [low, high]}
    return {**counts, **precisions, **times, **more, **DROPPED} | changes


CHANGED = "fix: digits, changes that were right"


def trained(clean: float, noisy: float, fixed: float) -> dict[str, Any]:
    counts = {"wrong": 120, "accepted": 100, "accepted_wrong": 99, "accepted_right": 99}
    dropped = {"dropped": 10, "dropped_wrong": 10}
    return {"kind": "uniform", "samples": 1000, "clean": clean, "noisy": noisy, "fixed": fixed, **counts, **dropped}


def untouched(changed: int) -> dict[str, Any]:
    nothing = dict.fromkeys(("wrong", "accepted", "accepted_wrong", "accepted_right", "dropped_wrong"), 0)
    accuracies = {"clean": 0.97, "noisy": 0.97, "fixed": 0.97}
    return {"kind": "none", "samples": 1000, **accuracies, **nothing, "dropped": changed}


def judged(rows: list[Any]) -> dict[str, Verdict]:
    return {row.label: row.verdict for row in rows if isinstance(row, StoreRow) and row.bar is not None}


def kept(rows: list[Any]) -> bool:
    return set(judged(rows).values()) == {Verdict.MET}


class TestFinding:
    def test_every_bar_is_held(self) -> None:
        rows = results.finding_rows(CASE, [found()] * 3, JUDGE)
        assert kept(rows)
        assert [row.key for row in rows] == ["found-MNIST-uniform", "above", "above", "named-MNIST", "", "accepted"]

    def test_the_lowest_seed_counts(self) -> None:
        rows = results.finding_rows(CASE, [found(), found(precision=0.984)], JUDGE)
        assert rows[0].verdict is Verdict.MISSED
        assert rows[0].estimate.median == 0.984

    def test_a_peer_that_is_better_in_one_seed_is_told(self) -> None:
        rows = results.finding_rows(CASE, [found(), found(margin_precision=0.995)], JUDGE)
        assert [row.verdict for row in rows if row.key == "above"] == [Verdict.MET, Verdict.MISSED]

    def test_a_peer_that_is_as_good_is_not_beaten(self) -> None:
        rows = results.finding_rows(CASE, [found(loss_precision=0.99)], JUDGE)
        assert rows[1].verdict is Verdict.MISSED

    def test_a_peer_that_could_not_be_asked_stands_there_with_the_reason(self) -> None:
        rows = results.finding_rows(CASE, [found(margin_precision="no network")] * 3, JUDGE)
        assert Absent("mislabeled: MNIST, 5% uniform, seeds above cleanlab", "no network") in rows

    def test_peers_that_were_left_out_have_no_rows(self) -> None:
        alone = {name: value for name, value in found().items() if name not in ("loss_precision", "margin_precision")}
        assert "above" not in {row.key for row in results.finding_rows(CASE, [alone], JUDGE)}

    def test_wrong_corrections_miss_their_bar(self) -> None:
        rows = results.finding_rows(CASE, [found(accepted_wrong=400)], JUDGE)
        assert rows[-1].verdict is Verdict.MISSED

    def test_dropped_samples_are_told_with_the_corrections(self) -> None:
        rows = results.finding_rows(CASE, [found()] * 3, JUDGE)
        assert rows[-1].figures.endswith("60 dropped, 45 of them wrong")

    def test_no_correction_is_not_a_perfect_one(self) -> None:
        nothing = found(accepted=0, accepted_wrong=0, accepted_right=0)
        assert isinstance(results.finding_rows(CASE, [nothing], JUDGE)[-1], Absent)

    def test_scores_of_all_seeds_are_told_by_range(self) -> None:
        assert results.reliability_lines([found(), found()]) == [
            ("0.0 - 0.1", "180", "0.010", "0.000", "[0.000, 0.021]"),
            ("0.9 - 1.0", "20", "0.970", "1.000", "[0.839, 1.000]"),
        ]


class TestMeans:
    def test_one_seed_decides_nothing(self) -> None:
        assert mean_over_seeds(np.array([-0.1])).high == np.inf

    def test_means_have_students_interval(self) -> None:
        estimate = mean_over_seeds(np.array([1.0, 2.0, 3.0]))
        assert (estimate.low, estimate.high) == pytest.approx((2 - 2.484, 2 + 2.484), abs=1e-3)


class TestMending:
    def test_what_was_right_touched_and_gained_is_held_to_its_bars(self) -> None:
        answers = [trained(0.97, 0.93 + shift, 0.965) for shift in (0.0, 0.001, 0.002)]
        rows = results.mending_rows("digits", [*answers, untouched(0)], JUDGE)
        assert kept(rows)
        assert [row.key for row in rows if isinstance(row, StoreRow)] == ["changed", "touched", "unharmed"]

    def test_wrong_changes_miss_their_bar(self) -> None:
        bad = trained(0.97, 0.93, 0.965) | {"accepted_right": 80, "dropped_wrong": 5}
        assert judged(results.mending_rows("digits", [bad, untouched(0)], JUDGE))[CHANGED] is Verdict.MISSED

    def test_clean_data_that_are_touched_miss_their_bar(self) -> None:
        rows = results.mending_rows("digits", [trained(0.97, 0.93, 0.965), untouched(11)], JUDGE)
        assert judged(rows)["fix: digits, clean, share touched"] is Verdict.MISSED

    def test_no_change_is_not_a_perfect_one(self) -> None:
        nothing = trained(0.97, 0.93, 0.93) | dict.fromkeys(
            ("accepted", "accepted_right", "dropped", "dropped_wrong"), 0
        )
        assert Absent(CHANGED, "nothing was changed") in results.mending_rows("digits", [nothing, untouched(0)], JUDGE)

    def test_harm_beyond_the_noise_of_seeds_is_a_miss_and_less_is_not(self) -> None:
        harm = [trained(0.98, 0.97, 0.96 + shift) for shift in (0.0, 0.001, 0.002)]
        noise = [trained(0.98, 0.97, 0.97 + shift) for shift in (-0.01, 0.002, 0.001)]
        for answers, verdict in ((harm, Verdict.MISSED), (noise, Verdict.WITHIN_NOISE)):
            rows = results.mending_rows("digits", [*answers, untouched(0)], JUDGE)
            assert judged(rows)["fix: digits, points gained"] is verdict

    def test_a_peer_is_told_beside_ours(self) -> None:
        peer = {"peer": {"pruned": 200, "pruned_wrong": 100, "accuracy": 0.95}}
        answers = [trained(0.97, 0.93 + shift, 0.965) | peer for shift in (0.0, 0.001)]
        rows = results.mending_rows("digits", [*answers, untouched(0) | peer], JUDGE)
        told = [row.figures for row in rows if isinstance(row, StoreRow)]
        assert "cleanlab prunes 400, 50.0% wrong" in told[0]
        assert "cleanlab prunes 20.0%" in told[1]
        assert "cleanlab's pruning" in told[2]


class TestVerdicts:
    def test_false_verdicts_are_counted_and_more_than_one_in_twenty_is_a_miss(self) -> None:
        none = "no difference found"
        [row] = results.verdict_rows([none] * 96 + ["better", "better", "worse", none], JUDGE)
        assert (row.verdict, row.figures) == (Verdict.MET, "100 trials of 5 repeats; 2 better, 1 worse")
        [row] = results.verdict_rows([none] * 88 + ["better"] * 12, JUDGE)
        assert row.verdict is Verdict.MISSED


class TestSlices:
    def test_bars_are_for_slices_that_add_up(self) -> None:
        one = {"found": 19, "reported": 20, "off_target": 0, "cpu_seconds": 4.0}
        clean = [{"false": 0, "heavy": False}] * 100
        rows = results.slice_rows({"add": [one] * 20, "worst": [{**one, "found": 10}] * 20}, clean, JUDGE)
        assert kept(rows)
        assert len(judged(rows)) == 3

    def test_one_bad_table_and_false_slices_are_misses(self) -> None:
        one = {"found": 19, "reported": 20, "off_target": 0, "cpu_seconds": 4.0}
        clean = [{"false": 6, "heavy": True}]
        rows = results.slice_rows({"add": [one, {**one, "found": 14}]}, clean, JUDGE)
        assert [row.verdict for row in rows] == [Verdict.MISSED, Verdict.MISSED, Verdict.MISSED]


MADE = {"data": "MNIST", "samples": 60_000, "evaluating": 20.0}
MAPPED, SKIPPED = {"part": "map", "seconds": 30.0, "reason": ""}, {"part": "to label", "seconds": 0.0, "reason": "none"}
TIMES = {"seconds": 80.0, "cpu_seconds": 150.0}
ANALYZED = {**TIMES, "peak_mb": 1500.0, "code": 0, "progress": 7, "parts": [MAPPED, SKIPPED], "last": ""}


class TestWhole:
    def test_time_memory_and_progress_are_held(self) -> None:
        rows = results.whole_rows(MADE, ANALYZED, JUDGE)
        assert kept(rows)
        assert rows[0].figures.startswith("150 s of CPU; map 30")
        assert "does not apply: to label" in rows[0].figures

    def test_silence_is_a_miss_and_a_failed_command_is_void(self) -> None:
        rows = results.whole_rows(MADE, ANALYZED | {"progress": 0, "code": 1, "last": "out of memory"}, JUDGE)
        assert [row.verdict for row in rows] == [Verdict.VOID, Verdict.VOID, Verdict.MISSED]
        assert "out of memory" in rows[0].problems[0]

    def test_parts_are_the_lines_at_the_margin(self) -> None:
        lines = [(1.0, "run  evaluation 0\n"), (5.0, "\n"), (5.0, "map\n"), (5.0, "  training: 10 samples\n")]
        lines += [(6.5, "batches  does not apply: nobody watched\n"), (7.0, "kept in  there\n")]
        assert parts_of(lines) == [
            {"part": "opening", "seconds": 1.0, "reason": ""},
            {"part": "map", "seconds": 4.0, "reason": ""},
            {"part": "batches", "seconds": 1.5, "reason": "nobody watched"},
        ]


class TestJobs:
    def test_every_case_of_the_bars_is_measured(self) -> None:
        keys = {f"found-{one['setting']}-{one['kind']}" for one in finding_cases(mnist=True)}
        assert keys == {key for key in BARS if key.startswith("found-")}
        assert {one["rate"] for one in finding_cases(mnist=False)} == {0.05, 0.10}
        assert {one["setting"] for one in finding_cases(mnist=False)} == {"digits"}

    def test_each_data_set_is_mended_with_and_without_wrong_labels(self) -> None:
        cases = mending_cases(FULL, ["digits", "letters"])
        assert {(one["setting"], one["kind"]) for one in cases} == {
            (setting, kind) for setting in ("digits", "letters") for kind in ("none", "uniform", "confusable")
        }
        assert {one["seed"] for one in cases if one["setting"] == "digits"} == set(range(10))
        assert {one["seed"] for one in mending_cases(QUICK, ["letters"])} == {0}


class TestReport:
    @pytest.mark.parametrize("render", [text, markdown])
    def test_it_has_every_row_and_the_reliability(self, render: Any) -> None:
        rows = [*results.finding_rows(CASE, [found()], JUDGE), Absent("fix: MNIST", "not found")]
        told = render({"cores": "2"}, rows, {"MNIST": results.reliability_lines([found()])}, ["A note."])
        assert "A note." in told
        assert "fix: MNIST" in told
        assert "not measured: not found" in told
        assert "0.9 - 1.0" in told
        assert "0.985" in told
