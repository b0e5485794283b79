"""Descriptions and errors that cross from another process: the same again, and nothing believed."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cutaway import errors
from cutaway.errors import CutawayError, LayerUnavailable, ModelError, UnsafeModel
from cutaway.models import Layer, ModelDescription, SavedTraining, TensorSpec
from cutaway.models.backend import Question
from cutaway.models.crossing import (
    BadDescription,
    description_from,
    description_to,
    error_from,
    error_to,
    question_from,
    question_to,
)

WHOLE = ModelDescription(
    "keras",
    (TensorSpec("x", (None, 3), "uint8", 1), TensorSpec("any", (), "")),
    (TensorSpec("y", (4, 10)),),
    (Layer("a", "Conv2D", (None, 4, 4, 8)), Layer("b", "Dense", None, 1)),
    latent_layer="a",
    training=SavedTraining({"name": "mse", "weight": [0.5]}, "adam", ("accuracy", "loss")),
    differentiable="No.",
    notes=("odd",),
    about={"opset": 17},
)


def crossed(message: Any) -> Any:
    return json.loads(json.dumps(message, default=str))


def test_a_description_comes_out_as_it_went_in() -> None:
    assert description_from(crossed(description_to(WHOLE))) == WHOLE
    small = ModelDescription("onnx", WHOLE.inputs, WHOLE.outputs)
    assert description_from(crossed(description_to(small))) == small


def test_what_json_has_no_word_for_goes_as_text() -> None:
    odd = replace(WHOLE, about={"kind": np.float32, "number": np.int64(3)})
    assert description_from(crossed(description_to(odd))).about["number"] == "3"


@pytest.mark.parametrize(
    "change",
    [
        {"format": 3},
        {"inputs": None},
        {"inputs": ["x"]},
        {"inputs": [{"name": "x", "shape": [None], "dtype": "O8,O8", "channel_axis": None}]},
        {"inputs": [{"name": "x", "shape": [-1], "dtype": "int8", "channel_axis": None}]},
        {"inputs": [{"name": "x", "shape": [1] * 40, "dtype": "int8", "channel_axis": None}]},
        {"inputs": [{"name": "x", "shape": [1], "dtype": "int8", "channel_axis": 99}]},
        {"outputs": [{"name": "x" * 10_000, "shape": [1], "dtype": "int8", "channel_axis": 0}]},
        {"layers": [{"name": "a"}]},
        {"layers": [{"name": "a", "kind": "b", "shape": None, "channel_axis": None}]},
        {"layers": "abc"},
        {"latent_layer": 5},
        {"notes": [5]},
        {"differentiable": None},
    ],
)
def test_a_description_that_cannot_be_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadDescription):
        description_from({**crossed(description_to(WHOLE)), **change})
    with pytest.raises(BadDescription):
        description_from("text")


def test_a_question_comes_out_as_it_went_in() -> None:
    question = Question("y", "x", np.arange(3), "MeanSquaredError", np.ones((3, 2)))
    plain, arrays = question_to(question)
    again = question_from(crossed(plain), arrays)
    assert (again.output, again.wrt, again.loss) == ("y", "x", "MeanSquaredError")
    assert np.array_equal(again.target, question.target)
    assert question_from(*question_to(Question("y", "x"))) == Question("y", "x")


ALL = [getattr(errors, name) for name in errors.__all__ if isinstance(getattr(errors, name), type)]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_error_of_ours_keeps_its_class_and_message(kind: type[CutawayError]) -> None:
    error = kind.__new__(kind)
    error.args = ("what happened",)
    again = error_from(crossed(error_to(error)))
    assert type(again) is kind
    assert str(again) == "what happened"


def test_fields_cross_where_they_are_plain() -> None:
    again = error_from(crossed(error_to(UnsafeModel("m.h5", "a Lambda"))))
    assert isinstance(again, UnsafeModel)
    assert (again.path, again.reason) == ("m.h5", "a Lambda")
    layer = error_from(crossed(error_to(LayerUnavailable("a", ["ab"]))))
    assert isinstance(layer, LayerUnavailable)
    assert (layer.layer, str(layer)) == ("a", str(LayerUnavailable("a", ["ab"])))


@pytest.mark.parametrize(
    "sent",
    [
        {"class": "CalledProcessError", "message": "m", "fields": {}},
        {"class": "did_you_mean", "message": "m", "fields": {}},
        {"class": "os.system", "message": "m", "fields": {}},
        {"class": ["UnsafeModel"], "message": "m", "fields": {}},
        {"class": None, "message": "m", "fields": None},
    ],
)
def test_no_other_class_is_made_because_its_name_was_sent(sent: dict[str, Any]) -> None:
    error = error_from(sent)
    assert type(error) is ModelError
    assert str(error) == "m"
    assert type(error_from(error_to(subprocess.CalledProcessError(1, "x")))) is ModelError


def test_nothing_of_the_exception_itself_is_set() -> None:
    fields = {"args": "x", "__class__": "x", "with_traceback": "x", "not a name": "x", "path": ["x"], "reason": "kept"}
    error = error_from({"class": "UnsafeModel", "message": "m", "fields": fields})
    assert isinstance(error, UnsafeModel)
    assert (str(error), error.reason, vars(error)) == ("m", "kept", {"reason": "kept"})
    assert str(error_from("text")) == "The model's process failed and did not say how."
    assert len(str(error_from({"message": "x" * 100_000}))) <= 8_000
