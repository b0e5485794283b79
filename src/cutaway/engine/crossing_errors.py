"""Errors as JSON, and back. What comes from a child is checked, never believed.

An error becomes one of `cutaway.errors` again, or `ModelError`; no class is imported because its name was sent.
"""

from __future__ import annotations

from typing import Any

from cutaway import errors
from cutaway.errors import CutawayError, ModelError

__all__ = ["error_from", "error_to", "writable_text"]

_LONGEST_MESSAGE = 8_000
_LONGEST_FIELD = 4_000
_OWN_FIELDS = ("message", "hint")


def error_to(error: BaseException) -> dict[str, Any]:
    """Return an error as its class's name, its message and hint, and those of its fields that are plain values."""
    ours = isinstance(error, CutawayError)
    message, hint = f"{type(error).__name__}: {error}", ""
    if isinstance(error, CutawayError):
        message, hint = error.message, error.hint
    plain = {
        name: value
        for name, value in vars(error).items()
        if name not in _OWN_FIELDS and isinstance(value, str | int | float | None) and len(str(value)) <= _LONGEST_FIELD
    }
    return {
        "class": type(error).__name__ if ours else "",
        "message": message[:_LONGEST_MESSAGE],
        "hint": hint[:_LONGEST_MESSAGE],
        "fields": plain if ours else {},
    }


def error_from(given: Any) -> CutawayError:
    """Return the error that another process met, as the class of ours that it was, or as `ModelError`."""
    if not isinstance(given, dict):
        return ModelError("The model's process failed and did not say how.")
    kind, known = given.get("class"), given.get("fields")
    message = _text_of(given, "message")
    found = getattr(errors, kind) if isinstance(kind, str) and kind in errors.__all__ else None
    if not (isinstance(found, type) and issubclass(found, CutawayError)):
        return ModelError(message, hint=_text_of(given, "hint"))
    # Their constructors make the message; here it is there already.
    error = found.__new__(found)
    error.message, error.hint = message, _text_of(given, "hint")
    error.args = (str(error),)
    for name, value in (known if isinstance(known, dict) else {}).items():
        # Nothing of the exception itself: `args`, `add_note`, `__cause__`.
        plain = isinstance(value, str | int | float | None)
        if name.isidentifier() and name not in _OWN_FIELDS and not hasattr(Exception, name) and plain:
            setattr(error, name, writable_text(value) if isinstance(value, str) else value)
    return error


def _text_of(given: dict[str, Any], name: str) -> str:
    return writable_text(str(given.get(name, ""))[:_LONGEST_MESSAGE])


def writable_text(text: str) -> str:
    """A text without halves of characters, which JSON lets through and no file takes."""
    return text.encode("utf-8", "replace").decode()
