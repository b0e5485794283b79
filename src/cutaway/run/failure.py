"""The exception that ended a training, as its lease tells it: for whoever was not there when it was printed."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any, NamedTuple

from cutaway.run.plain_text import plain_text

__all__ = ["TrainingFailure"]

MOST_HEADLINE, MOST_MESSAGE = 200, 2_000
# The end of a traceback is where the error is: of a longer one the beginning is left out.
MOST_TRACEBACK = 20_000


class TrainingFailure(NamedTuple):
    """An exception: its type, what it said, and the whole traceback as Python prints it."""

    type: str
    message: str
    traceback: str

    @classmethod
    def of(cls, error: BaseException) -> TrainingFailure:
        """Describe an exception that was raised."""
        kind = type(error)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        try:
            message = str(error)
        except Exception:  # noqa: BLE001 - an exception of somebody else, whose words may fail
            message = ""
        whole = "".join(traceback.format_exception(error))
        cut = whole if len(whole) <= MOST_TRACEBACK else f"…\n{whole[-MOST_TRACEBACK:]}"
        return cls(name, plain_text(message, MOST_MESSAGE, lines=True), plain_text(cut, MOST_TRACEBACK + 2, lines=True))

    @classmethod
    def in_lease(cls, lease: Mapping[str, Any]) -> TrainingFailure | None:
        """Return what a lease tells of the exception that ended its writer; None where there was none."""
        told = lease.get("error")
        parts = [told.get(name) for name in cls._fields] if isinstance(told, dict) else []
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) != len(cls._fields):
            return None
        limits = (MOST_MESSAGE, MOST_MESSAGE, MOST_TRACEBACK + 2)
        return cls(*(plain_text(text, most, lines=True) for text, most in zip(texts, limits, strict=True)))

    @property
    def headline(self) -> str:
        """The type and the beginning of what it said: `ValueError: no such thing`."""
        return plain_text(f"{self.type}: {self.message.splitlines()[0]}" if self.message else self.type, MOST_HEADLINE)
