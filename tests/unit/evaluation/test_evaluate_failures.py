"""Samples, functions and models that fail: each costs what it must and no more, and is said."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.dataset.enums import Role
from cutaway.dataset.functions import Field, MetadataField, Metric
from cutaway.errors import EncoderError, EvaluationError
from cutaway.evaluation import evaluate, evaluations
from cutaway.run import Run
from tests.unit.evaluation.linear_model import WEIGHTS, linear_model, samples

COUNT = 40


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUTAWAY_HOME", raising=False)
    return tmp_path


class Functions:
    """A subset whose samples are encoded one at a time; `bad` may spoil one."""

    name = "training"

    def __init__(self, bad: Callable[[str, int, Array], Array] = lambda what, i, values: values) -> None:
        self._x, self._y = samples(COUNT)
        self._bad = bad

    def __len__(self) -> int:
        return COUNT

    def ids(self, start: int, stop: int) -> list[str]:
        return [f"s{i}" for i in range(start, min(stop, COUNT))]

    def encode(self, role: Role, name: str, index: int) -> Array:
        return self._bad(name, index, self._x[index] if role is Role.INPUT else self._y[index])

    def encode_many(self, role: Role, name: str, start: int, stop: int) -> None:
        return None

    def metadata(self, index: int) -> dict[str, Any]:
        return {"size": self._bad("size", index, index)}

    def response(self) -> None: ...


def dataset(bad: Callable[[str, int, Array], Array] = lambda what, i, values: values, **more: Any) -> Dataset:
    return Dataset({"training": Functions(bad)}, (Field("x"),), (Field("y"),), (MetadataField("size"),), **more)


def raises(what: str, at: int) -> Callable[[str, int, Array], Array]:
    def bad(name: str, index: int, values: Array) -> Array:
        if (name, index) == (what, at):
            raise EncoderError("input", name, f"training/s{index}", "ValueError: too dark", "my/binding.py:12")
        return values

    return bad


def check_others(table: Any, failed: int) -> None:
    """Every other sample is as it would be without the bad one."""
    healthy = evaluate(dataset(), linear_model()).table("training")
    keep = [i for i in range(COUNT) if i != failed]
    assert len(table) == COUNT
    assert table.take(keep).select(healthy.column_names).equals(healthy.take(keep))


class TestEncoders:
    @pytest.mark.parametrize("what", ["x", "y"])
    def test_one_that_raises_costs_one_row(self, what: str) -> None:
        evaluation = evaluate(dataset(raises(what, 9)), linear_model(), batch_size=16)
        assert [one.id for one in evaluation.failures()] == ["training/s9"]
        assert "my/binding.py:12" in evaluation.failures()[0].error
        row = evaluation.table("training").slice(9, 1).to_pylist()[0]
        assert row["prediction.scores"] is None
        assert row["loss"] is None
        assert np.isnan(evaluation.latents("training")[9]).all()
        assert evaluation.source.subsets["training"].failed == 1
        check_others(evaluation.table("training"), 9)

    def test_metadata_that_raises_costs_only_the_metadata(self) -> None:
        evaluation = evaluate(dataset(raises("size", 9)), linear_model())
        row = evaluation.table("training").slice(9, 1).to_pylist()[0]
        assert row["error"]
        assert row["metadata.size"] is None
        assert np.allclose(row["prediction.scores"], samples(COUNT)[0][9] @ WEIGHTS)
        check_others(evaluation.table("training"), 9)

    def test_another_shape_than_the_rest_is_an_error_with_both(self) -> None:
        evaluation = evaluate(
            dataset(lambda name, i, v: v[:3] if (name, i) == ("x", 5) else v), linear_model(), batch_size=16
        )
        [failure] = evaluation.failures()
        assert "(3,)" in failure.error
        assert "(4,)" in failure.error
        check_others(evaluation.table("training"), 5)

    def test_nan_is_kept_and_counted(self) -> None:
        evaluation = evaluate(
            dataset(lambda name, i, v: v * np.float32("nan") if (name, i) == ("x", 5) else v), linear_model()
        )
        assert evaluation.failures() == []
        subset = evaluation.source.document["subsets"]["training"]
        assert subset["not_finite_samples"] == {"inputs": 1, "predictions": 1}
        assert subset["means"]["loss"] is not None
        assert subset["not_finite"]["loss"] == 1

    def test_one_that_sleeps_is_left_behind(self) -> None:
        awake = threading.Event()

        def sleeps(name: str, index: int, values: Array) -> Array:
            if (name, index) == ("x", 9):
                awake.wait(30)
            return values

        evaluation = evaluate(dataset(sleeps), linear_model(), batch_size=16, sample_timeout=0.2)
        awake.set()
        [failure] = evaluation.failures()
        assert failure.id == "training/s9"
        assert "did not come back within 0.2 s" in failure.error
        check_others(evaluation.table("training"), 9)

    def test_anything_else_that_is_raised_is_said_with_its_place(self) -> None:
        def bad(name: str, index: int, values: Array) -> Array:
            return values if index != 3 else values + int("three")

        [failure] = evaluate(dataset(bad), linear_model()).failures()
        assert "ValueError: invalid literal" in failure.error
        assert "test_evaluate_failures.py" in failure.error

    def test_arrays_of_another_shape_in_one_sample_do_not_exist_but_a_whole_subset_does(self) -> None:
        x, y = samples(10)
        wrong = Dataset.from_arrays({"x": x[:, :3]}, {"y": y}, subset="validation")
        evaluation = evaluate(Dataset.join(Dataset.from_arrays({"x": x}, {"y": y}), wrong), linear_model())
        assert len(evaluation.failures("validation")) == 10
        assert evaluation.failures("training") == []


class TestPolicies:
    def test_fail_stops_at_the_sample_and_keeps_what_was_done(self, tmp_path: Path) -> None:
        run = Run.create(tmp_path / "run")
        with pytest.raises(EvaluationError, match=r"'training/s20' failed: my/binding.py:12"):
            evaluate(dataset(raises("x", 20)), linear_model(), run, on_error="fail", batch_size=8)
        [stopped] = evaluations(run)
        assert stopped.source.state == "stopped"
        with pytest.raises(EvaluationError, match="is not finished"):
            stopped.table("training")
        model = linear_model()
        evaluation = evaluate(dataset(), model, run, on_error="fail", batch_size=8)
        assert evaluation.number == 0
        # What had been done is not asked for again; the first is the sample that tells which model it is.
        assert sum(model._backend.batches) == 1 + COUNT - 16
        check_others(evaluation.table("training"), -1)


class TestFunctions:
    def test_a_metric_that_fails_on_one_sample_costs_one_value(self) -> None:
        def metric(x: Array) -> Array:
            if (x[:, 0] == samples(COUNT)[0][11, 0]).any():
                raise ValueError("not this one")
            return x[:, 0]

        evaluation = evaluate(dataset(metrics=(Metric("m", metric, ("x",), place="f.py:1"),)), linear_model())
        [failure] = evaluation.failures()
        assert failure.id == "training/s11"
        assert "metric 'm' failed: ValueError: not this one" in failure.error
        row = evaluation.table("training").slice(11, 1).to_pylist()[0]
        assert row["metric.m"] is None
        assert row["prediction.scores"] is not None
        assert evaluation.table("training")["metric.m"].null_count == 1

    @pytest.mark.parametrize(
        ("result", "words"),
        [
            (lambda x: x[:, :2], "one number for each of"),
            (lambda x: np.float32(1), "one number for each of"),
            (lambda x: "good", "numbers are wanted"),
        ],
    )
    def test_what_is_no_number_a_sample_is_said(self, result: Callable[[Array], Any], words: str) -> None:
        evaluation = evaluate(dataset(metrics=(Metric("m", result, ("x",)),)), linear_model(), batch_size=COUNT)
        assert len(evaluation.failures()) == COUNT
        assert words in evaluation.failures()[0].error

    def test_a_visualizer_that_fails_costs_no_row(self) -> None:
        from cutaway.dataset.functions import Visualizer

        def draw(x: Array) -> None:
            raise ValueError("no picture")

        evaluation = evaluate(dataset(visualizers=(Visualizer("v", draw, ("x",)),)), linear_model())
        assert evaluation.failures() == []
        assert any("no picture" in note for note in evaluation.source.notes)


class TestModels:
    def test_the_sample_on_which_the_model_fails_is_found(self) -> None:
        bad = samples(COUNT)[0][13]

        def watch(x: Array) -> None:
            if (x == bad).all(axis=1).any():
                raise RuntimeError("cannot take it")

        evaluation = evaluate(dataset(), linear_model(watch), batch_size=16)
        [failure] = evaluation.failures()
        assert failure.id == "training/s13"
        assert "RuntimeError: cannot take it" in failure.error
        row = evaluation.table("training").slice(13, 1).to_pylist()[0]
        assert row["ground_truth.y"] is not None
        check_others(evaluation.table("training"), 13)

    def test_a_model_that_always_fails_ends_it_at_once(self, tmp_path: Path) -> None:
        def watch(x: Array) -> None:
            raise RuntimeError("broken")

        run = Run.create(tmp_path / "run")
        with pytest.raises(EvaluationError, match=r"failed on 16 samples in a row.*broken"):
            evaluate(dataset(), linear_model(watch), run, batch_size=16)
        assert evaluations(run)[0].source.state == "stopped"

    def test_predictions_that_are_not_finite_are_counted(self) -> None:
        x, y = samples(COUNT)
        x[4] = 3e38
        evaluation = evaluate(Dataset.from_arrays({"x": x}, {"y": y}), linear_model())
        assert evaluation.source.subsets["training"].not_finite_samples["predictions"] == 1


def test_an_evaluation_with_other_options_is_a_new_one(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run")
    with pytest.raises(EvaluationError):
        evaluate(dataset(raises("x", 20)), linear_model(), run, on_error="fail", batch_size=8)
    assert evaluate(dataset(), linear_model(), run, epoch=3).number == 1
    assert evaluate(replace(dataset(), source={"kind": "other"}), linear_model(), run).number == 2
    assert evaluate(dataset(), linear_model(), run, resume=False).number == 3
    assert evaluate(dataset(), linear_model(), run).number == 0


def test_a_stopped_run_of_its_own_is_gone_on_with(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError):
        evaluate(dataset(raises("x", 20)), linear_model(), on_error="fail", batch_size=8)
    [stopped] = (tmp_path / "runs").iterdir()
    heard: list[Any] = []
    evaluation = evaluate(dataset(), linear_model(), batch_size=8, progress=heard.append)
    assert evaluation.run.name == stopped.name
    assert "Going on with evaluation 0" in heard[0].what
    assert heard[0].done == 16
