"""`check` as a whole: what is healthy stays silent, the first diagnosis is the cause, dependents are skipped."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.dataset import Binder, Dataset, PreprocessResponse
from cutaway.errors import ConfigurationError
from cutaway.evaluation.check import check
from cutaway.evaluation.check_report import CAUSES, CheckReport, CheckStatus
from tests.unit.evaluation.bindings import CLASSES, LABELS, animals, bright_rows, image, one_hot


def codes(report: CheckReport, severity: str = "error") -> list[str]:
    return [one.code for one in report.of(severity)]


def status(report: CheckReport, kind: str, name: str) -> CheckStatus:
    return next(row.status for row in report.rows if (row.kind, row.name) == (kind, name))


def test_a_healthy_data_set_and_model_give_no_finding() -> None:
    report = check(animals(), bright_rows())
    assert report.ok
    assert report.findings == ()
    assert {row.status for row in report.rows} == {CheckStatus.PASS}
    assert report.subsets == {"training": 60, "validation": 30}
    assert report.compared == {"training": 60, "validation": 30}
    assert report.classes["training"] == {"cat": 20, "dog": 20, "owl": 20}


def test_a_row_has_shape_dtype_and_time_of_its_function() -> None:
    report = check(animals())
    row = next(row for row in report.rows if row.name == "image")
    assert (row.kind, row.shape, row.dtype) == ("input", (6, 6, 1), "float32")
    assert row.seconds is not None
    assert row.seconds > 0


def test_a_data_set_without_a_model_is_valid_and_says_that_no_model_was_checked() -> None:
    report = check(animals())
    assert report.ok
    assert codes(report, "info") == ["model-none"]
    assert status(report, "model", "none") is CheckStatus.SKIP


def test_the_same_seed_looks_at_the_same_samples() -> None:
    def asked_with(seed: int) -> list[tuple[str, int]]:
        asked: list[tuple[str, int]] = []

        def encode(subset: str, index: int) -> np.ndarray:
            asked.append((subset, index))
            return image(subset, index)

        check(animals(encode_image=encode, lengths={"training": 500, "validation": 30}), seed=seed, scan_seconds=0)
        return asked

    assert asked_with(1) == asked_with(1)
    assert asked_with(1) != asked_with(2)
    assert {("training", 0), ("training", 499)} <= set(asked_with(1))


def test_one_sample_a_subset_is_enough_to_run() -> None:
    assert check(animals(), bright_rows(), samples=1).ok


@pytest.mark.parametrize("wrong", [{"samples": 0}, {"timeout": 0}, {"timeout": -1.0}, {"scan_seconds": -1.0}])
def test_wrong_arguments_are_refused_with_their_values(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        check(animals(), **wrong)


def test_something_else_than_a_binding_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="int"):
        check(7)


def test_every_finding_has_a_fix_a_known_code_and_says_what_it_is_about() -> None:
    def broken(subset: str, index: int) -> np.ndarray:
        raise ValueError("no such file")

    report = check(animals(encode_image=broken), bright_rows())
    for one in report.findings:
        assert one.code in CAUSES
        assert one.evidence["fix"]
    first = report.first
    assert first is not None
    assert first.where["function"] == "image"
    assert first.where["sample"] == "training/0"
    assert first.where["place"].startswith(__file__)
    assert "ValueError: no such file" in first.message


def test_what_depends_on_a_failed_encoder_is_skipped_and_not_failed_again() -> None:
    def broken(subset: str, index: int) -> np.ndarray:
        raise ValueError("no")

    report = check(animals(encode_image=broken), bright_rows())
    assert codes(report) == ["binding-raises"]
    assert status(report, "data set", "split") is CheckStatus.SKIP
    assert status(report, "model", "numpy") is CheckStatus.SKIP
    assert status(report, "ground truth", "animal") is CheckStatus.PASS


def test_of_several_failures_the_cause_comes_first() -> None:
    """An encoder that raises is told before NaN in another, and both before a class out of range."""

    def sometimes(subset: str, index: int) -> np.ndarray:
        return np.full((6, 6, 1), np.nan, np.float32) if index == 0 else image(subset, index)

    def raising(subset: str, index: int) -> np.ndarray:
        if subset == "validation":
            raise KeyError("label")
        return one_hot(subset, index) * 2

    report = check(animals(encode_image=sometimes, encode_label=raising))
    assert codes(report) == ["binding-raises", "binding-nan", "binding-label-values"]


def test_a_sample_that_fails_among_many_is_counted_and_the_model_is_tried_on_the_others() -> None:
    def sometimes(subset: str, index: int) -> np.ndarray:
        if subset == "training" and index == 0:
            raise OSError("truncated")
        return image(subset, index)

    report = check(animals(encode_image=sometimes), bright_rows())
    assert codes(report) == ["binding-raises"]
    assert status(report, "model", "numpy") is CheckStatus.PASS


class TestSubsets:
    @pytest.mark.parametrize(
        ("subset", "severity"), [("training", "error"), ("validation", "error"), ("test", "warning")]
    )
    def test_an_empty_subset_is_named(self, subset: str, severity: str) -> None:
        lengths = {"training": 60, "validation": 30, "test": 30} | {subset: 0}
        report = check(animals(lengths=lengths))
        found = next(one for one in report.findings if one.code == "binding-subset-empty")
        assert (found.where["subset"], found.severity) == (subset, severity)

    def test_a_missing_validation_is_a_warning_where_there_is_no_binding(self) -> None:
        report = check(animals(lengths={"training": 60}))
        assert codes(report, "warning") == ["binding-subset-missing"]

    def test_a_data_set_without_ground_truth_is_a_warning_and_the_model_still_runs(self) -> None:
        report = check(animals(ground_truths=()), bright_rows())
        assert codes(report, "warning") == ["binding-no-ground-truth"]
        assert status(report, "model output", "scores") is CheckStatus.PASS

    def test_ground_truths_of_unlabelled_samples_are_never_asked_for(self) -> None:
        asked: list[str] = []

        def encode(subset: str, index: int) -> np.ndarray:
            asked.append(subset)
            return one_hot(subset, index)

        check(animals(encode_label=encode, lengths={"training": 30, "validation": 30, "unlabeled": 30}))
        assert set(asked) == {"training", "validation"}


class TestBinders:
    @pytest.fixture
    def binder(self) -> Binder:
        binder = Binder()
        binder.set_preprocess(lambda: [PreprocessResponse(length=30, data=name) for name in ("training", "validation")])
        return binder

    def test_a_binder_is_checked_as_it_is(self, binder: Binder) -> None:
        binder.set_input(lambda index, subset: image(subset.data, index), "image")
        binder.set_ground_truth(lambda index, subset: one_hot(subset.data, index), "animal")
        binder.add_prediction("scores", LABELS)
        assert check(binder, bright_rows()).ok

    def test_no_input_is_said_as_such(self, binder: Binder) -> None:
        binder.set_ground_truth(lambda index, subset: one_hot(subset.data, index), "animal")
        report = check(binder, bright_rows())
        assert codes(report) == ["binding-no-input"]

    def test_preprocess_that_raises_comes_before_a_missing_input(self) -> None:
        binder = Binder()

        def preprocess() -> list[PreprocessResponse]:
            raise FileNotFoundError("data.csv")

        binder.set_preprocess(preprocess)
        report = check(binder)
        assert codes(report) == ["binding-preprocess"]
        first = report.first
        assert first is not None
        assert first.where["place"].startswith(__file__)
        assert "data.csv" in first.message

    def test_a_subset_that_preprocess_does_not_return_is_missing(self) -> None:
        binder = Binder()
        binder.set_preprocess(lambda: [PreprocessResponse(length=30, data="training")])
        binder.set_input(lambda index, subset: image("training", index), "image")
        assert codes(check(binder)) == ["binding-subset-missing"]

    def test_a_finding_about_values_names_the_line_of_its_encoder(self, binder: Binder) -> None:
        def nan(index: int, subset: PreprocessResponse) -> np.ndarray:
            return np.full((6, 6, 1), np.nan, np.float32)

        binder.set_input(nan, "image")
        first = check(binder).first
        assert first is not None
        assert first.code == "binding-nan"
        assert first.where["place"] == f"{__file__}:{nan.__code__.co_firstlineno}"


class TestPrints:
    def test_what_the_binding_prints_is_kept_and_not_shown(self, capsys: pytest.CaptureFixture[str]) -> None:
        def chatty(subset: str, index: int) -> np.ndarray:
            print("reading", index)
            return image(subset, index)

        report = check(animals(encode_image=chatty))
        assert "reading 0\n" in report.prints
        assert capsys.readouterr().out == ""

    def test_a_gigabyte_of_prints_is_cut(self) -> None:
        text = "x" * 2**20

        def flood(subset: str, index: int) -> np.ndarray:
            for _ in range(8):
                print(text)
            return image(subset, index)

        report = check(animals(encode_image=flood), scan_seconds=0)
        assert report.ok
        assert len(report.prints) < 2**20
        assert "more characters" in report.prints


class TestLimits:
    def test_an_encoder_that_sleeps_is_told_of_and_the_check_goes_on(self) -> None:
        def sleepy(subset: str, index: int) -> np.ndarray:
            if index == 0:
                time.sleep(30)
            return image(subset, index)

        report = check(
            animals(encode_image=sleepy, lengths={"training": 60, "validation": 30}), timeout=0.2, scan_seconds=0
        )
        first = report.first
        assert first is not None
        assert (first.code, first.where["sample"]) == ("binding-timeout", "training/0")
        assert "0.2 s" in first.message
        assert status(report, "ground truth", "animal") is CheckStatus.PASS

    def test_an_encoder_that_always_sleeps_is_not_called_for_every_sample(self) -> None:
        calls: list[int] = []

        def asleep(subset: str, index: int) -> np.ndarray:
            calls.append(index)
            time.sleep(30)
            return image(subset, index)

        report = check(animals(encode_image=asleep), timeout=0.1)
        assert codes(report) == ["binding-timeout"]
        assert len(calls) <= 3

    def test_an_encoder_that_exits_does_not_end_the_process(self) -> None:
        def leave(subset: str, index: int) -> np.ndarray:
            sys.exit(3)

        report = check(animals(encode_image=leave))
        assert codes(report) == ["binding-raises"]
        assert "SystemExit" in report.findings[0].message

    def test_an_encoder_that_forks_leaves_one_process_behind_it(self) -> None:
        parent = os.getpid()
        children: list[int] = []

        def fork(subset: str, index: int) -> np.ndarray:
            if index == 0 and not children and (child := os.fork()):
                children.append(child)
            return image(subset, index)

        report = check(animals(encode_image=fork))
        assert os.getpid() == parent
        assert report.ok
        assert os.waitpid(children[0], 0)[1] == 0


def test_a_report_becomes_plain_values(tmp_path: Path) -> None:
    import json

    def half(subset: str, index: int) -> np.ndarray:
        return np.full((6, 6, 1), np.inf, np.float32)

    report = check(animals(encode_image=half))
    found = json.loads(json.dumps(report.to_dict()))
    assert found["valid"] is False
    assert found["findings"][0]["code"] == "binding-infinite"
    assert {row["name"] for row in found["functions"]} >= {"image", "animal", "split"}


def test_a_data_set_of_arrays_is_checked_too() -> None:
    rng = np.random.default_rng(0)
    parts = [
        Dataset.from_arrays(
            rng.random((40, 4), dtype=np.float32), np.arange(40) % CLASSES, labels=list(LABELS), subset=subset
        )
        for subset in ("training", "validation")
    ]
    report = check(Dataset.join(*parts))
    assert report.ok
    assert report.classes["validation"] == {"cat": 14, "dog": 13, "owl": 13}


@pytest.mark.parametrize("code", CAUSES)
def test_every_code_has_its_line_in_the_page(code: str) -> None:
    page = Path(__file__).parents[3] / "docs" / "how-to" / "check-a-binding.md"
    assert f"`{code}`" in page.read_text(encoding="utf-8")
