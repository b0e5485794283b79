"""Samples against each other: leaks, duplicates, contradicting labels, classes."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.evaluation.check import check
from cutaway.evaluation.check_report import CheckReport
from cutaway.evaluation.checks.looking import spread_positions
from cutaway.evaluation.checks.scanning import _order
from tests.unit.evaluation.bindings import Encode, animals, image, one_hot


def codes(report: CheckReport) -> list[tuple[str, str]]:
    return [(one.code, one.severity) for one in report.findings if one.code != "model-none"]


class TestSamplesThatCannotBeRead:
    @staticmethod
    def raising(number: int) -> Encode:
        def encode(subset: str, index: int) -> np.ndarray:
            if index == number:
                raise IndexError("index 255 is out of bounds")
            return one_hot(subset, index)

        return encode

    def test_one_that_fails_only_when_samples_are_compared_is_told_of(self) -> None:
        lengths = {"training": 600, "validation": 300}
        unseen = next(i for i in range(300) if i not in {*spread_positions(600, 16, 0), *spread_positions(300, 16, 0)})
        report = check(animals(encode_label=self.raising(unseen), lengths=lengths), scan_seconds=60.0)
        assert codes(report) == [("binding-raises", "error")]
        first = report.findings[0]
        assert (first.where["kind"], first.where["function"]) == ("ground truth", "animal")
        assert first.message.startswith(
            f"Ground truth 'animal' failed for '{first.where['subset']}/{unseen}': IndexError"
        )
        assert "(2 of 900 samples that were compared failed)" in first.message

    def test_one_that_was_looked_at_is_told_of_once(self) -> None:
        report = check(animals(encode_label=self.raising(0)))
        assert codes(report) == [("binding-raises", "error")]
        assert "of 32 samples failed" in report.findings[0].message


class TestLeaks:
    def test_a_leaked_split_is_an_error_with_both_samples_and_how_many_were_compared(self) -> None:
        def leaked(subset: str, index: int) -> np.ndarray:
            return image("training", index + 40) if subset == "validation" and index < 10 else image(subset, index)

        def truth(subset: str, index: int) -> np.ndarray:
            return one_hot("training", index + 40) if subset == "validation" and index < 10 else one_hot(subset, index)

        report = check(animals(encode_image=leaked, encode_label=truth))
        assert codes(report) == [("binding-leak", "error")]
        first = report.findings[0]
        assert first.message.startswith("10 of 30 validation samples have the very inputs of training samples")
        assert "compared all 90 samples" in first.message
        assert first.where["subset"] == "validation"
        assert first.evidence["twin"].startswith("training/")

    def test_a_single_twin_in_many_is_a_warning(self) -> None:
        def twin(subset: str, index: int) -> np.ndarray:
            return image("training", 0) if (subset, index) == ("validation", 0) else image(subset, index)

        report = check(animals(encode_image=twin, lengths={"training": 300, "validation": 300}))
        assert codes(report) == [("binding-leak", "warning")]

    def test_samples_that_are_broken_alike_are_no_leak(self) -> None:
        def nan(subset: str, index: int) -> np.ndarray:
            return np.full((6, 6, 1), np.nan, np.float32) if index == 0 else image(subset, index)

        assert codes(check(animals(encode_image=nan))) == [("binding-nan", "error")]

    def test_a_leak_into_unlabelled_samples_is_only_noted(self) -> None:
        def same(subset: str, index: int) -> np.ndarray:
            return image("training" if subset == "unlabeled" else subset, index)

        report = check(animals(encode_image=same, lengths={"training": 30, "validation": 30, "unlabeled": 30}))
        assert codes(report) == [("binding-leak", "info")]

    def test_when_time_is_up_it_says_how_many_were_compared(self) -> None:
        def slow(subset: str, index: int) -> np.ndarray:
            time.sleep(0.001)
            return image("training", index % 50)

        lengths = {"training": 5000, "validation": 1000}
        report = check(animals(encode_image=slow, lengths=lengths), samples=4, scan_seconds=0.4)
        leak = next(one for one in report.findings if one.code == "binding-leak")
        assert "of 6,000 samples" in leak.message
        compared = report.compared
        assert 0 < compared["validation"] < 1000
        # Every subset gets its share.
        assert compared["training"] == pytest.approx(5 * compared["validation"], abs=10)


def test_duplicates_within_a_subset_are_noted() -> None:
    report = check(animals(encode_image=lambda s, i: image(s, 0) if s == "training" and i % 30 == 0 else image(s, i)))
    assert codes(report) == [("binding-duplicates", "info")]
    assert report.findings[0].message.startswith("1 training sample repeats the inputs of another")


def test_the_same_input_with_two_labels_is_a_warning() -> None:
    report = check(animals(encode_image=lambda s, i: image(s, 0) if s == "training" and i == 1 else image(s, i)))
    assert ("binding-conflict", "warning") in codes(report)
    conflict = next(one for one in report.findings if one.code == "binding-conflict")
    assert "'training/0' (animal: 0)" in conflict.message
    assert "'training/1' (animal: 1)" in conflict.message


class TestClasses:
    def spread(self, classes: Mapping[str, list[int]]) -> list[tuple[str, str]]:
        def encode(subset: str, index: int) -> np.ndarray:
            return np.eye(3, dtype=np.float32)[classes[subset][index % len(classes[subset])]]

        return codes(check(animals(encode_label=encode)))

    def test_one_class_in_training_is_an_error_and_elsewhere_a_warning(self) -> None:
        assert self.spread({"training": [1], "validation": [0, 1, 2]})[0] == ("binding-one-class", "error")
        assert self.spread({"training": [0, 1, 2], "validation": [1]}) == [("binding-one-class", "warning")]

    def test_a_class_that_training_lacks_is_a_warning(self) -> None:
        assert self.spread({"training": [0, 1], "validation": [0, 1, 2]}) == [("binding-class-absent", "warning")]

    def test_a_label_that_no_sample_has_is_a_warning(self) -> None:
        assert self.spread({"training": [0, 1], "validation": [0, 1]}) == [("binding-class-absent", "warning")]

    def test_a_rare_class_is_a_warning(self) -> None:
        assert self.spread({"training": [0, 1, *[2] * 28], "validation": [0, 1, 2]}) == [
            ("binding-imbalance", "warning")
        ]

    def test_even_classes_are_silent(self) -> None:
        assert self.spread({"training": [0, 1, 2], "validation": [0, 0, 1, 2]}) == []

    def test_several_labels_a_sample_are_not_counted_as_classes(self) -> None:
        # 'owl' only comes with 'dog', and 'cat' alone is rare: as single classes one would be absent, one rare.
        def encode(subset: str, index: int) -> np.ndarray:
            return np.float32([0, 1, 1] if index % 3 == 0 else [1, 0, 0] if index == 1 else [0, 1, 0])

        report = check(animals(encode_label=encode))
        assert codes(report) == []
        assert report.classes == {}

    def test_measurements_have_no_classes(self) -> None:
        report = check(animals(encode_label=lambda s, i: np.float32(0.5), labels=()))
        assert report.classes == {}
        assert codes(report) == []


@given(length=st.integers(0, 300), count=st.integers(1, 40), seed=st.integers(0, 5))
def test_positions_are_distinct_within_the_subset_and_have_both_ends(length: int, count: int, seed: int) -> None:
    positions = spread_positions(length, count, seed)
    assert positions == sorted(set(positions))
    assert len(positions) == min(length, max(count, min(length, 2)))
    assert all(0 <= position < length for position in positions)
    if length:
        assert positions[0] == 0
        assert positions[-1] == length - 1


@settings(max_examples=30)
@given(lengths=st.dictionaries(st.sampled_from(["training", "validation", "test"]), st.integers(0, 40)))
def test_a_scan_comes_to_every_sample_once(lengths: dict[str, int]) -> None:
    walked = list(_order(lengths, 0))
    assert sorted(walked) == sorted((name, i) for name, length in lengths.items() for i in range(length))
