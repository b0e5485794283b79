"""Arguments of rules, which may come as texts from a command line: read, checked, refused with a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable

from cutaway.errors import ConfigurationError
from cutaway.tensors.patterns import compile_pattern

__all__ = ["flag", "number", "pattern", "whole", "words"]

_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def number(
    value: float | str, name: str, *, above: float = -math.inf, least: float = -math.inf, most: float = math.inf
) -> float:
    """Return a number within bounds.

    >>> number("1e-7", "threshold", above=0)
    1e-07
    """
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise ConfigurationError(f"`{name}` must be a number, but got {name}={value!r}.") from None
    if not (found > above and found >= least and found <= most) or math.isnan(found):
        bounds = [f"> {above:g}"] if above > -math.inf else []
        bounds += [f">= {least:g}"] if least > -math.inf else []
        bounds += [f"<= {most:g}"] if most < math.inf else []
        raise ConfigurationError(f"`{name} {' and '.join(bounds)}` must hold, but got {name}={value!r}.")
    return found


def whole(value: int | str, name: str, *, least: int = 0) -> int:
    """Return a whole number that is large enough.

    >>> whole("10", "num_steps", least=1)
    10
    """
    try:
        found = int(value)
    except (TypeError, ValueError):
        raise ConfigurationError(f"`{name}` must be a whole number, but got {name}={value!r}.") from None
    if found < least or (isinstance(value, float) and value != found):
        raise ConfigurationError(f"`{name} >= {least}` must hold, but got {name}={value!r}.")
    return found


def flag(value: bool | str, name: str) -> bool:  # noqa: FBT001 - the value itself
    """Return a truth value.

    >>> flag("true", "only_nan"), flag("0", "only_nan")
    (True, False)
    """
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text not in _YES + _NO:
        raise ConfigurationError(f"`{name}` must be true or false, but got {name}={value!r}.")
    return text in _YES


def words(value: Iterable[str] | str | None, name: str) -> tuple[str, ...]:
    """Return names that come as a list, or as one text with commas.

    >>> words("weights, gradients", "collection_names")
    ('weights', 'gradients')
    """
    if value is None:
        return ()
    listed = value.split(",") if isinstance(value, str) else list(value)
    if not all(isinstance(one, str) for one in listed):
        raise ConfigurationError(f"`{name}` must be names, but got {name}={value!r}.")
    return tuple(one.strip() for one in listed if one.strip())


def pattern(value: str | None, name: str) -> str | None:
    """Return a regular expression that compiles, or None."""
    if value is None or value == "":
        return None
    compile_pattern(value, name)
    return value
