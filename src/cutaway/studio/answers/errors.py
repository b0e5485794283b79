"""What went wrong, as it travels: one shape for every error, with a word for programs and what to do next.

Knows which status each error of the tree has. No stack and no path of the server leaves through here; what nobody
foresaw is logged with the id of its request, and the answer holds that id alone.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cutaway import errors
from cutaway.errors import CutawayError
from cutaway.studio.wire.base import ErrorAnswer

__all__ = ["NothingUnforeseen", "Refusal", "answer_errors", "presentable", "refuse", "request_id"]

_logger = logging.getLogger("cutaway.studio")

# A message may quote what was sent; nobody gets a megabyte of it back.
MOST_CHARACTERS = 1000

# The first that an error is an instance of decides.
_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (errors.RunNotFound, 404),
    (errors.ModelNotFound, 404),
    (errors.LayerUnavailable, 404),
    (errors.AnalysisUnavailable, 404),
    (errors.TensorUnavailable, 404),
    (errors.TensorUnavailableForStep, 404),
    (errors.ShapeUnavailableForStep, 404),
    (errors.StepUnavailable, 404),
    (errors.StepNotYetAvailable, 404),
    (errors.NoMoreData, 404),
    (errors.MissingCollectionFiles, 404),
    (errors.RunLocked, 409),
    (errors.RunExists, 409),
    (errors.StorageError, 503),
    (errors.MissingExtraError, 501),
    (errors.ConfigurationError, 400),
    (errors.InvalidWorker, 400),
    (CutawayError, 422),
)

_NOT_FOUND = "`GET api/openapi.json` lists every route."
_STANDARD = {
    400: ("bad-request", "The request cannot be read.", "Send JSON in UTF-8, as `api/openapi.json` says."),
    404: ("not-found", "There is nothing at this address.", _NOT_FOUND),
    405: ("method-not-allowed", "This address does not take that method.", _NOT_FOUND),
}
# A path of the server: from a slash that begins a word. Routes of the API are no secret.
_PATH = re.compile(r"(?<![\w.:/~-])/(?!api/)(?:[^\s'\"`:,;()<>/]+/)+([^\s'\"`:,;()<>/]*)")


class Refusal(Exception):
    """A request that is not answered, and why; raised by handlers, sent as it is by guards."""

    def __init__(self, status: int, code: str, error: str, hint: str = "") -> None:
        super().__init__(error)
        self.status, self.code, self.error, self.hint = status, code, error, hint

    def response(self, scope: Scope) -> JSONResponse:
        """Return this as an answer."""
        answer = ErrorAnswer(
            error=presentable(self.error),
            code=self.code,
            hint=presentable(self.hint),
            status=self.status,
            request=request_id(scope),
        )
        headers = {"Retry-After": "5"} if self.status in (429, 503) else None
        return JSONResponse(answer.model_dump(), status_code=self.status, headers=headers)


def request_id(scope: Scope) -> str:
    """Return the id that this request was given when it came in."""
    return str(scope.get("state", {}).get("request_id", ""))


async def refuse(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with a refusal; a WebSocket, which can hold none, is closed before it opens."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    await refusal.response(scope)(scope, receive, send)


def answer_errors(app: FastAPI) -> None:
    """Give an application the one shape for what its handlers, its routing and its validation raise."""
    for kind, translate in _TRANSLATIONS:
        app.add_exception_handler(kind, _handler(translate))


class NothingUnforeseen:
    """Turns what nobody foresaw into words: logged whole with the request's id, answered with the id alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and answer for whatever fails."""
        began = False

        async def remembered(message: Message) -> None:
            nonlocal began
            began = True
            await send(message)

        try:
            await self._app(scope, receive, remembered)
        except Exception:
            # The path without its query: people paste secrets into queries.
            _logger.exception("Request %s (%s %s) failed.", request_id(scope), scope.get("method"), scope.get("path"))
            if began or scope["type"] != "http":
                return
            refusal = Refusal(500, "internal-error", "The studio failed at this.", _REPORT)
            await refuse(refusal, scope, receive, send)


_REPORT = "This is a fault in Cutaway; what `cutaway studio` printed has the reason beside this request's id."


def _handler(translate: Callable[[Any], Refusal]) -> Callable[[Request, Exception], Awaitable[JSONResponse]]:
    async def handle(request: Request, error: Exception) -> JSONResponse:
        return translate(error).response(request.scope)

    return handle


def _of_tree(error: CutawayError) -> Refusal:
    status = next(status for kind, status in _STATUS if isinstance(error, kind))
    words = re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__).lower()
    return Refusal(status, words, *error.without_folders())


def _of_validation(error: RequestValidationError) -> Refusal:
    first = error.errors()[0]
    place, *rest = [str(part) for part in first["loc"]] or ["request"]
    field = ".".join(rest)
    reason = str(first["msg"])
    named = f"`{field[:100]}` in the {place}" if field else f"The {place}"
    return Refusal(400, "invalid-request", f"{named}: {reason[:300]}.", "`GET api/openapi.json` says what it takes.")


def _of_http(error: HTTPException) -> Refusal:
    code, said, hint = _STANDARD.get(error.status_code, ("refused", "The request is refused.", _NOT_FOUND))
    return Refusal(error.status_code, code, said, hint)


def _of_system(error: OSError) -> Refusal:
    _logger.warning("Reading failed: %s", error)
    reason = error.strerror or type(error).__name__
    hint = "Ask again; where it stays so, look at the folder on the machine that serves this page."
    if isinstance(error, FileNotFoundError):
        return Refusal(404, "gone", "A file of this run is gone; it may have been removed just now.", hint)
    return Refusal(503, "storage-error", f"A file of this run cannot be read: {reason}.", hint)


_TRANSLATIONS: tuple[tuple[type[Exception], Callable[[Any], Refusal]], ...] = (
    (Refusal, lambda refusal: refusal),
    (CutawayError, _of_tree),
    (RequestValidationError, _of_validation),
    (HTTPException, _of_http),
    (OSError, _of_system),
)


def presentable(text: str) -> str:
    """Cut a message to a bearable length, and the server's paths in it to their last part."""
    shown = _PATH.sub(r"\1", text[: 2 * MOST_CHARACTERS].replace("\0", "\\0"))
    return shown if len(shown) <= MOST_CHARACTERS else f"{shown[:MOST_CHARACTERS]} ..."
