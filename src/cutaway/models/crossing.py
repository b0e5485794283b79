"""Descriptions, questions and errors as JSON, and back. What comes from a model's process is checked, never believed.

An error becomes one of `cutaway.errors` again, or `ModelError`; no class is imported because its name was sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from cutaway import errors
from cutaway.arrays import Array
from cutaway.errors import CutawayError, ModelError
from cutaway.models.backend import Arrays, Question
from cutaway.models.description import Layer, ModelDescription, SavedTraining, TensorSpec
from cutaway.models.shared_arrays import DTYPES

__all__ = [
    "BadDescription",
    "description_from",
    "description_to",
    "error_from",
    "error_to",
    "question_from",
    "question_to",
]

_LONGEST_MESSAGE = 8_000
_LONGEST_FIELD = 4_000
_LONGEST_NAME = 4_096
_MOST_LAYERS = 1_000_000


class BadDescription(Exception):
    """A description that cannot be right; the message says what of it."""


def description_to(description: ModelDescription) -> dict[str, Any]:
    """Return a description as plain values."""
    return asdict(description)


def description_from(given: Any) -> ModelDescription:
    """Return a description of plain values that another process sent. Raises `BadDescription`."""
    if not isinstance(given, dict):
        raise BadDescription("no description came.")
    training, about = _mapping(given.get("training")), _mapping(given.get("about"))
    latent = given.get("latent_layer")
    return ModelDescription(
        format=_text(given.get("format")),
        inputs=tuple(_spec(one) for one in _list(given.get("inputs"))),
        outputs=tuple(_spec(one) for one in _list(given.get("outputs"))),
        layers=tuple(_layer(one) for one in _list(given.get("layers"))),
        latent_layer=None if latent is None else _text(latent),
        training=SavedTraining(
            training.get("loss"),
            training.get("optimizer"),
            tuple(_text(one) for one in _list(training.get("metrics", []))),
        ),
        differentiable=_text(given.get("differentiable", "")),
        notes=tuple(_text(one) for one in _list(given.get("notes", []))),
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


def error_to(error: BaseException) -> dict[str, Any]:
    """Return an error as its class's name, its message, and those of its fields that are plain values."""
    ours = isinstance(error, CutawayError)
    message = str(error) if ours else f"{type(error).__name__}: {error}"
    plain = {
        name: value
        for name, value in vars(error).items()
        if isinstance(value, str | int | float | None) and len(str(value)) <= _LONGEST_FIELD
    }
    return {
        "class": type(error).__name__ if ours else "",
        "message": message[:_LONGEST_MESSAGE],
        "fields": plain if ours else {},
    }


def error_from(given: Any) -> CutawayError:
    """Return the error that another process met, as the class of ours that it was, or as `ModelError`."""
    if not isinstance(given, dict):
        return ModelError("The model's process failed and did not say how.")
    kind, known = given.get("class"), given.get("fields")
    message = _writable(str(given.get("message"))[:_LONGEST_MESSAGE])
    found = getattr(errors, kind) if isinstance(kind, str) and kind in errors.__all__ else None
    if not (isinstance(found, type) and issubclass(found, CutawayError)):
        return ModelError(message)
    # Their constructors make the message; here it is there already.
    error = found.__new__(found)
    error.args = (message,)
    for name, value in (known if isinstance(known, dict) else {}).items():
        # Nothing of the exception itself: `args`, `add_note`, `__cause__`.
        if name.isidentifier() and not hasattr(Exception, name) and isinstance(value, str | int | float | None):
            setattr(error, name, _writable(value) if isinstance(value, str) else value)
    return error


def _spec(given: Any) -> TensorSpec:
    if not isinstance(given, dict):
        raise BadDescription("an input or output is no mapping.")
    dtype = _text(given.get("dtype"))
    # Empty where the model does not tell.
    if dtype not in DTYPES and dtype not in ("", "str", "object"):
        raise BadDescription(f"there is no dtype {dtype[:50]!r}.")
    axis = given.get("channel_axis")
    shape = _shape(given.get("shape"))
    return TensorSpec(_text(given.get("name")), shape, dtype, None if axis is None else _axis(axis))


def _layer(given: Any) -> Layer:
    if not isinstance(given, dict) or set(given) != {field.name for field in fields(Layer)}:
        raise BadDescription("a layer is not described by its name, kind, shape and channel axis.")
    shape = given["shape"]
    kind = _text(given["kind"])
    return Layer(_text(given["name"]), kind, None if shape is None else _shape(shape), _axis(given["channel_axis"]))


def _shape(given: Any) -> tuple[int | None, ...]:
    sizes = _list(given)
    if len(sizes) > 32 or not all(one is None or (_whole(one) and 0 <= one < 2**62) for one in sizes):
        raise BadDescription(f"{str(given)[:100]} is no shape.")
    return tuple(sizes)


def _axis(given: Any) -> int:
    if not _whole(given) or not -32 <= given < 32:
        raise BadDescription(f"{str(given)[:50]} is no axis.")
    return int(given)


def _whole(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


def _text(given: Any) -> str:
    if not isinstance(given, str) or len(given) > _LONGEST_NAME or _writable(given) != given:
        raise BadDescription(f"a text of at most {_LONGEST_NAME} characters was expected, but got {str(given)[:50]!r}.")
    return given


def _writable(text: str) -> str:
    """A text without halves of characters, which JSON lets through and no file takes."""
    return text.encode("utf-8", "replace").decode()


def _mapping(given: Any) -> dict[str, Any]:
    return given if isinstance(given, dict) else {}


def _list(given: Any) -> list[Any]:
    if not isinstance(given, list) or len(given) > _MOST_LAYERS:
        raise BadDescription(f"a list was expected, but got {str(given)[:50]!r}.")
    return given
