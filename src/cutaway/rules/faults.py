"""What is wrong with a training as far as its run shows without any rule: losses that are not finite, and a bad end.

Says nothing about why, and judges nothing that takes a threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cutaway.errors import RunError
from cutaway.run.identity import Run
from cutaway.run.leases import RunState
from cutaway.tensors.modes import ModeKeys
from cutaway.trial.run_totals import RunTotals
from cutaway.trial.series_totals import Key, SeriesTotals, in_order
from cutaway.wording import listed

__all__ = ["Faults", "faults_of"]

MOST_LOSSES = 3
_ENDS = {
    RunState.FAILED: "the training failed",
    RunState.CRASHED: "the training crashed",
    RunState.LOST: "the training is lost",
}


class Faults(NamedTuple):
    """In a few words each: the losses that were not finite, and the bad end of a training; empty where all is well."""

    losses: str = ""
    end: str = ""


def faults_of(run: Run, state: RunState, losses: Mapping[Key, SeriesTotals] | None = None) -> Faults:
    """Return what is wrong with a training; the totals of its losses may have been read already."""
    return Faults(_losses(run, losses), _ENDS.get(state, ""))


def _losses(run: Run, losses: Mapping[Key, SeriesTotals] | None) -> str:
    """Say of each loss that was not finite at how many steps."""
    try:
        return listed(list(_nonfinite(_read(run) if losses is None else losses)), MOST_LOSSES, "losses")
    except (RunError, OSError):
        # What is damaged or gone is named where the run is read.
        return ""


def _read(run: Run) -> Mapping[Key, SeriesTotals]:
    totals = RunTotals(run)
    totals.poll()
    return totals.losses


def _nonfinite(losses: Mapping[Key, SeriesTotals]) -> Iterator[str]:
    by_name: dict[str, list[str]] = {}
    for name, mode in in_order(losses):
        one = losses[name, mode]
        if one.nonfinite:
            of_mode = "" if mode == ModeKeys.GLOBAL.name else f" {mode}"
            by_name.setdefault(name, []).append(f"{one.nonfinite:,} of {one.count:,}{of_mode} steps")
    for name, counts in by_name.items():
        yield f"{name} was NaN or infinite at {' and '.join(counts)}"
