"""What an analysis can be asked with: a frozen dataclass of typed fields, options of the command and of jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from cutaway.errors import ConfigurationError, did_you_mean

__all__ = ["NoOptions", "Option", "option", "options_of", "with_options"]

_KINDS: tuple[type, ...] = (str, int, float, bool)
_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


@dataclass(frozen=True)
class Option:
    """One option: its name, the type of its value or values, and what helps whoever gives it."""

    name: str
    kind: type
    several: bool
    default: Any
    help: str
    metavar: str
    flags: tuple[str, ...]
    least: int | None

    @property
    def flag(self) -> str:
        """Return how it is spelled in a command, such as `--balance-by`."""
        long = [one for one in self.flags if one.startswith("--")]
        return long[0].split("/")[0] if long else f"--{self.name.replace('_', '-')}"


@dataclass(frozen=True)
class NoOptions:
    """The options of an analysis that has none."""


def option(
    default: Any = None, *, help: str, metavar: str = "", flags: tuple[str, ...] = (), least: int | None = None
) -> Any:
    """Return a field of a dataclass of options: without a default None, or nothing given where it takes several.

    `flags` are its spellings in a command, where they are not its name; `least` is the least number that it takes.
    """
    about = {"help": help, "metavar": metavar, "flags": flags, "least": least}
    return field(default=default, metadata=about)


def options_of(kind: type) -> tuple[Option, ...]:
    """Return the options that a dataclass declares. Its fields are texts, numbers or truths, or tuples of them.

    >>> options_of(NoOptions)
    ()
    """
    hints = get_type_hints(kind)
    found = []
    for one in fields(kind):
        value, several = _value_type(hints[one.name])
        if value not in _KINDS or "help" not in one.metadata:
            raise ConfigurationError(
                f"`{kind.__name__}.{one.name}` must be a text, a number or a truth made by `option(...)`."
            )
        found.append(Option(one.name, value, several, one.default, **one.metadata))
    return tuple(found)


def with_options(analysis: str, kind: type, given: Mapping[str, Any]) -> Any:
    """Return the options of an analysis with the values that were given, each of the type that is declared."""
    known = {one.name: one for one in options_of(kind)}
    for name in given:
        if name not in known:
            there = f" It takes {', '.join(known)}." if known else " It takes none."
            near = did_you_mean(name, list(known))
            raise ConfigurationError(f"The analysis {analysis!r} has no option {name!r}.", hint=f"{near}{there}")
    return kind(**{name: _checked(known[name], value) for name, value in given.items()})


def _checked(option: Option, given: Any) -> Any:
    if given == option.default:
        return given
    if option.several:
        values = tuple(given) if isinstance(given, list | tuple) else (given,)
        return tuple(_checked_one(option, one) for one in values)
    return _checked_one(option, given)


def _checked_one(option: Option, given: Any) -> Any:
    value = float(given) if option.kind is float and type(given) is int else given
    if not isinstance(value, option.kind) or (isinstance(value, bool) and option.kind is not bool):
        raise ConfigurationError(f"`{option.name}` must be {_WORDS[option.kind]}, but got {given!r}.")
    if option.least is not None and isinstance(value, int | float) and value < option.least:
        raise ConfigurationError(f"`{option.name} >= {option.least}` must hold, but got {given!r}.")
    return value


def _value_type(hint: Any) -> tuple[Any, bool]:
    """Return the type of a value, None aside, and whether several are taken: `tuple[str, ...]`."""
    if get_origin(hint) in (Union, UnionType):
        hint = next((one for one in get_args(hint) if one is not type(None)), hint)
    if get_origin(hint) is tuple:
        return get_args(hint)[0], True
    return hint, False
