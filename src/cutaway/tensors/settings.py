"""What all settings of a hook share: they travel as JSON, unknown names are refused, and patterns are checked."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

from cutaway.errors import ConfigurationError, did_you_mean

__all__ = ["JsonSettings", "compile_pattern", "refuse_unknown", "texts"]


class JsonSettings(ABC):
    """Settings that can be written as a JSON text and read back."""

    _what: ClassVar[str]

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """Return the settings as JSON values; `parse` reads them back."""

    @classmethod
    @abstractmethod
    def parse(cls, value: Any) -> Self:
        """Return the settings from whatever users write for them."""

    def to_json(self) -> str:
        """Return the configuration as a JSON text."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote."""
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            raise ConfigurationError(f"A {cls._what} must be JSON, but got {text!r}: {error}.") from error
        return cls.parse(value)


def refuse_unknown(given: Iterable[object], known: Sequence[str], where: str) -> None:
    """Refuse a setting that there is not, with the nearest that there is."""
    for key in given:
        if key not in known:
            raise ConfigurationError(f"{where} has no setting {key!r}.", hint=did_you_mean(str(key), known))


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
