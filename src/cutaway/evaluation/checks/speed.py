"""How long each function takes for a sample, and what that makes of a large data set."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from cutaway.evaluation.checks.looking import METADATA, SampleCall, SampleFunction, succeeded
from cutaway.evaluation.checks.sheet import Sheet

__all__ = ["MANY", "judge_speed", "seconds_of"]

# What times are told for: a data set that is large, but not unusual.
MANY = 100_000
# Above this 100,000 samples take almost three hours on one thread.
SLOW = 0.1


def seconds_of(seen: Sequence[SampleCall]) -> float | None:
    """Return the time of one call: the median, since the first call often opens files and imports packages."""
    times = [one.seconds for one in succeeded(seen)]
    return statistics.median(times) if times else None


def judge_speed(sheet: Sheet, asked: SampleFunction, seen: Sequence[SampleCall]) -> None:
    """Note the time of a function, and tell of one that makes a large data set take hours."""
    seconds = seconds_of(seen)
    if seconds is None:
        return
    row = (METADATA, asked.name or "all") if asked.kind == METADATA else asked.row
    if asked.kind != METADATA:
        sheet.row(*row, seconds=seconds)
    if seconds > SLOW:
        what = "All metadata" if asked.kind == METADATA else f"{asked.kind.capitalize()} {asked.name!r}"
        message = f"{what} takes {seconds:.2g} s a sample: {seconds * MANY / 3600:.3g} hours for {MANY:,} samples"
        fix = "Do once in preprocess what is the same for all samples, or store samples as they come out."
        sheet.find("binding-slow", "warning", message, fix, row=row, evidence={"seconds": seconds})
