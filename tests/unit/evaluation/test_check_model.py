"""A model against a data set: inputs, a real prediction, outputs, and functions of both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.dataset import Binder, Dataset, PreprocessResponse, SamplePreprocessResponse
from cutaway.dataset.enums import ConfusionMatrixValue, LeapDataType
from cutaway.dataset.functions import Field, LatentSpace, Loss, Metric, Visualizer
from cutaway.dataset.responses import ConfusionMatrixElement
from cutaway.errors import ModelFormatError, ModelNotFound, UnsafeModel
from cutaway.evaluation import evaluate
from cutaway.evaluation.check import check
from cutaway.evaluation.check_report import CheckReport, CheckStatus
from cutaway.evaluation.checks.looking import spread_positions
from cutaway.models import Model
from tests.unit.evaluation.bindings import BrightRows, Samples, animals, bright_rows, image, one_hot


def codes(report: CheckReport, severity: str = "error") -> list[str]:
    return [one.code for one in report.of(severity)]


def positions(length: int) -> list[int]:
    """The positions that a check looks at."""
    return spread_positions(length, 16, 0)


def row(report: CheckReport, kind: str, name: str) -> Any:
    return next(row for row in report.rows if (row.kind, row.name) == (kind, name))


class TestInputs:
    def test_the_note_says_which_encoder_goes_where_and_how_often_the_model_is_right(self) -> None:
        report = check(animals(), bright_rows())
        assert row(report, "model input", "image").note == "from 'image'"
        assert row(report, "model output", "scores").note == "32 of 32 right by 'animal'"
        assert row(report, "model", "numpy").seconds > 0

    def test_channels_are_moved_where_both_sides_declare_them(self) -> None:
        report = check(animals(), bright_rows(shape=(None, 1, 6, 6), channel_axis=1))
        assert report.ok
        assert row(report, "model input", "image").note == "from 'image', channels first"

    def test_a_model_of_another_shape_is_a_misfit_with_both_shapes(self) -> None:
        report = check(animals(), bright_rows(shape=(None, 28, 28, 1)))
        assert codes(report) == ["model-input"]
        assert "(28, 28, 1)" in report.findings[0].message
        assert "(6, 6, 1)" in report.findings[0].message

    def test_channels_that_lie_otherwise_than_declared_are_named(self) -> None:
        dataset = animals(encode_image=lambda s, i: np.moveaxis(image(s, i), -1, 0))
        report = check(dataset, bright_rows())
        assert codes(report) == ["model-input"]
        assert "channels" in report.findings[0].message

    def test_the_notes_say_how_each_was_decided(self) -> None:
        report = check(animals(), bright_rows())
        assert "Input 'image' takes encoder 'image'" in report.notes[0]


class TestOutputs:
    def test_an_output_that_is_not_finite_names_the_sample(self) -> None:
        report = check(animals(), bright_rows(answer=lambda values: np.full((len(values), 3), np.nan, np.float32)))
        assert codes(report) == ["model-not-finite"]
        assert report.findings[0].where["sample"] == "training/0"

    def test_labels_of_a_prediction_must_be_as_many_as_its_values(self) -> None:
        report = check(animals(predictions=(Field("scores", ("cat", "dog")),)), bright_rows())
        assert codes(report) == ["model-labels"]
        assert "declares 2 labels" in report.findings[0].message

    def test_another_number_of_classes_than_the_ground_truth_has_is_a_misfit(self) -> None:
        report = check(animals(), bright_rows(classes=5))
        assert codes(report) == ["model-output"]
        assert "(3,)" in report.findings[0].message
        assert "(5,)" in report.findings[0].message

    def test_ground_truths_that_nothing_is_compared_with_are_a_warning(self) -> None:
        both = (Field("animal"), Field("species"))
        truths = {"animal": one_hot, "species": one_hot}
        subsets = {
            name: Samples(name, 30, {"image": image}, truths, lambda *_: {}) for name in ("training", "validation")
        }
        report = check(Dataset(subsets, (Field("image"),), both), bright_rows())
        assert report.ok
        assert codes(report, "warning") == ["model-output", "model-output"]
        assert "'animal' is compared with no output of the model: none of 'scores'" in report.of("warning")[0].message

    def test_a_model_that_guesses_is_a_warning(self) -> None:
        report = check(animals(), bright_rows(answer=lambda values: np.tile(np.float32([1, 0, 0]), (len(values), 1))))
        assert report.ok
        assert codes(report, "warning") == ["model-guesses"]

    def test_labels_in_another_order_show_as_guessing(self) -> None:
        report = check(animals(encode_label=lambda s, i: np.roll(one_hot(s, i), 1)), bright_rows())
        assert codes(report, "warning") == ["model-guesses"]

    def test_several_labels_a_sample_are_not_judged_as_one(self) -> None:
        def labels(subset: str, index: int) -> np.ndarray:
            return np.float32([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]][index % 4])

        # Each label is told rightly, and the largest score never is the only label.
        backend = bright_rows(answer=lambda values: np.tile(np.float32([0.9, 0.4, 0.8]), (len(values), 1)))
        report = check(animals(encode_label=labels, lengths={"training": 40, "validation": 40}), backend)
        assert codes(report, "warning") == []
        note = row(report, "model output", "scores").note
        assert note.endswith("labels right by 'animal', several a sample")
        truths = np.stack([labels(name, i) for name in ("training", "validation") for i in positions(40)])
        right = int((truths == np.float32([1, 0, 1])).sum())
        assert note.startswith(f"{right} of {truths.size} ")

    def test_a_model_that_raises_says_so_once(self) -> None:
        def broken(values: np.ndarray) -> np.ndarray:
            raise ValueError("matmul")

        report = check(animals(metrics=(accuracy(),)), bright_rows(answer=broken))
        assert codes(report) == ["model-predict"]
        assert row(report, "metric", "accuracy").status is CheckStatus.SKIP


class TestLoading:
    @pytest.mark.parametrize(
        ("error", "code"),
        [
            (ModelNotFound("model.onnx"), "model-missing"),
            (ModelFormatError("model.onnx", "a pointer of Git LFS"), "model-unreadable"),
            (UnsafeModel("model.h5", "a Lambda layer"), "model-unsafe"),
            (RuntimeError("out of memory"), "model-unreadable"),
            (FileNotFoundError(2, "No such file or directory"), "model-missing"),
            (ValueError("File not found: filepath=model.keras."), "model-missing"),
            (SystemExit(1), "model-unreadable"),
        ],
    )
    def test_a_binding_that_cannot_bring_its_model_says_why(self, error: BaseException, code: str) -> None:
        def load() -> Any:
            raise error

        report = check(animals(load_model=load, metrics=(accuracy(),)))
        assert codes(report) == [code]
        assert row(report, "metric", "accuracy").note == "needs a prediction: the model could not be loaded"

    def test_a_binding_whose_model_file_is_not_there_is_told_where_paths_count_from(self) -> None:
        def load() -> Any:
            return Path("no", "model.onnx").read_bytes()

        (finding,) = check(animals(load_model=load)).findings
        assert finding.code == "model-missing"
        assert "No such file or directory: 'no/model.onnx'. A relative path counts from the folder" in finding.message

    def test_the_model_that_a_binding_brings_is_checked_and_closed(self) -> None:
        backend = BrightRows()
        report = check(animals(load_model=lambda: Model(backend)))
        assert report.ok
        assert backend.closed == 1

    def test_a_model_that_is_given_stays_open(self) -> None:
        backend = BrightRows()
        assert check(animals(), Model(backend)).ok
        assert backend.closed == 0


def accuracy(function: Callable[..., Any] | None = None) -> Metric:
    def right(animal: np.ndarray, prediction: np.ndarray) -> np.ndarray:
        return (animal.argmax(1) == prediction.argmax(1)).astype(np.float32)

    return Metric("accuracy", function or right, ("animal", "prediction"), place="mine.py:7")


class TestFunctions:
    def test_a_metric_a_loss_a_latent_space_and_a_visualizer_are_tried(self) -> None:
        class LeapImage:
            pass

        dataset = animals(
            metrics=(accuracy(),),
            losses=(Loss("squares", lambda animal, scores: ((animal - scores) ** 2).sum(1), ("animal", "scores")),),
            visualizers=(Visualizer("shown", lambda image: LeapImage(), ("image",)),),
            latent_spaces=(LatentSpace("mine", lambda image: image.reshape(len(image), -1), ("image",)),),
        )
        report = check(dataset, bright_rows())
        assert report.findings == ()
        assert row(report, "metric", "accuracy").shape == ()
        assert row(report, "latent space", "mine").shape == (36,)
        assert row(report, "visualizer", "shown").dtype == "LeapImage"

    def test_without_a_model_what_needs_a_prediction_is_skipped_and_the_rest_is_tried(self) -> None:
        class LeapImage:
            pass

        dataset = animals(
            metrics=(accuracy(),), visualizers=(Visualizer("shown", lambda image: LeapImage(), ("image",)),)
        )
        report = check(dataset)
        assert row(report, "metric", "accuracy").note == "needs a prediction: no model was given"
        assert row(report, "visualizer", "shown").status is CheckStatus.PASS

    @pytest.mark.parametrize(
        ("function", "code"),
        [
            (lambda animal, prediction: np.float32(0.5), "function-shape"),
            (lambda animal, prediction: prediction, "function-shape"),
            (lambda animal, prediction: ["a"] * len(animal), "function-shape"),
            (lambda animal, prediction: {}, "function-shape"),
            (lambda animal, prediction: {"all": np.zeros(len(animal)), "half": np.zeros(2)}, "function-shape"),
            (lambda animal, prediction: np.log(np.zeros(len(animal))), "function-not-finite"),
            (lambda animal, prediction: animal @ prediction, "function-raises"),
        ],
    )
    @pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
    def test_a_sick_metric_has_its_finding_and_place(self, function: Callable[..., Any], code: str) -> None:
        report = check(animals(metrics=(accuracy(function),)), bright_rows())
        assert codes(report) == [code]
        assert report.findings[0].where["function"] == "accuracy"
        assert report.findings[0].where["place"]

    @pytest.mark.parametrize(
        "function",
        [
            lambda animal, prediction: {"a": np.zeros(len(animal)), "b": np.ones(len(animal))},
            lambda animal, prediction: [0.5] * len(animal),
            lambda animal, prediction: np.zeros((len(animal), 1)),
        ],
    )
    def test_a_healthy_metric_has_none(self, function: Callable[..., Any]) -> None:
        assert check(animals(metrics=(accuracy(function),)), bright_rows()).ok

    def test_a_metric_that_asks_for_its_samples_is_given_them(self) -> None:
        asked: list[list[Any]] = []
        binder = Binder()
        binder.set_preprocess(lambda: [PreprocessResponse(length=30, data=name) for name in ("training", "validation")])
        binder.set_input(lambda index, subset: image(subset.data, index), "image")
        binder.set_ground_truth(lambda index, subset: one_hot(subset.data, index), "animal")

        def seen(animal: np.ndarray, samples: SamplePreprocessResponse) -> np.ndarray:
            asked.append(list(samples.sample_ids))
            return np.zeros(len(animal), np.float32)

        # Annotations of this file are text; the binder reads types.
        seen.__annotations__["samples"] = SamplePreprocessResponse
        binder.add_custom_metric(seen, "seen")
        assert check(binder, bright_rows(), samples=5).ok
        assert [len(ids) for ids in asked] == [5, 5]
        assert [ids[0] for ids in asked] == [0, 0]

    def test_an_argument_that_nothing_is_known_for_is_named(self) -> None:
        metric = Metric("odd", lambda mask: mask, ("mask",), place="mine.py:9")
        report = check(animals(metrics=(metric,)), bright_rows())
        assert codes(report) == ["function-wiring"]
        assert report.findings[0].where["place"] == "mine.py:9"
        assert "'mask'" in report.findings[0].message

    def test_a_metric_of_a_ground_truth_that_failed_is_skipped(self) -> None:
        def broken(subset: str, index: int) -> np.ndarray:
            raise ValueError("no label")

        report = check(animals(encode_label=broken, metrics=(accuracy(),)), bright_rows())
        assert codes(report) == ["binding-raises"]
        assert row(report, "metric", "accuracy").note == "needs ground truth 'animal', which failed"

    @pytest.mark.parametrize(("argument", "asked"), [("data", True), ("image", False)])
    def test_a_function_that_fails_on_what_a_mere_word_gave_it_is_asked_about_that(
        self, argument: str, asked: bool
    ) -> None:
        def bars(**arguments: np.ndarray) -> None:
            raise ValueError("must have 1 axis")

        report = check(animals(visualizers=(Visualizer("bars", bars, (argument,)),)), bright_rows())
        assert codes(report) == ["function-raises"]
        assert (f"Is {argument!r} meant to be input.image?" in report.findings[0].evidence["fix"]) == asked

    def test_a_visualizer_of_another_class_than_it_promises_is_told_of(self) -> None:
        shown = Visualizer("shown", lambda image: image, ("image",), visualizer_type=LeapDataType.Text)
        report = check(animals(visualizers=(shown,)))
        assert codes(report) == ["function-shape"]
        assert "LeapText" in report.findings[0].evidence["fix"]

    def test_a_metric_of_a_class_is_nan_for_samples_of_other_classes(self, tmp_path: Path) -> None:
        def recalls(animal: np.ndarray, prediction: np.ndarray) -> dict[str, np.ndarray]:
            right = (animal.argmax(1) == prediction.argmax(1)).astype(np.float32)
            return {name: np.where(animal[:, i] == 1, right, np.nan) for i, name in enumerate(("cat", "dog", "owl"))}

        report = check(animals(metrics=(accuracy(recalls),)), bright_rows())
        assert report.findings == ()
        evaluation = evaluate(animals(metrics=(accuracy(recalls),)), bright_rows(), tmp_path / "run", loss=[])
        assert evaluation.source.subsets["training"].means["metric.accuracy_cat"] == 1.0

    @pytest.mark.parametrize(("names", "severity"), [(("cat", "emu"), "info"), (("emu", "gnu"), "warning")])
    def test_a_class_that_no_sample_has_is_no_error(self, names: tuple[str, ...], severity: str) -> None:
        def recalls(animal: np.ndarray, prediction: np.ndarray) -> dict[str, np.ndarray]:
            return {one: np.full(len(animal), 1.0 if one == "cat" else np.nan) for one in names}

        report = check(animals(metrics=(accuracy(recalls),)), bright_rows())
        assert report.ok
        assert codes(report, severity) == ["function-not-finite"]
        assert "'emu'" in report.findings[0].message

    def test_a_loss_that_is_nan_is_an_error(self) -> None:
        loss = Loss("loss", lambda scores: np.where(np.arange(len(scores)) == 0, np.nan, 0.0), ("scores",))
        assert codes(check(animals(losses=(loss,)), bright_rows())) == ["function-not-finite"]

    @pytest.mark.parametrize("elements", [1, 0])
    def test_a_metric_of_confusion_elements_is_healthy(self, elements: int) -> None:
        def decisions(animal: np.ndarray, prediction: np.ndarray) -> list[list[ConfusionMatrixElement]]:
            return [[ConfusionMatrixElement("cat", ConfusionMatrixValue.Positive, 0.5)] * elements for _ in animal]

        assert check(animals(metrics=(accuracy(decisions),)), bright_rows()).findings == ()

    def test_a_list_of_something_else_is_told_of(self) -> None:
        class Box:
            label = "cat"

        report = check(
            animals(metrics=(accuracy(lambda animal, prediction: [[Box()] for _ in animal]),)), bright_rows()
        )
        assert codes(report) == ["function-shape"]
        assert "but hold Box" in report.findings[0].message

    @pytest.mark.parametrize(("uncalled", "severity"), [(True, "warning"), (False, "error")])
    @pytest.mark.parametrize("argument", ["overlay", "image"])
    def test_a_visualizer_that_the_integration_test_never_calls_is_no_error(
        self, argument: str, uncalled: bool, severity: str
    ) -> None:
        def shown(**given: np.ndarray) -> Any:
            raise ValueError("this is not what it is for")

        visualizer = Visualizer("shown", shown, (argument,), place="mine.py:3", uncalled=uncalled)
        report = check(animals(visualizers=(visualizer,)), bright_rows())
        assert codes(report, severity) == [{"overlay": "function-wiring", "image": "function-raises"}[argument]]
        assert len(report.findings) == 1
        assert ("the integration test never calls it" in report.findings[0].message) == uncalled

    def test_a_metric_that_hangs_is_left_behind(self) -> None:
        import time

        report = check(
            animals(metrics=(accuracy(lambda animal, prediction: time.sleep(30)),)), bright_rows(), timeout=0.2
        )
        assert codes(report) == ["function-timeout"]
