"""Tests on samples: the right rows, values and intervals, and no pass for what could not be judged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis import Population
from cutaway.analysis.samples import Samples
from cutaway.analysis.slice_tests import Verdict, parse_test, run_tests
from cutaway.analysis.slice_tests.running import figure
from cutaway.analysis.statistics.intervals import share_interval
from tests.unit.analysis.kinds import KINDS, evaluated_kind


def make(rows: int = 100, **columns: Any) -> Samples:
    """Samples of which the last half is validation, with whatever columns are given."""
    half = rows // 2
    table = {
        "sample": [str(row) for row in range(rows)],
        "subset": ["training"] * half + ["validation"] * (rows - half),
    }
    return Samples(pa.table({**table, **columns}), np.zeros((rows, 2), np.float32))


def only(samples: Samples, line: str, *, confident: bool = False) -> Any:
    [result] = run_tests(samples, [parse_test(line)], confident=confident)
    return result


@pytest.fixture
def samples() -> Samples:
    rows = np.arange(100)
    return make(
        correct=[bool(row % 10) for row in rows],
        loss=(rows / 100).tolist(),
        label=[str(row % 4) for row in rows],
        **{
            "metadata.size": rows.tolist(),
            "metadata.odd": [bool(row % 2) for row in rows],
            "metric.size": (rows / 2).tolist(),
            "metric.margin": (rows / 100 - 0.5).tolist(),
            "metadata.a=b": rows.tolist(),
        },
    )


class TestWhichSamples:
    def test_without_of_the_held_out_subsets_count(self, samples: Samples) -> None:
        result = only(samples, "loss at least 0.5")
        assert (result.count, result.subsets) == (50, ("validation",))
        assert result.value == pytest.approx(0.745)

    def test_where_nothing_is_held_out_all_count(self) -> None:
        result = only(Samples.from_arrays(np.zeros((30, 2)), columns={"loss": [1.0] * 30}), "loss at most 1")
        assert (result.passed, result.count, result.subsets) == (True, 30, ("samples",))
        assert result.reason.endswith("Nothing is held out here, so all samples count.")

    def test_of_names_subsets(self, samples: Samples) -> None:
        assert only(samples, "loss of training at most 1").count == 50
        assert only(samples, "loss of all at most 1").count == 100
        assert only(samples, "loss of training and validation at most 1").count == 100

    def test_conditions_choose_rows_and_all_must_hold(self, samples: Samples) -> None:
        result = only(samples, "loss where metadata.size > 59 and odd = yes at most 1")
        assert (result.count, result.value) == (20, pytest.approx(0.8))

    def test_a_name_alone_is_that_of_metadata_or_of_a_metric(self, samples: Samples) -> None:
        assert only(samples, "margin where odd = yes at least 0").count == 25
        assert only(samples, "loss where margin < 0.3 at most 1").count == 30

    def test_a_name_that_holds_an_operator_is_understood(self, samples: Samples) -> None:
        assert only(samples, "loss where metadata.a=b > 69 at most 1").count == 30


class TestValues:
    def test_accuracy_is_a_share_with_its_interval(self, samples: Samples) -> None:
        result = only(samples, "accuracy of all at least 90 %")
        low, high = share_interval([90], [100])
        assert (result.verdict, result.value, result.count) == (Verdict.PASSED, 0.9, 100)
        assert (result.low, result.high) == (low[0], high[0])
        assert not result.confident

    def test_error_is_the_other_share_to_the_last_digit(self, samples: Samples) -> None:
        result = only(samples, "error of all at most 10 %")
        assert (result.passed, result.value) == (True, 0.1)

    def test_a_column_of_nothing_but_zero_and_one_is_a_share_too(self) -> None:
        result = only(make(100, **{"metric.hit": [1.0] * 100}), "metric.hit of all at least 0.99", confident=True)
        assert (result.verdict, result.high) == (Verdict.FAILED, 1.0)
        assert result.low == pytest.approx(0.963, abs=1e-3)

    def test_of_other_columns_the_mean_has_the_interval_of_student(self, samples: Samples) -> None:
        result = only(samples, "loss of all at most 0.5")
        half = 1.9842 * np.std(np.arange(100) / 100, ddof=1) / 10
        assert (result.low, result.high) == (
            pytest.approx(0.495 - half, abs=1e-4),
            pytest.approx(0.495 + half, abs=1e-4),
        )

    def test_the_median_lies_between_two_ranks_whatever_the_tail(self) -> None:
        values = np.arange(100.0)
        values[-5:] = 1e9
        result = only(make(loss=values), "median loss of all at most 50")
        assert (result.passed, result.value) == (True, 49.5)
        assert (result.low, result.high) == (40, 60)

    def test_the_interval_of_the_median_holds_it_nineteen_times_of_twenty(self) -> None:
        chance = np.random.default_rng(0)
        test = parse_test("median loss of all at most 1")
        results = [run_tests(make(60, loss=chance.exponential(size=60)), [test])[0] for _ in range(400)]
        held = np.mean([one.low <= math.log(2) <= one.high for one in results])
        assert 0.92 <= held <= 0.99

    def test_an_infinite_loss_is_not_left_out(self) -> None:
        losses = [0.1] * 99 + [math.inf]
        assert only(make(loss=losses), "loss at most 5").verdict is Verdict.FAILED


class TestVerdicts:
    @pytest.mark.parametrize(
        ("line", "plain", "confident"),
        [
            ("accuracy of all at least 0.8", Verdict.PASSED, Verdict.PASSED),
            ("accuracy of all at least 0.9", Verdict.PASSED, Verdict.FAILED),
            ("accuracy of all at least 0.91", Verdict.FAILED, Verdict.FAILED),
            ("error of all at most 0.2", Verdict.PASSED, Verdict.PASSED),
            ("error of all at most 0.1", Verdict.PASSED, Verdict.FAILED),
            ("loss of all at most 0.6", Verdict.PASSED, Verdict.PASSED),
            ("loss of all at most 0.5", Verdict.PASSED, Verdict.FAILED),
        ],
    )
    def test_the_value_decides_or_the_whole_interval_does(
        self, samples: Samples, line: str, plain: Verdict, confident: Verdict
    ) -> None:
        assert only(samples, line).verdict is plain
        assert only(samples, line, confident=True).verdict is confident

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("loss where thikness < 2 at most 1", "There is no column 'thikness'"),
            ("loss where sise < 2 at most 1", "Did you mean 'size'"),
            ("los at most 1", "There is no metric 'los'. Did you mean 'loss'"),
            ("loss of tset at most 1", "There is no subset 'tset'"),
            ("size at most 1", "'size' may be metadata.size or metric.size"),
            ("loss where size > 1 at most 1", "'size' may be metadata.size or metric.size"),
            ("label at most 1", "holds string, but numbers are needed"),
            ("loss where metadata.size = big at most 1", "compares it with 'big'"),
            ("loss where cluster 3 at most 1", "no column 'cluster' yet"),
            ("loss where metadata.size > 95 at most 1", "The slice has 4 samples, but 20 are needed"),
            ("loss where metadata.size > 98 at most 1", "The slice has 1 sample, but 20 are needed"),
            ("loss where metadata.size > 500 at most 1", "The slice has 0 samples, but 20 are needed"),
            ("loss at most 1 with at least 51 samples", "The slice has 50 samples, but 51 are needed"),
        ],
    )
    def test_what_cannot_be_judged_is_no_pass_and_says_why(self, samples: Samples, line: str, said: str) -> None:
        result = only(samples, line)
        assert result.verdict is Verdict.NOT_JUDGED
        assert not result.passed
        assert said in result.reason

    def test_so_few_samples_as_a_test_allows_are_enough(self, samples: Samples) -> None:
        line = "loss where metadata.size > 95 at most 1 with at least 4 samples"
        assert only(samples, line).passed
        single = "loss where metadata.size > 98 at most 1 with at least 1 samples"
        assert only(samples, single).passed
        assert only(samples, single, confident=True).verdict is Verdict.FAILED

    def test_one_bad_test_costs_the_others_nothing(self, samples: Samples) -> None:
        tests = [parse_test(line) for line in ("nothing at most 1", "loss at most 1")]
        assert [one.verdict for one in run_tests(samples, tests)] == [Verdict.NOT_JUDGED, Verdict.PASSED]

    def test_a_figure_never_looks_as_if_it_were_on_the_other_side(self) -> None:
        losses = [0.30000001] * 100
        assert "0.30000001 (95 %" in only(make(loss=losses), "loss at most 0.3").reason
        assert figure(parse_test("loss at most 0.3"), math.nan) == "nan"


class TestMissingValues:
    def test_a_sample_without_an_answer_counts_as_wrong(self) -> None:
        right = [True] * 90 + [None] * 10
        result = only(make(correct=right, label=["a"] * 100), "accuracy of validation at least 0.8")
        assert (result.value, result.count) == (0.8, 50)

    def test_so_does_a_sample_that_could_not_be_evaluated(self) -> None:
        right, failed = [True] * 90 + [None] * 10, [None] * 90 + ["broken file"] * 10
        samples = make(correct=right, label=["a"] * 90 + [None] * 10, error=failed)
        assert only(samples, "accuracy at least 0.9").value == 0.8
        assert only(samples, "error at most 0.1").value == 0.2

    def test_a_sample_without_a_label_counts_not_at_all(self) -> None:
        right = [True] * 90 + [None] * 10
        result = only(make(correct=right, label=["a"] * 90 + [None] * 10), "accuracy at least 0.9")
        assert (result.value, result.count, result.missing) == (1.0, 40, 0)

    def test_a_slice_of_which_much_has_no_loss_is_not_judged(self) -> None:
        losses = [0.1] * 90 + [math.nan] * 10
        result = only(make(loss=losses), "loss at most 1")
        assert result.verdict is Verdict.NOT_JUDGED
        assert "10 of 50 samples of the slice have no loss" in result.reason
        left_out = only(make(loss=losses), "loss where loss > -1 at most 1")
        assert (left_out.passed, left_out.count) == (True, 40)

    def test_one_in_a_hundred_may_have_none(self) -> None:
        result = only(make(loss=[0.1] * 99 + [None]), "loss of all at most 1")
        assert (result.passed, result.count, result.missing) == (True, 99, 1)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_evaluation_is_judged_or_says_why_not(name: str, tmp_path: Any) -> None:
    pytest.importorskip("torch")
    evaluated_kind(name, tmp_path / "run")
    population = Population.open(tmp_path / "run")
    tests = [parse_test(line) for line in ("accuracy at least 0", "loss at most 1e9", "median loss of all at most 1e9")]
    for result in run_tests(population.samples, tests):
        assert result.passed or (result.verdict is Verdict.NOT_JUDGED and result.reason.endswith("."))
