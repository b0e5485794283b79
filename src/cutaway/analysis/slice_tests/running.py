"""Runs tests on samples: what each slice reaches, and whether it is enough. Never passes what it could not judge."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from cutaway.analysis.samples import Samples
from cutaway.analysis.slice_tests.measuring import HELD_OUT, Measured, measure
from cutaway.analysis.slice_tests.slice_test import SliceTest, number_text
from cutaway.errors import ConfigurationError
from cutaway.wording import counted

__all__ = ["MOST_MISSING", "TestResult", "Verdict", "figure", "run_tests"]

MOST_MISSING = 0.01
"""A slice of which more than this share has no value is not judged."""


class Verdict(StrEnum):
    """What became of a test: it was passed, it failed, or it could not be judged, which is no pass."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class TestResult:
    """A test, its verdict and why, and what the slice reaches; NaN and 0 where that is not known.

    `low` and `high` are the ends of the 95 % interval of `value`. `missing` samples of the slice have no value.
    `subsets` are those that were looked at.
    """

    test: SliceTest
    verdict: Verdict
    reason: str
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    count: int = 0
    missing: int = 0
    subsets: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the test was passed."""
        return self.verdict is Verdict.PASSED

    @property
    def confident(self) -> bool:
        """Whether the whole interval lies on the same side of the bound as the value."""
        ends = (self.low, self.high)
        return not any(math.isnan(end) for end in ends) and len({self.test.meets(end) for end in ends}) == 1


def run_tests(samples: Samples, tests: Iterable[SliceTest], *, confident: bool = False) -> tuple[TestResult, ...]:
    """Return the result of each test on these samples.

    A test is passed where the value meets its bound; with `confident` only where the whole 95 % interval does. It is
    not judged where the samples lack a column or subset that it names, where the slice has fewer samples than the test
    asks for, or where more than 1 % of the slice has no value.

    >>> from cutaway.analysis.slice_tests.text import parse_test
    >>> samples = Samples.from_arrays([[0.0]] * 40, columns={"loss": [0.1, 0.3] * 20})
    >>> [only] = run_tests(samples, [parse_test("loss at most 0.25")])
    >>> str(only.verdict), only.count
    ('passed', 40)
    """
    return tuple(_result(samples, test, confident=confident) for test in tests)


def _result(samples: Samples, test: SliceTest, *, confident: bool) -> TestResult:
    try:
        found = measure(samples, test)
    except ConfigurationError as error:
        return TestResult(test, Verdict.NOT_JUDGED, str(error))
    verdict, reason = _judged(test, found, confident=confident)
    if not test.subsets and found.subsets and not set(found.subsets) & set(HELD_OUT):
        reason += " Nothing is held out here, so all samples count."
    return TestResult(
        test, verdict, reason, found.value, found.low, found.high, found.count, found.missing, found.subsets
    )


def _judged(test: SliceTest, found: Measured, *, confident: bool) -> tuple[Verdict, str]:
    if found.count < test.min_samples:
        there = counted(found.count, "sample")
        return Verdict.NOT_JUDGED, f"The slice has {there}, but {test.min_samples} are needed."
    if found.missing > MOST_MISSING * (found.count + found.missing):
        return Verdict.NOT_JUDGED, (
            f"{found.missing:,} of {found.count + found.missing:,} samples of the slice have no {test.metric}. "
            "Evaluate again without failures, or add a condition that leaves them out."
        )
    ends = f"{figure(test, found.low)} to {figure(test, found.high)}"
    figures = f"{figure(test, found.value)} (95 % interval {ends}, n = {found.count:,})"
    if not test.meets(found.value):
        return Verdict.FAILED, f"{figures} is not {test.bound_text}."
    if not confident:
        return Verdict.PASSED, f"{figures} is {test.bound_text}."
    # NaN, an interval that so few samples do not give, meets nothing.
    if test.meets(found.low) and test.meets(found.high):
        return Verdict.PASSED, f"{figures} is {test.bound_text}, and so is the whole interval."
    return Verdict.FAILED, f"{figures} is {test.bound_text}, but not the whole interval."


def figure(test: SliceTest, value: float) -> str:
    """Write a value with as few digits as leave it on its side of the test's bound.

    >>> figure(SliceTest("accuracy", 0.95), 0.912345), figure(SliceTest("accuracy", 0.95), 0.949999)
    ('0.9123', '0.949999')
    """
    if not math.isfinite(value):
        return str(value)
    rounded = (float(f"{value:.{digits}g}") for digits in (4, 6, 9, 12))
    return number_text(next((one for one in rounded if test.meets(one) == test.meets(value)), value))
