"""Turns an insight into the test that keeps it from coming back, where it is about a weak slice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cutaway.analysis.samples import Samples
from cutaway.analysis.slice_tests.from_slice import slice_test_of
from cutaway.analysis.slice_tests.slice_test import ACCURACY, ERROR, SliceTest
from cutaway.analysis.slice_tests.text import parse_test

__all__ = ["conditions_of", "insight_test_of"]

# Other kinds are about the data, or about no slice.
_WEAK = "low-performance"


def insight_test_of(samples: Samples, row: Mapping[str, Any]) -> SliceTest | None:
    """Return the test of a row of a table of insights; None for one that names no weak slice.

    Of the row it takes `kind`, `where` (conditions joined by `and`) and `measure` (error or loss). Raises
    `ConfigurationError` where no test can be made of the slice.
    """
    if row["kind"] != _WEAK or not row["where"]:
        return None
    metric = ACCURACY if row["measure"] == ERROR else row["measure"]
    return slice_test_of(samples, conditions_of(row["where"]), metric=metric)


def conditions_of(where: str) -> tuple[str, ...]:
    """Return the conditions that a table of insights has joined by `and`.

    >>> conditions_of("label = 4 and metadata.width > 2")
    ('label = 4', 'metadata.width > 2')
    """
    return parse_test(f"loss where {where} at most 0").conditions if where else ()
