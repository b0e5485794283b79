"""Libraries that come with the extra `analysis`, imported where they are needed: no page waits for them before."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from cutaway.errors import MissingExtraError

__all__ = ["library"]


def library(name: str, what: str) -> Any:
    """Return a module by its name. Raises `MissingExtraError` for `what` where it is not installed.

    >>> library("math", "A root").sqrt(4.0)
    2.0
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError(what, "analysis") from error
