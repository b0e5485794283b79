"""`SliceTest`: what a model must reach on some of the samples. Writes itself as a line; runs nothing."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from cutaway.errors import ConfigurationError

__all__ = ["ACCURACY", "ALL", "AVERAGES", "ERROR", "FEWEST", "SliceTest", "number_text"]

ACCURACY, ERROR = "accuracy", "error"
ALL = "all"
AVERAGES = ("mean", "median")
FEWEST = 20
"""A slice of fewer samples is not judged, unless its test says otherwise."""

_PLAIN = re.compile(r"[^\s\"',]+")


@dataclass(frozen=True)
class SliceTest:
    """What a model must reach on the samples of a slice: `accuracy where thickness < 2 at least 0.95`.

    `metric` is `accuracy`, `error` or a column of numbers, of which the mean counts, or with `average="median"` the
    median. `subsets` are those that count; none are the held-out ones, validation and test, and `("all",)` is every
    one. `conditions` are texts that `parse_filter` reads; all of them must hold. `name` is what people call it; it is
    no part of the line.

    >>> SliceTest("accuracy", 0.95, conditions=("thickness < 2",)).text
    'accuracy where thickness < 2 at least 0.95'
    """

    metric: str
    bound: float
    at_least: bool = True
    subsets: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    average: str = "mean"
    min_samples: int = FEWEST
    name: str = ""

    def __post_init__(self) -> None:
        bound, least, average = self.bound, self.min_samples, self.average
        if not self.metric.strip():
            raise ConfigurationError("A test needs a metric, such as 'accuracy' or 'loss'.")
        if any('"' in name for name in (self.metric, *self.subsets)):
            raise ConfigurationError(f"A test cannot name what holds a double quote, but got {self.metric!r}.")
        if not math.isfinite(bound):
            raise ConfigurationError(f"The bound of a test must be a number, but got {bound}.")
        if self.is_share and not 0 <= bound <= 1:
            hint = f" Write {number_text(bound / 100)} or '{number_text(bound)} %'." if 1 < bound <= 100 else ""
            raise ConfigurationError(
                f"{self.metric} lies between 0 and 1, but its bound is {number_text(bound)}.", hint=hint
            )
        if least < 1:
            raise ConfigurationError(f"`min_samples >= 1` must hold, but got min_samples={least}.")
        if average not in AVERAGES:
            raise ConfigurationError(f"`average` must be one of {', '.join(AVERAGES)}, but got {average!r}.")
        if self.is_share and average != "mean":
            raise ConfigurationError(f"{self.metric} is a share, which has no {average}.")

    @property
    def is_share(self) -> bool:
        """Whether the value is a share of samples."""
        return self.metric in (ACCURACY, ERROR)

    @property
    def title(self) -> str:
        """The name, or where it has none the line."""
        return self.name or self.text

    @property
    def text(self) -> str:
        """The line, which `parse_test` reads back to the same test."""
        few = f" with at least {self.min_samples} samples" if self.min_samples != FEWEST else ""
        return f"{self.subject} {self.bound_text}{few}"

    @property
    def subject(self) -> str:
        """What is measured, without the bound: `accuracy where thickness < 2`."""
        of = f" of {' and '.join(_word(one) for one in self.subsets)}" if self.subsets else ""
        where = f" where {' and '.join(self.conditions)}" if self.conditions else ""
        median = "median " if self.average == "median" else ""
        return f"{median}{_word(self.metric)}{of}{where}"

    @property
    def bound_text(self) -> str:
        """The bound in words: `at least 0.95`."""
        return f"at {'least' if self.at_least else 'most'} {number_text(self.bound)}"

    def meets(self, value: float) -> bool:
        """Whether a value is within the bound; NaN never is."""
        return value >= self.bound if self.at_least else value <= self.bound


def number_text(value: float) -> str:
    """Write a number so that it reads back as the same, without a needless `.0`.

    >>> number_text(0.95), number_text(3.0), number_text(1e-09)
    ('0.95', '3', '1e-09')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _word(name: str) -> str:
    """Write a name so that the words of a line are told from it."""
    return name if _PLAIN.fullmatch(name) and name not in (*AVERAGES, "of", "where", "and") else f'"{name}"'
