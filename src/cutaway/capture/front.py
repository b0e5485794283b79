"""For a framework whose users know a hook by a class of its own: that class is a front, with an `AdaptedHook` inside as
its `adapted`.

What all hooks can do a front forwards, a line for each; signatures and descriptions are the `AdaptedHook`'s.

    class Hook:
        set_mode = forwarded(AdaptedHook.set_mode)
        step = forwarded_property(AdaptedHook.step)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from cutaway.capture.hook import AdaptedHook

__all__ = ["forwarded", "forwarded_property"]

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def forwarded(
    method: Callable[Concatenate[AdaptedHook, Parameters], Returned],
) -> Callable[Concatenate[Any, Parameters], Returned]:
    """Return a method of a front that calls this one of the hook inside."""

    @wraps(method)
    def call(self: Any, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        return method(self.adapted, *args, **kwargs)

    return call


def forwarded_property(read: Callable[[AdaptedHook], Returned]) -> Returned:
    """Return a property of a front that reads this one of the hook inside; type checkers see what it returns."""
    inside = cast(Callable[[AdaptedHook], Returned], cast(property, read).fget)

    @wraps(inside)
    def value(self: Any) -> Returned:
        return inside(self.adapted)

    return cast(Returned, property(value))
