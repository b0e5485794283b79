"""Arguments of rules, which may come as texts from a command line: read, checked, refused with a sentence.

A rule that is a dataclass declares them as fields, with their defaults and bounds: `threshold: Number = Number(0.1,
above=0)`. What is given is read when the rule is made, and kept under the name of the field.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Generic, TypeVar, overload

from cutaway.errors import ConfigurationError
from cutaway.tensors.settings import compile_pattern

__all__ = [
    "Flag",
    "Number",
    "OptionalNumber",
    "OptionalWhole",
    "Pattern",
    "PatternOrDefault",
    "Whole",
    "Words",
    "flag",
    "number",
    "pattern",
    "whole",
    "words",
]

Given = TypeVar("Given")
Kept = TypeVar("Kept")

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


class Argument(Generic[Given, Kept]):
    """A field of a rule: its default, and how what is given is read."""

    def __init__(self, default: Given, read: Callable[[Given, str], Kept]) -> None:
        self._default, self._read = default, read

    def __set_name__(self, rule: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, rule: None, kind: type) -> Given: ...

    @overload
    def __get__(self, rule: object, kind: type) -> Kept: ...

    def __get__(self, rule: object | None, kind: type) -> Given | Kept:
        if rule is None:
            return self._default
        kept: Kept = rule.__dict__[self._name]
        return kept

    def __set__(self, rule: object, value: Given) -> None:
        rule.__dict__[self._name] = self._read(value, self._name)


class Number(Argument[float | str, float]):
    """A number within bounds."""

    def __init__(
        self, default: float, *, above: float = -math.inf, least: float = -math.inf, most: float = math.inf
    ) -> None:
        super().__init__(default, partial(number, above=above, least=least, most=most))


class OptionalNumber(Argument[float | str | None, float | None]):
    """A number that is large enough, or None."""

    def __init__(self, *, least: float) -> None:
        super().__init__(None, lambda value, name: None if value is None else number(value, name, least=least))


class Whole(Argument[int | str, int]):
    """A whole number that is large enough."""

    def __init__(self, default: int, *, least: int = 0) -> None:
        super().__init__(default, partial(whole, least=least))


class OptionalWhole(Argument[int | str | None, int | None]):
    """A whole number that is large enough, or None."""

    def __init__(self, *, least: int) -> None:
        super().__init__(None, lambda value, name: None if value is None else whole(value, name, least=least))


class Flag(Argument[bool | str, bool]):
    """A truth value."""

    def __init__(self, *, default: bool) -> None:
        super().__init__(default, flag)


class Words(Argument[Iterable[str] | str | None, tuple[str, ...]]):
    """Names, as a list or as one text with commas."""

    def __init__(self, default: str | None = None) -> None:
        super().__init__(default, words)


class Pattern(Argument[str | None, str | None]):
    """A regular expression, or None."""

    def __init__(self, default: str | None = None) -> None:
        super().__init__(default, pattern)


class PatternOrDefault(Argument[str | None, str]):
    """A regular expression; the default where there is none."""

    def __init__(self, default: str) -> None:
        super().__init__(default, lambda value, name: pattern(value, name) or default)
