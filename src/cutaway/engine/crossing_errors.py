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
    message = writable_text(str(given.get("message"))[:_LONGEST_MESSAGE])
    found = getattr(errors, kind) if isinstance(kind, str) and kind in errors.__all__ else None
    if not (isinstance(found, type) and issubclass(found, CutawayError)):
        return ModelError(message)
    # Their constructors make the message; here it is there already.
    error = found.__new__(found)
    error.args = (message,)
    for name, value in (known if isinstance(known, dict) else {}).items():
        # Nothing of the exception itself: `args`, `add_note`, `__cause__`.
        if name.isidentifier() and not hasattr(Exception, name) and isinstance(value, str | int | float | None):
            setattr(error, name, writable_text(value) if isinstance(value, str) else value)
    return error


def writable_text(text: str) -> str:
    """A text without halves of characters, which JSON lets through and no file takes."""
    return text.encode("utf-8", "replace").decode()
