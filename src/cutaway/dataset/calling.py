"""Calling somebody's function: whatever it does, the process goes on and the error names their file and line.

`sys.exit`, an exception of any kind and a fork are all taken here. Ending the process by force (`os._exit`, a signal)
cannot be.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from cutaway.errors import CutawayError, place_of

__all__ = ["Failed", "call_theirs", "defined_at", "own_name", "place_prefix"]


class Failed(Exception):
    """Somebody's function raised: `reason` in words, `place` in their file. Kept apart from our own errors."""

    def __init__(self, reason: str, place: str) -> None:
        super().__init__(reason)
        self.reason, self.place = reason, place


def call_theirs(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns; raises `Failed` for whatever it raises, but lets Ctrl-C through."""
    process = os.getpid()
    try:
        return function(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit and GeneratorExit too: a sample must not end the process
        raise Failed(_reason(error), place_of(error)) from error
    finally:
        if os.getpid() != process:
            # The function forked and both came back. The child must not go on with our work, nor run our exit handlers.
            os._exit(0)


def defined_at(function: Any) -> str:
    """Return file and line of a function's or a class's definition, or nothing where there is none.

    >>> defined_at(len)
    ''
    """
    plain = _unwrapped(function)
    code = getattr(plain, "__code__", None) or getattr(
        type(plain).__call__ if callable(plain) else None, "__code__", None
    )
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else ""


def place_prefix(function: Any) -> str:
    """Return what a message about a function begins with: where it is defined, if that is known."""
    place = defined_at(function)
    return f"{place}: " if place else ""


def own_name(function: Any) -> str:
    """Return what a function is called, for messages."""
    return str(getattr(_unwrapped(function), "__name__", None) or type(function).__name__)


def _unwrapped(function: Any) -> Any:
    while hasattr(function, "__wrapped__") or hasattr(function, "func"):
        function = function.__wrapped__ if hasattr(function, "__wrapped__") else function.func
    return function


def _reason(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"it called sys.exit({error.code!r}). Let it raise an exception instead."
    text = str(error)
    # Our own errors are whole sentences already; others' need the name of their class.
    if isinstance(error, CutawayError):
        return text
    return f"{type(error).__name__}: {text}" if text else f"{type(error).__name__}."
