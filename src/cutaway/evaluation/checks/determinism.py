"""Whether a function gives the same for the same sample: asked again, and asked in another order;
and how long it takes for a sample, and what that makes of a large data set.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

from cutaway.evaluation.checks.looking import (
    METADATA,
    Inspection,
    SampleCall,
    SampleFunction,
    call_on_sample,
    function_of_column,
    succeeded,
)
from cutaway.evaluation.checks.sheet import Sheet

__all__ = ["judge_determinism", "judge_speed", "seconds_of"]

# Samples of a subset that are asked for again, and how long the function may take over all of them.
REPEATED = 4
SECONDS = 5.0
# What times are told for: a data set that is large, but not unusual.
MANY = 100_000
# Above this 100,000 samples take almost three hours on one thread.
SLOW = 0.1


def judge_determinism(inspection: Inspection, asked: SampleFunction, seen: Sequence[SampleCall]) -> None:
    """Ask for some of the samples once more in their order, then in another; a sample must hash to what it was."""
    chosen = _chosen(succeeded(seen))
    differing = _differing(inspection, asked, chosen)
    code, when = "binding-random", "when it is asked for again"
    if not differing:
        shuffled = list(chosen)
        random.Random(inspection.seed).shuffle(shuffled)
        differing = _differing(inspection, asked, shuffled)
        code, when = "binding-order", "when samples are asked for in another order"
    if not differing:
        return
    first, again = differing[0]
    row, what = asked.row, f"{asked.kind.capitalize()} {asked.name!r}"
    if asked.kind == METADATA:
        column = next((name for name, value in first.metadata.items() if again.metadata.get(name) != value), "")
        row, what = (METADATA, function_of_column(column, inspection.dataset.metadata)), f"Metadata {column!r}"
    fix = (
        "Augmentation and random numbers belong into training, not into the binding; or seed them by the index."
        if code == "binding-random"
        else "Let the function depend on its index alone, not on what it was called with before."
    )
    inspection.sheet.find(
        code,
        "error",
        f"{what} of {first.sample!r} differs {when} ({len(differing)} of {len(chosen)} samples did)",
        fix,
        row=row,
        subset=first.subset,
        sample=first.sample,
        evidence={"differing": len(differing), "repeated": len(chosen)},
    )


def _chosen(seen: Sequence[SampleCall]) -> list[SampleCall]:
    """Some samples of each subset, as many as can be asked for twice in a few seconds."""
    chosen: list[SampleCall] = []
    taken: dict[str, int] = {}
    seconds = 0.0
    for one in seen:
        if taken.get(one.subset, 0) >= REPEATED or seconds + 2 * one.seconds > SECONDS:
            continue
        taken[one.subset] = taken.get(one.subset, 0) + 1
        seconds += 2 * one.seconds
        chosen.append(one)
    return chosen


def _differing(
    inspection: Inspection, asked: SampleFunction, chosen: Sequence[SampleCall]
) -> list[tuple[SampleCall, SampleCall]]:
    differing: list[tuple[SampleCall, SampleCall]] = []
    for one in chosen:
        again = call_on_sample(inspection.dataset.subsets[one.subset], asked, one.index, inspection.call)
        if again.failure is not None and again.failure.late:
            return differing
        if again.digest != one.digest:
            differing.append((one, again))
    return differing


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
