"""Limits check themselves."""

from __future__ import annotations

import pytest

from cutaway.errors import ConfigurationError
from cutaway.models import Limits


def test_the_defaults_are_good_and_frozen() -> None:
    limits = Limits()
    assert (limits.seconds, limits.load_seconds, limits.memory_mb, limits.threads) == (60, 120, 8192, None)
    with pytest.raises(AttributeError):
        limits.seconds = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seconds", 0),
        ("seconds", float("nan")),
        ("seconds", float("inf")),
        ("load_seconds", -1),
        ("seconds", "5"),
        ("memory_mb", 0),
        ("memory_mb", 1.5),
        ("memory_mb", True),
        ("file_mb", None),
        ("threads", 0),
    ],
)
def test_a_value_that_cannot_be_is_named(name: str, value: object) -> None:
    with pytest.raises(ConfigurationError, match=f"`{name} >.* must hold.*{name}="):
        Limits(**{name: value})
