"""Writing down what people say of runs. Of all runs under the studio's folder at most one is the baseline."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from cutaway.errors import CutawayError
from cutaway.run.annotations import Annotations, annotate
from cutaway.studio.index import RunIndex

__all__ = ["annotate_run"]

log = logging.getLogger("cutaway.studio")


def annotate_run(
    index: RunIndex, run: str, *, tags: Sequence[str] | None, note: str | None, baseline: bool | None
) -> Annotations:
    """Change what is written about a run, and return all of it; a new baseline takes the place of the last."""
    written = annotate(index.run_of(run), tags=tags, note=note, baseline=baseline)
    index.read_again(run)
    if baseline:
        for row in index.table().rows:
            if row.baseline and row.id != run:
                _release(index, row.id)
    return written


def _release(index: RunIndex, run: str) -> None:
    """Make a run no longer the baseline. One that cannot be written stays marked, which is said and not hidden."""
    try:
        annotate(index.run_of(run), baseline=False)
        index.read_again(run)
    except (CutawayError, OSError) as error:
        log.warning("Run %r is still marked as a baseline: %s", run, error)
