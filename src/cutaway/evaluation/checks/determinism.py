"""Whether a function gives the same for the same sample: asked again, and asked in another order."""

from __future__ import annotations

import random
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

__all__ = ["judge_determinism"]

# Samples of a subset that are asked for again, and how long the function may take over all of them.
REPEATED = 4
SECONDS = 5.0


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
