"""Regular expressions that users write for tensor names, checked where they are given."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cutaway.errors import ConfigurationError

__all__ = ["compile_pattern", "texts"]


def compile_pattern(text: str, argument: str) -> re.Pattern[str]:
    """Compile one pattern; a bad one is refused with its text, the reason and the place in it."""
    if not isinstance(text, str):
        raise ConfigurationError(f"`{argument}` takes regular expressions as strings, but got {text!r}.")
    try:
        return re.compile(text)
    except re.error as error:
        place = "" if error.pos is None else f" at character {error.pos}"
        raise ConfigurationError(
            f"`{argument}` must be a valid regular expression, but got {text!r}: {error.msg}{place}.",
            hint="Write `re.escape(name)` to match a name as it stands.",
        ) from error


def texts(value: str | Iterable[str] | None, argument: str) -> tuple[str, ...]:
    """Return one string, several strings or None as a tuple of strings."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable):
        raise ConfigurationError(f"`{argument}` takes a string or a list of strings, but got {value!r}.")
    items = tuple(value)
    for item in items:
        if not isinstance(item, str):
            raise ConfigurationError(f"`{argument}` takes strings, but got {item!r} among them.")
    return items
