"""The current binder: what `leap_binder` and the decorators mean at this point of the program.

While an entry file is executed, and while one of its functions is called, that is the entry's own binder; elsewhere
it is one of the process. A binder that somebody made themselves is used by calling its own methods, or with `using`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutaway.dataset.binder import Binder

__all__ = ["current_binder", "inside", "using"]

_active: ContextVar[Binder | None] = ContextVar("cutaway_binder", default=None)


class _Process:
    """The binder of the process, made when it is first asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._binder: Binder | None = None

    def binder(self) -> Binder:
        from cutaway.dataset.binder import Binder  # the binder's own modules use this one

        with self._lock:
            if self._binder is None:
                self._binder = Binder()
            return self._binder


_process = _Process()


def current_binder() -> Binder:
    """Return the binder that `leap_binder` means here."""
    active = _active.get()
    return active if active is not None else _process.binder()


class using:  # noqa: N801  # reads as what it does: `with using(binder):`
    """Make a binder the current one inside the block, in this thread."""

    # A class, because it is entered once for each value of each sample, and a generator takes three times as long.
    def __init__(self, binder: Binder) -> None:
        self._binder = binder

    def __enter__(self) -> Binder:
        self._token = _active.set(self._binder)
        return self._binder

    def __exit__(self, *_: object) -> None:
        _active.reset(self._token)


def inside(binder: Binder, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function so that the binder is the current one whenever it is called, by whomever."""

    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        token = _active.set(binder)
        try:
            return function(*arguments, **named)
        finally:
            _active.reset(token)

    return called
