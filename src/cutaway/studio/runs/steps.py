"""The recorded steps of a run as rows for people, and in numbers."""

from __future__ import annotations

import numpy as np

from cutaway.studio.wire.base import Page
from cutaway.studio.wire.life import StepRow
from cutaway.studio.wire.runs import StepsFacts
from cutaway.tensors.recent_steps import PHASES
from cutaway.trial.growing import Columns
from cutaway.trial.run_facts import count_steps
from cutaway.trial.trial import Trial

__all__ = ["step_page", "steps_facts"]


def step_page(columns: Columns, *, first: int | None, last: int | None, offset: int, limit: int) -> Page[StepRow]:
    """Return some of the recorded steps within bounds, in order."""
    start = 0 if first is None else int(np.searchsorted(columns["step"], first))
    end = len(columns["step"]) if last is None else int(np.searchsorted(columns["step"], last, side="right"))
    stop = min(start + offset + limit, end)
    rows = [_row(columns, place) for place in range(min(start + offset, end), stop)]
    return Page(data=rows, total=max(end - start, 0), offset=offset, limit=limit)


def steps_facts(trial: Trial) -> StepsFacts:
    """Return the steps of a run in numbers."""
    counts = count_steps(trial.step_columns())
    in_order = dict(sorted(counts.by_mode.items()))
    return StepsFacts(**{**counts._asdict(), "by_mode": in_order}, workers=trial.workers())


def _row(columns: Columns, place: int) -> StepRow:
    epoch, samples = int(columns["epoch"][place]), int(columns["samples"][place])
    return StepRow(
        step=int(columns["step"][place]),
        mode=columns["mode"][place],
        mode_step=int(columns["mode_step"][place]),
        epoch=epoch if epoch >= 0 else None,
        time=float(columns["time"][place]),
        **{phase: float(columns[phase][place]) for phase in PHASES},
        samples=samples if samples >= 0 else None,
        statistics=bool(columns["statistics"][place]),
        thinned=int(columns["thinned"][place]),
    )
