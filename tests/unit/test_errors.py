"""Every error keeps its message, its hint and its path as fields, wherever it goes."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from cutaway import errors
from cutaway.cli.output import error_object, print_error
from cutaway.engine.crossing_errors import error_from, error_to
from cutaway.errors import ConfigurationError, CutawayError, ModelNotFound, RunDamaged, RunNotFound, UnsafeModel
from cutaway.studio.answers.errors import answer_errors

ALL = [getattr(errors, name) for name in errors.__all__ if isinstance(getattr(errors, name), type)]
PATH = "/srv/secret/place.parquet"


def made(kind: type[CutawayError]) -> CutawayError:
    """Make one of a class, each of its arguments of the kind that its annotation says."""
    values: dict[str, Any] = {"int": 3, "float": 2.5, "bool": False, "Sequence[str]": ["abc"]}
    given = {}
    for name, parameter in inspect.signature(kind).parameters.items():
        if name == "path":
            given[name] = PATH
        elif name == "hint":
            given[name] = "Do that instead."
        else:
            given[name] = values.get(parameter.annotation, f"some {name}")
    return kind(**given)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "carried",
    [
        lambda error: pickle.loads(pickle.dumps(error)),
        copy.copy,
        lambda error: error_from(json.loads(json.dumps(error_to(error)))),
    ],
    ids=["pickled", "copied", "crossed"],
)
def test_an_error_is_the_same_after_it_was_carried(
    kind: type[CutawayError], carried: Callable[[CutawayError], CutawayError]
) -> None:
    error = made(kind)
    again = carried(error)
    assert type(again) is kind
    assert (again.message, again.hint, again.path, str(again)) == (error.message, error.hint, error.path, str(error))


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_the_command_shows_message_and_hint_whole_and_the_server_no_folder(
    kind: type[CutawayError], capsys: pytest.CaptureFixture[str]
) -> None:
    error = made(kind)
    assert str(error) == f"{error.message} {error.hint}".strip()
    assert error_object(error.message, error.hint, "x", 2)["hint"] == error.hint
    print_error(error.message, error.hint)
    shown = capsys.readouterr().err
    assert [line for line in shown.splitlines() if line] == [
        f"Error: {error.message}",
        *([error.hint] * bool(error.hint)),
    ]
    assert "/srv/secret" not in " ".join(error.without_folders())


def test_a_route_answers_with_the_fields() -> None:
    from fastapi import FastAPI

    app = FastAPI()
    answer_errors(app)

    @app.get("/bad")
    def bad() -> None:
        raise UnsafeModel(PATH, "it runs code.", hint="Load it with `trust=True`.")

    answer = TestClient(app).get("/bad").json()
    assert (answer["error"], answer["hint"]) == (
        "'place.parquet' is refused: it runs code.",
        "Load it with `trust=True`.",
    )


def test_a_full_sentence_is_message_and_hint() -> None:
    assert str(ConfigurationError("`a` is odd.")) == "`a` is odd."
    assert str(ConfigurationError("`a` is odd.", hint=" Did you mean 'b'?")) == "`a` is odd. Did you mean 'b'?"
    assert str(RunNotFound("x", "runs")) == "No run 'x' in runs. `cutaway runs list` shows the runs there are."
    assert ModelNotFound("m.onnx").path == "m.onnx"
    assert RunDamaged("t/x.arrow", 5, "cut").hint == "The rest of the run still reads."
    assert UnsafeModel("m", "why.", hint="What.").reason == "why. What."
