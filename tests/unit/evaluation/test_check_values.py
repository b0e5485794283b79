"""What encoders and metadata return: each sickness has its code, and its healthy neighbour has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cutaway.dataset import Dataset
from cutaway.dataset.functions import Field
from cutaway.evaluation.check import check
from cutaway.evaluation.check_report import CheckReport
from tests.unit.evaluation.bindings import CLASSES, LABELS, Samples, animals, image, label, one_hot

Encode = Callable[[str, int], Any]


def found(report: CheckReport) -> list[tuple[str, str]]:
    return [(one.code, one.severity) for one in report.findings if one.code != "model-none"]


def at(index: int, sick: Callable[[np.ndarray], Any], healthy: Encode = image) -> Encode:
    """One sample of both subsets is sick."""
    return lambda subset, i: sick(healthy(subset, i)) if i == index else healthy(subset, i)


def nan_pixel(values: np.ndarray) -> np.ndarray:
    values[1, 1] = np.nan
    return values


SICK_INPUTS: dict[str, tuple[Encode, str, str]] = {
    "NaN in one sample": (at(0, nan_pixel), "binding-nan", "error"),
    "infinity": (at(0, lambda values: values / 0), "binding-infinite", "error"),
    "another shape": (at(0, lambda values: values[:5]), "binding-shape", "error"),
    "another rank": (at(0, lambda values: values[:, :, 0]), "binding-shape", "error"),
    "nothing at all": (lambda subset, i: np.zeros((0, 6, 1), np.float32), "binding-shape", "error"),
    "another dtype": (at(0, lambda values: values.astype(np.float64)), "binding-dtype", "error"),
    "text": (lambda subset, i: np.array(["a", "b"]), "binding-dtype", "error"),
    "the same sample always": (lambda subset, i: image("training", 0), "binding-constant", "error"),
    "beyond 255": (lambda subset, i: image(subset, i) * 65535, "binding-range", "warning"),
    "scaled in one subset only": (
        lambda subset, i: image(subset, i) * (255 if subset == "validation" else 1),
        "binding-range-differs",
        "warning",
    ),
    "mostly blank": (
        lambda subset, i: np.full((6, 6, 1), i, np.float32) if i % 4 else image(subset, i),
        "binding-constant",
        "warning",
    ),
}


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("case", SICK_INPUTS)
def test_a_sick_input_has_its_finding(case: str) -> None:
    encode, code, severity = SICK_INPUTS[case]
    report = check(animals(encode_image=encode), samples=30, scan_seconds=0)
    assert (code, severity) in found(report)
    assert report.findings[0].code == code
    assert report.findings[0].where["function"] == "image"


HEALTHY_INPUTS: dict[str, Encode] = {
    "bytes": lambda subset, i: (image(subset, i) * 255).astype(np.uint8),
    "floats up to 255": lambda subset, i: image(subset, i) * 255,
    "normalised": lambda subset, i: (image(subset, i) - 0.5) * 4,
    "doubles": lambda subset, i: image(subset, i).astype(np.float64),
    "one number": lambda subset, i: np.float32(i),
    "a row of large numbers": lambda subset, i: np.arange(4, dtype=np.float32) * (1e6 + i),
}


@pytest.mark.parametrize("case", HEALTHY_INPUTS)
def test_a_healthy_input_has_none(case: str) -> None:
    assert found(check(animals(encode_image=HEALTHY_INPUTS[case]), scan_seconds=0)) == []


def test_one_blank_image_is_only_noted() -> None:
    report = check(animals(encode_image=at(0, np.zeros_like)), scan_seconds=0)
    assert report.ok
    assert ("binding-constant", "info") in found(report)


def test_a_finding_says_how_many_samples_and_which() -> None:
    report = check(animals(encode_image=at(0, nan_pixel)), samples=10, scan_seconds=0)
    first = report.findings[0]
    assert "'training/0'" in first.message
    assert "1 of its 36 values are NaN" in first.message
    assert "(2 of 20 samples are so)" in first.message
    assert first.evidence["samples"] == ["training/0", "validation/0"]


def two_inputs(other: Encode, encode_image: Encode = image) -> Dataset:
    """The images, and another input beside them."""
    encoders = {"image": encode_image, "types": other}
    subsets = {
        name: Samples(name, 30, encoders, {"animal": one_hot}, lambda *_: {}) for name in ("training", "validation")
    }
    return Dataset(subsets, (Field("image"), Field("types")), (Field("animal", LABELS),))


class TestAConstantInputBesideOthers:
    """BERT takes token types beside its tokens, all 0 where a sample is one sentence."""

    @pytest.mark.parametrize(
        ("other", "severity"),
        [
            (lambda s, i: np.zeros(8, np.int64), "info"),
            (lambda s, i: np.int64(0), "info"),
            (lambda s, i: np.arange(8), "warning"),
        ],
    )
    def test_it_is_no_error_where_another_tells_samples_apart(self, other: Encode, severity: str) -> None:
        report = check(two_inputs(other), scan_seconds=0)
        assert report.ok
        assert found(report) == [("binding-constant", severity)]
        assert "'image' tells samples apart" in report.findings[0].evidence["fix"]

    def test_where_all_are_constant_each_is_an_error(self) -> None:
        dataset = two_inputs(lambda s, i: np.zeros(8, np.int64), lambda s, i: image("training", 0))
        assert found(check(dataset, scan_seconds=0)) == [("binding-constant", "error")] * 2

    def test_two_that_vary_are_healthy(self) -> None:
        assert found(check(two_inputs(lambda s, i: np.arange(8) + i), scan_seconds=0)) == []


SICK_LABELS: dict[str, tuple[Encode, str, str]] = {
    "one column too many": (lambda s, i: np.eye(4, dtype=np.float32)[i % 4], "binding-label-width", "error"),
    "a class above the last": (lambda s, i: np.int64(i % 4), "binding-label-range", "error"),
    "classes from 1": (lambda s, i: np.int64(i % 3 + 1), "binding-label-range", "error"),
    "a negative class": (lambda s, i: np.int64(-1) if i == 0 else np.int64(i % 3), "binding-label-range", "error"),
    "a fraction": (lambda s, i: np.float32(i % 3 + 0.5), "binding-label-values", "error"),
    "percent": (lambda s, i: one_hot(s, i) * 100, "binding-label-values", "error"),
    "no class": (lambda s, i: np.zeros(3, np.float32) if i == 0 else one_hot(s, i), "binding-label-values", "warning"),
    "NaN": (lambda s, i: one_hot(s, i) * np.nan, "binding-nan", "error"),
}


@pytest.mark.parametrize("case", SICK_LABELS)
def test_a_sick_label_has_its_finding(case: str) -> None:
    encode, code, severity = SICK_LABELS[case]
    report = check(animals(encode_label=encode), scan_seconds=0)
    assert found(report)[0] == (code, severity)
    assert report.findings[0].where["function"] == "animal"


HEALTHY_LABELS: dict[str, Encode] = {
    "numbers of classes": lambda s, i: np.int64(label(s, i)),
    "several labels, or none": lambda s, i: np.float32(((i % 5) >> np.arange(3)) & 1),
    "numbers of classes as floats": lambda s, i: np.float32(label(s, i)),
    "numbers in a row of one": lambda s, i: np.array([label(s, i)], np.float32),
    "probabilities": lambda s, i: one_hot(s, i) * 0.7 + 0.1,
    "a mask of numbers": lambda s, i: np.full((6, 6), label(s, i)),
    "a mask of columns": lambda s, i: np.broadcast_to(one_hot(s, i), (6, 6, CLASSES)),
}


@pytest.mark.parametrize("case", HEALTHY_LABELS)
def test_a_healthy_label_has_none(case: str) -> None:
    assert found(check(animals(encode_label=HEALTHY_LABELS[case]), scan_seconds=0)) == []


class TestMasksAndBoxes:
    def test_a_mask_that_is_declared_as_one_is_judged_by_its_labels(self) -> None:
        mask = (Field("animal", ("cat", "dog", "owl"), type="mask"),)
        dataset = animals(encode_label=lambda s, i: np.full((6, 6), i % 5), ground_truths=mask)
        assert found(check(dataset, scan_seconds=0)) == [("binding-label-range", "error")]

    @pytest.mark.parametrize(
        "encode",
        [
            lambda s, i: np.array([[0.1, 0.2, 0.5, 0.5, i % 3]] * 4, np.float32),
            lambda s, i: np.array([[10, 20, 30, 40, i % 3]] * 4),
            lambda s, i: np.array([0.5, 0.7, i % 3, 7], np.float32),
        ],
    )
    def test_boxes_with_labels_are_left_alone(self, encode: Encode) -> None:
        assert found(check(animals(encode_label=encode), scan_seconds=0)) == []


class TestLabelsOfAPrediction:
    """Labels that only the prediction declares: what does not look like a class is left alone."""

    @pytest.mark.parametrize(
        ("encode", "codes"),
        [
            (lambda s, i: np.eye(4, dtype=np.float32)[i % 4], ["binding-label-width"]),
            (lambda s, i: np.int64(i % 4), ["binding-label-range"]),
            (one_hot, []),
            (lambda s, i: np.array([0.1, 0.2, 0.7, i], np.float32), []),  # a box, say
            (lambda s, i: np.float32(i + 0.5), []),  # a measurement
        ],
    )
    def test_only_classes_are_judged(self, encode: Encode, codes: list[str]) -> None:
        dataset = animals(encode_label=encode, labels=(), predictions=(Field("scores", ("cat", "dog", "owl")),))
        assert [code for code, severity in found(check(dataset, scan_seconds=0)) if severity == "error"] == codes


class TestMetadata:
    def values(self, metadata: Callable[[str, int], dict[str, Any]]) -> list[tuple[str, str]]:
        return found(check(animals(metadata=metadata), scan_seconds=0))

    def test_some_missing_values_are_noted_and_mostly_missing_ones_warned_of(self) -> None:
        assert self.values(lambda s, i: {"age": None if i == 0 else i}) == [("binding-missing-values", "info")]
        assert self.values(lambda s, i: {"age": float("nan") if i else 1.0}) == [("binding-missing-values", "warning")]

    def test_a_constant_is_noted(self) -> None:
        assert self.values(lambda s, i: {"site": "A"}) == [("binding-metadata-constant", "info")]

    def test_several_types_in_a_column_are_a_warning_but_numbers_are_one_type(self) -> None:
        assert self.values(lambda s, i: {"age": "old" if i % 2 else i}) == [("binding-metadata-type", "warning")]
        assert self.values(lambda s, i: {"age": i / 2 if i % 2 else i}) == []

    def test_columns_of_a_dictionary_belong_to_their_function(self) -> None:
        from cutaway.dataset.functions import MetadataField

        dataset = animals(metadata=lambda s, i: {"ink_width": i, "ink_height": i * 2, "ink": i})
        report = check(
            type(dataset)(
                subsets=dataset.subsets,
                inputs=dataset.inputs,
                metadata=(MetadataField("ink"), MetadataField("ink_width")),
            ),
            scan_seconds=0,
        )
        notes = {row.name: row.note for row in report.rows if row.kind == "metadata"}
        assert notes == {"ink": "ink_height, ink", "ink_width": ""}

    def test_a_function_that_raises_is_named(self) -> None:
        from cutaway.errors import EncoderError

        def broken(subset: str, index: int) -> dict[str, Any]:
            if subset == "validation":
                raise EncoderError("metadata", "age", f"{subset}/{index}", "KeyError: 'age'", "mine.py:3")
            return {"age": index}

        report = check(animals(metadata=broken), scan_seconds=0)
        first = report.first
        assert first is not None
        assert (first.code, first.where["function"], first.where["place"]) == ("binding-raises", "age", "mine.py:3")

    def test_what_a_failed_function_kept_from_being_called_is_skipped(self) -> None:
        from dataclasses import replace

        from cutaway.dataset.functions import MetadataField
        from cutaway.errors import EncoderError

        def broken(subset: str, index: int) -> dict[str, Any]:
            raise EncoderError("metadata", "age", f"{subset}/{index}", "KeyError: 'age'", "mine.py:3")

        dataset = replace(animals(), metadata=(MetadataField("age"), MetadataField("site")))
        for subset in dataset.subsets.values():
            subset._metadata = broken  # type: ignore[attr-defined]
        report = check(dataset, scan_seconds=0)
        assert {row.name: str(row.status) for row in report.rows if row.kind == "metadata"} == {
            "age": "fail",
            "site": "skip",
        }


class TestDeterminism:
    def test_random_numbers_are_told_of(self) -> None:
        rng = np.random.default_rng(0)
        report = check(animals(encode_image=lambda s, i: image(s, i) + rng.random()), scan_seconds=0)
        assert found(report) == [("binding-random", "error")]
        assert "'training/0'" in report.findings[0].message

    def test_what_depends_on_the_sample_before_is_told_as_order(self) -> None:
        last = [0]

        def follows(subset: str, index: int) -> np.ndarray:
            values = image(subset, index) + (0 if index in (0, last[0] + 1) else 100)
            last[0] = index
            return values

        lengths = {"training": 4, "validation": 4}
        report = check(animals(encode_image=follows, lengths=lengths), samples=4, scan_seconds=0)
        assert [one.code for one in report.of("error")] == ["binding-order"]

    def test_random_metadata_names_its_column(self) -> None:
        rng = np.random.default_rng(0)
        report = check(animals(metadata=lambda s, i: {"size": i, "luck": rng.random()}), scan_seconds=0)
        assert found(report) == [("binding-random", "error")]
        assert report.findings[0].where["function"] == "luck"

    def test_missing_numbers_equal_themselves(self) -> None:
        nan = float("nan")
        codes = found(check(animals(metadata=lambda s, i: {"age": nan if i % 3 else 1.0 * i}), scan_seconds=0))
        assert "binding-random" not in [code for code, _ in codes]


def test_a_function_that_takes_too_long_is_asked_for_the_ends_of_the_other_subsets_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from cutaway.evaluation.checks import looking

    monkeypatch.setattr(looking, "SECONDS", 0.0)
    asked: list[tuple[str, int]] = []

    def encode(subset: str, index: int) -> np.ndarray:
        asked.append((subset, index))
        return image(subset, index)

    check(animals(encode_image=encode), scan_seconds=0)
    assert set(asked) == {("training", 0), ("training", 59), ("validation", 0), ("validation", 29)}


def test_a_slow_function_says_what_many_samples_would_take(monkeypatch: pytest.MonkeyPatch) -> None:
    from cutaway.evaluation.checks import determinism

    monkeypatch.setattr(determinism, "SLOW", 0.0)
    report = check(animals(metadata=lambda s, i: {}), scan_seconds=0)
    slow = [one for one in report.findings if one.code == "binding-slow"]
    assert [one.where["function"] for one in slow] == ["image", "animal"]
    assert "hours for 100,000 samples" in slow[0].message
