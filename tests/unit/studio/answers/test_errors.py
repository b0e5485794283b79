"""One shape for everything that goes wrong, with the right status, and without anything of the server's in it."""

import inspect
import logging
from typing import Annotated

import pytest
from fastapi import FastAPI, Query
from fastapi.testclient import TestClient

from cutaway import errors
from cutaway.errors import CutawayError
from cutaway.studio.answers.errors import NothingUnforeseen, Refusal, answer_errors
from cutaway.studio.guards.headers import SafeHeaders

SHAPE = {"ok", "error", "code", "hint", "status", "request"}
TREE = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, CutawayError)]


def asked(error: Exception | None = None, path: str = "/fails", method: str = "GET") -> tuple[int, dict[str, object]]:
    app = FastAPI(docs_url=None, redoc_url=None)

    @app.get("/fails")
    def fails() -> None:
        if error is not None:
            raise error

    @app.get("/takes")
    def takes(
        limit: Annotated[int, Query(ge=1, le=1000)] = 1,
        name: Annotated[str, Query(max_length=3)] = "",
        share: Annotated[float, Query(allow_inf_nan=False)] = 0.5,
    ) -> None: ...

    answer_errors(app)
    app.add_middleware(NothingUnforeseen)
    app.add_middleware(SafeHeaders)
    answer = TestClient(app, raise_server_exceptions=False).request(method, path)
    content = answer.json()
    assert set(content) == SHAPE
    assert content["ok"] is False
    assert content["status"] == answer.status_code
    assert content["request"] == answer.headers["x-request-id"]
    return answer.status_code, content


@pytest.mark.parametrize("kind", TREE, ids=lambda kind: kind.__name__)
def test_every_error_of_the_tree_has_a_status_below_500_or_says_what_is_missing(kind: type[CutawayError]) -> None:
    error = kind.__new__(kind)
    error.message, error.hint = "It happened.", "Do this next."
    status, content = asked(error)
    assert 400 <= status < 500 or status in (501, 503)
    assert content["error"] == "It happened."
    assert content["hint"] == "Do this next."
    assert str(content["code"]) == str(content["code"]).lower()
    assert " " not in str(content["code"])


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.RunNotFound("x", "runs"), 404, "run-not-found"),
        (errors.TensorUnavailable("x"), 404, "tensor-unavailable"),
        (errors.TensorUnavailableForStep("x", 1), 404, "tensor-unavailable-for-step"),
        (errors.RunLocked("x", "train", "worker_0", "y"), 409, "run-locked"),
        (errors.ConfigurationError("x"), 400, "configuration-error"),
        (errors.MissingExtraError("x", "y"), 501, "missing-extra-error"),
        (errors.StorageError("x"), 503, "storage-error"),
        (errors.RunDamaged("scalars/a", 3, "x"), 422, "run-damaged"),
        (FileNotFoundError(2, "No such file", "/srv/secret"), 404, "gone"),
        (PermissionError(13, "Permission denied", "/srv/secret"), 503, "storage-error"),
        (Refusal(418, "teapot", "Short.", "Stout."), 418, "teapot"),
    ],
)
def test_an_error_has_its_status_and_word(error: Exception, status: int, code: str) -> None:
    found, content = asked(error)
    assert (found, content["code"]) == (status, code)
    assert "/srv" not in str(content)


def test_what_nobody_foresaw_is_logged_with_its_id_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        status, content = asked(ZeroDivisionError("secret in /srv/people"), "/fails?token=abc")
    assert (status, content["code"]) == (500, "internal-error")
    assert "secret" not in str(content)
    assert "Traceback" not in str(content)
    assert str(content["request"]) in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert "token=abc" not in caplog.text


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=-1", "limit"),
        ("limit=1e3000", "limit"),
        ("limit=" + "9" * 5000, "limit"),
        ("limit=NaN", "limit"),
        ("limit=", "limit"),
        ("name=long", "name"),
        ("share=NaN", "share"),
        ("share=inf", "share"),
        ("share=1e999", "share"),
    ],
)
def test_a_wrong_value_is_400_and_its_field_is_named(query: str, field: str) -> None:
    status, content = asked(path=f"/takes?{query}")
    assert (status, content["code"]) == (400, "invalid-request")
    assert f"`{field}` in the query" in str(content["error"])
    assert len(str(content)) < 1000


def test_an_unknown_address_and_a_wrong_method_have_the_same_shape() -> None:
    assert asked(path="/nowhere")[0] == 404
    assert asked(path="/fails", method="POST")[0] == 405


def test_a_message_is_cut_and_shows_no_path_of_the_server() -> None:
    place = "/srv/people/ann/runs/mnist"
    hint = f"See /api/runs, or 1/2 of a/b. {'x' * 5000}"
    error = errors.ConfigurationError(f"No run in {place!r}.", hint=hint, path=place)
    _, content = asked(error)
    assert "/srv" not in str(content)
    assert "'mnist'" in str(content["error"])
    assert "See /api/runs, or 1/2 of a/b." in str(content["hint"])
    assert len(str(content["hint"])) < 1100
