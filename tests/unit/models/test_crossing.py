"""Descriptions and questions that cross from another process: the same again, and nothing believed."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from cutaway.models import Layer, ModelDescription, SavedTraining, TensorSpec
from cutaway.models.backend import Question
from cutaway.models.crossing import (
    BadDescription,
    description_from,
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
    assert description_from(crossed(asdict(WHOLE))) == WHOLE
    small = ModelDescription("onnx", WHOLE.inputs, WHOLE.outputs)
    assert description_from(crossed(asdict(small))) == small


def test_what_json_has_no_word_for_goes_as_text() -> None:
    odd = replace(WHOLE, about={"kind": np.float32, "number": np.int64(3)})
    assert description_from(crossed(asdict(odd))).about["number"] == "3"


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
        description_from({**crossed(asdict(WHOLE)), **change})
    with pytest.raises(BadDescription):
        description_from("text")


def test_a_question_comes_out_as_it_went_in() -> None:
    question = Question("y", "x", np.arange(3), "MeanSquaredError", np.ones((3, 2)))
    plain, arrays = question_to(question)
    again = question_from(crossed(plain), arrays)
    assert (again.output, again.wrt, again.loss) == ("y", "x", "MeanSquaredError")
    assert np.array_equal(again.target, question.target)
    assert question_from(*question_to(Question("y", "x"))) == Question("y", "x")
