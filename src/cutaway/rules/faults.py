"""What is wrong with a training as far as its run shows without any rule: losses that are not finite, and a bad end.

Says nothing about why, and judges nothing that takes a threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cutaway.errors import RunError
from cutaway.rules.losses import is_loss_scalar
from cutaway.run.identity import Run
from cutaway.run.leases import RunState
from cutaway.tensors.modes import ModeKeys
from cutaway.trial.collections_file import collections_of
from cutaway.trial.overview import OverviewReader
from cutaway.trial.scalar_totals import ScalarTotals
from cutaway.wording import listed

__all__ = ["Faults", "ScalarCounts", "faults_of"]

# By name and mode of a scalar: how many of its values are not finite, and how many there are.
ScalarCounts = Mapping[tuple[str, str], tuple[int, int]]

MOST_LOSSES = 3
# As many columns as a run may have steps: each is one step where few enough rows are meant.
EVERY_STEP = 1 << 40
_ENDS = {
    RunState.FAILED: "the training failed",
    RunState.CRASHED: "the training crashed",
    RunState.LOST: "the training is lost",
}


class Faults(NamedTuple):
    """In a few words each: the losses that were not finite, and the bad end of a training; empty where all is well."""

    losses: str = ""
    end: str = ""


def faults_of(
    run: Run, state: RunState, scalars: ScalarCounts | None = None, overviews: OverviewReader | None = None
) -> Faults:
    """Return what is wrong with a training; what has been read of it already may be given."""
    return Faults(_losses(run, scalars, overviews), _ENDS.get(state, ""))


def _losses(run: Run, scalars: ScalarCounts | None, overviews: OverviewReader | None) -> str:
    """Say of each loss that was not finite at how many steps: of scalars, or where there are none of tensors."""
    try:
        counts = _counted(run) if scalars is None else scalars
        losses = {key: one for key, one in counts.items() if is_loss_scalar(key[0])}
        found = list(_of_scalars(losses) if losses else _of_tensors(run, overviews or OverviewReader(run)))
    except (RunError, OSError):
        # What is damaged or gone is named where the run is read.
        return ""
    return listed(found, MOST_LOSSES, "losses")


def _counted(run: Run) -> ScalarCounts:
    totals = ScalarTotals()
    totals.poll(run)
    return {key: (one.nonfinite, one.count) for key, one in totals.series.items()}


def _of_scalars(counts: ScalarCounts) -> Iterator[str]:
    for (name, mode), (nonfinite, count) in sorted(counts.items()):
        if nonfinite:
            of_mode = "" if mode == ModeKeys.GLOBAL.name else f" {mode}"
            yield f"{name} was NaN or infinite at {nonfinite:,} of {count:,}{of_mode} steps"


def _of_tensors(run: Run, overviews: OverviewReader) -> Iterator[str]:
    losses = collections_of(run).get("losses")
    for one in overviews.tensors():
        if one.most_nonfinite and losses.matches(one.name):
            series = overviews.series(one.name, columns=EVERY_STEP)
            bad = series.statistics["nonfinite"].greatest > 0
            if series.exact:
                yield f"{one.name} was NaN or infinite at {bad.sum():,} of {len(bad):,} steps"
            else:
                # Too many rows to read each of them for a glance.
                yield f"{one.name} was NaN or infinite for the first time by step {series.ends[bad][0]:,}"
