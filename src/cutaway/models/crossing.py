"""Descriptions and questions as JSON, and back. What comes from a model's process is checked, never believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from cutaway.arrays import Array
from cutaway.engine.crossing_errors import writable_text
from cutaway.models.backend import Arrays, Question
from cutaway.models.description import Layer, ModelDescription, SavedTraining, TensorSpec
from cutaway.models.shared_arrays import DTYPES

__all__ = [
    "BadDescription",
    "description_from",
    "question_from",
    "question_to",
]

_LONGEST_NAME = 4_096
_MOST_LAYERS = 1_000_000


class BadDescription(Exception):
    """A description that cannot be right; the message says what of it."""


def description_from(given: Any) -> ModelDescription:
    """Return a description of plain values that another process sent. Raises `BadDescription`."""
    if not isinstance(given, dict):
        raise BadDescription("no description came.")
    training, about = _mapping(given.get("training")), _mapping(given.get("about"))
    latent = given.get("latent_layer")
    return ModelDescription(
        format=_checked_text(given.get("format")),
        inputs=tuple(_spec(one) for one in _list(given.get("inputs"))),
        outputs=tuple(_spec(one) for one in _list(given.get("outputs"))),
        layers=tuple(_layer(one) for one in _list(given.get("layers"))),
        latent_layer=None if latent is None else _checked_text(latent),
        training=SavedTraining(
            training.get("loss"),
            training.get("optimizer"),
            tuple(_checked_text(one) for one in _list(training.get("metrics", []))),
        ),
        differentiable=_checked_text(given.get("differentiable", "")),
        notes=tuple(_checked_text(one) for one in _list(given.get("notes", []))),
        about=about,
    )


def question_to(question: Question) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return a question as plain values, and its arrays."""
    arrays = {"target": question.target, "labels": question.labels}
    plain = {"output": question.output, "wrt": question.wrt, "loss": question.loss}
    return plain, {name: np.asarray(values) for name, values in arrays.items() if values is not None}


def question_from(plain: Mapping[str, Any], arrays: Arrays) -> Question:
    """Return the question that the parent asked."""
    return Question(plain["output"], plain["wrt"], arrays.get("target"), plain["loss"], arrays.get("labels"))


def _spec(given: Any) -> TensorSpec:
    if not isinstance(given, dict):
        raise BadDescription("an input or output is no mapping.")
    dtype = _checked_text(given.get("dtype"))
    # Empty where the model does not tell.
    if dtype not in DTYPES and dtype not in ("", "str", "object"):
        raise BadDescription(f"there is no dtype {dtype[:50]!r}.")
    axis = given.get("channel_axis")
    shape = _shape(given.get("shape"))
    return TensorSpec(_checked_text(given.get("name")), shape, dtype, None if axis is None else _axis(axis))


def _layer(given: Any) -> Layer:
    if not isinstance(given, dict) or set(given) != {field.name for field in fields(Layer)}:
        raise BadDescription("a layer is not described by its name, kind, shape and channel axis.")
    shape = given["shape"]
    kind = _checked_text(given["kind"])
    return Layer(
        _checked_text(given["name"]), kind, None if shape is None else _shape(shape), _axis(given["channel_axis"])
    )


def _shape(given: Any) -> tuple[int | None, ...]:
    sizes = _list(given)
    if len(sizes) > 32 or not all(one is None or (_is_whole_number(one) and 0 <= one < 2**62) for one in sizes):
        raise BadDescription(f"{str(given)[:100]} is no shape.")
    return tuple(sizes)


def _axis(given: Any) -> int:
    if not _is_whole_number(given) or not -32 <= given < 32:
        raise BadDescription(f"{str(given)[:50]} is no axis.")
    return int(given)


def _is_whole_number(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


def _checked_text(given: Any) -> str:
    if not isinstance(given, str) or len(given) > _LONGEST_NAME or writable_text(given) != given:
        raise BadDescription(f"a text of at most {_LONGEST_NAME} characters was expected, but got {str(given)[:50]!r}.")
    return given


def _mapping(given: Any) -> dict[str, Any]:
    return given if isinstance(given, dict) else {}


def _list(given: Any) -> list[Any]:
    if not isinstance(given, list) or len(given) > _MOST_LAYERS:
        raise BadDescription(f"a list was expected, but got {str(given)[:50]!r}.")
    return given
