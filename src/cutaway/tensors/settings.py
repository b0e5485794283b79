"""What all settings of a hook share: they travel as JSON, and a name that none of them has is refused."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

from cutaway.errors import ConfigurationError, did_you_mean

__all__ = ["JsonSettings", "refuse_unknown"]


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
