"""Opens a run for reading."""

from __future__ import annotations

from pathlib import Path

from cutaway.errors import ConfigurationError
from cutaway.run.catalog import find_run
from cutaway.trial.collections_file import wait_for_collections
from cutaway.trial.step_index import StepRange
from cutaway.trial.trial import Trial

__all__ = ["create_trial"]


def create_trial(
    path: str | Path, name: str | None = None, range_steps: tuple[int | None, int | None] | None = None
) -> Trial:
    """Open a run for reading: a run folder, or the name (or a prefix of it) of a run under `runs/`.

    A run that is just starting is waited for until it says which collections it has. `range_steps=(a, b)` looks at
    the global steps `a <= step < b` only.

    >>> trial = create_trial("runs/mnist")                    # doctest: +SKIP
    >>> trial.steps(), trial.tensor_names(collection="weights")  # doctest: +SKIP
    """
    within = _step_range(range_steps)
    run = find_run(str(path))
    wait_for_collections(run)
    return Trial(run, name=name, within=within)


def _step_range(range_steps: tuple[int | None, int | None] | None) -> StepRange:
    if range_steps is None:
        return StepRange()
    first, end = range_steps
    for side in (first, end):
        if side is not None and side < 0:
            raise ConfigurationError(f"`range_steps` must hold steps from 0 on, but got {range_steps}.")
    if first is not None and end is not None and first >= end:
        raise ConfigurationError(f"`range_steps=(begin, end)` must have begin < end, but got {range_steps}.")
    return StepRange(first, end)
