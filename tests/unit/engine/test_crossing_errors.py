"""Errors that cross from another process: the same again, and nothing believed."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from cutaway import errors
from cutaway.engine.crossing_errors import error_from, error_to
from cutaway.errors import CutawayError, LayerUnavailable, ModelError, UnsafeModel


def crossed(message: Any) -> Any:
    return json.loads(json.dumps(message, default=str))


ALL = [getattr(errors, name) for name in errors.__all__ if isinstance(getattr(errors, name), type)]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_error_of_ours_keeps_its_class_and_message(kind: type[CutawayError]) -> None:
    error = kind.__new__(kind)
    error.message, error.hint, error.path = "what happened in /a/b.", "Do this.", "/a/b"
    again = error_from(crossed(error_to(error)))
    assert type(again) is kind
    assert str(again) == "what happened in /a/b. Do this."
    assert (again.message, again.hint, again.path) == (error.message, error.hint, error.path)
    assert again.without_folders() == ("what happened in b.", "Do this.")


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
    assert (str(error), error.reason) == ("m", "kept")
    assert vars(error) == {"message": "m", "hint": "", "reason": "kept"}
    assert str(error_from("text")) == "The model's process failed and did not say how."
    assert len(str(error_from({"message": "x" * 100_000}))) <= 8_000
