"""The recorded steps of a run as rows, and the samples that a window of them was fed.

Of a sample: what was saved of it there, and what the last evaluation says of it.
"""

from __future__ import annotations

import contextlib
import math
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.errors import EvaluationError
from cutaway.run.evaluations import Evaluation, evaluations
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.previews import SamplePreviews
from cutaway.studio.wire.base import Page
from cutaway.studio.wire.life import SeenSample, StepRow
from cutaway.studio.wire.runs import StepsFacts
from cutaway.tensors.recent_steps import PHASES
from cutaway.trial.growing import Columns
from cutaway.trial.run_facts import count_steps
from cutaway.trial.trial import Trial

__all__ = ["seen_page", "step_page", "steps_facts"]

# More would be held in memory only to show a hundred of them.
MOST_SEEN = 200_000
LOSS = "loss"


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


class _SampleAtStep(NamedTuple):
    """A sample at a step."""

    sample: str
    step: int


def seen_page(
    trial: Trial, previews: SamplePreviews, *, first: int | None, last: int | None, offset: int, limit: int
) -> Page[SeenSample]:
    """Return the samples of a window of steps, those with the largest loss first where it was saved.

    Without a window, those of the newest step whose samples are known.
    """
    start, stop = _window(trial, first, last)
    values = _values(trial, start, stop)
    seen = _seen(trial, start, stop)
    # Sorting is stable: without losses they stay in the order in which they were fed.
    seen.sort(key=lambda one: _badness(values.get(one, {})))
    page = seen[offset : offset + limit]
    ids = {one.sample for one in page}
    evaluation = next((one for one in reversed(evaluations(trial.run)) if one.finished), None)
    told, drawn = _evaluated(evaluation, ids), previews.known(trial.run, ids)
    rows = [
        SeenSample(
            sample=one.sample,
            step=one.step,
            values=values.get(one, {}),
            label=told.get(one.sample, (None, None))[0],
            prediction=told.get(one.sample, (None, None))[1],
            evaluation=evaluation.number if evaluation is not None and one.sample in told else None,
            preview=one.sample in drawn,
        )
        for one in page
    ]
    return Page(data=rows, total=len(seen), offset=offset, limit=limit)


def _window(trial: Trial, first: int | None, last: int | None) -> tuple[int, int]:
    columns = trial.step_columns()
    known = columns["step"][columns["samples"] >= 0]
    if first is None and last is None:
        return (int(known[-1]), int(known[-1]) + 1) if len(known) else (0, 0)
    start, stop = first or 0, 2**62 if last is None else last + 1
    inside = (columns["step"] >= start) & (columns["step"] < stop) & (columns["samples"] >= 0)
    count = int(columns["samples"][inside].sum())
    if count > MOST_SEEN:
        said = f"Steps {start} to {int(known[-1]) if last is None else last} were fed {count:,} samples."
        raise Refusal(400, "window-too-wide", said, f"Ask for fewer steps: at most {MOST_SEEN:,} are sorted at a time.")
    return start, stop


def _seen(trial: Trial, start: int, stop: int) -> list[_SampleAtStep]:
    if start >= stop:
        return []
    steps = trial.step_window(start, stop)["step"].tolist()
    fed = trial.samples_window(start, stop)
    return [
        _SampleAtStep(sample, step)
        for step, ids in zip(steps, fed, strict=True)
        for sample in dict.fromkeys(ids or ())
        if sample is not None
    ]


def _values(trial: Trial, start: int, stop: int) -> dict[_SampleAtStep, dict[str, float | None]]:
    found: dict[_SampleAtStep, dict[str, float | None]] = {}
    if start < stop:
        columns = (trial.values_window(start, stop)[name].to_pylist() for name in ("sample", "step", "name", "value"))
        for sample, step, name, value in zip(*columns, strict=True):
            if sample is not None and name is not None and value is not None:
                found.setdefault(_SampleAtStep(sample, step), {})[name] = value
    return found


def _badness(values: dict[str, float | None]) -> float:
    """Order by loss, what is not finite first, what has none last."""
    loss = values.get(LOSS)
    if loss is None:
        loss = next((value for name, value in values.items() if LOSS in name.lower()), None)
    if loss is None:
        return math.inf
    return -loss if math.isfinite(loss) else -math.inf


def _evaluated(evaluation: Evaluation | None, ids: set[str]) -> dict[str, tuple[str | None, ...]]:
    """Return the label and the prediction of samples in an evaluation."""
    told: dict[str, tuple[str | None, ...]] = {}
    if evaluation is None or not ids:
        return told
    wanted = pa.array(sorted(ids), pa.string())
    for subset in evaluation.subsets:
        # A damaged table takes its labels with it; what the steps were fed can still be shown.
        with contextlib.suppress(EvaluationError):
            told |= _labels(evaluation, subset, wanted)
    return told


def _labels(evaluation: Evaluation, subset: str, wanted: pa.Array) -> dict[str, tuple[str | None, ...]]:
    names = evaluation.column_names(subset)
    if "id" not in names:
        return {}
    labels = [name for name in names if name.endswith(".label")]
    kinds = ("ground_truth.", "prediction.")
    found = [next((name for name in labels if name.startswith(kind)), None) for kind in kinds]
    table = evaluation.table(subset, ["id", *(name for name in found if name is not None)])
    table = table.filter(pc.is_in(table["id"], wanted))
    columns = ([None] * len(table) if name is None else table[name].to_pylist() for name in found)
    texts = ([None if one is None else str(one) for one in column] for column in columns)
    return dict(zip(table["id"].to_pylist(), zip(*texts, strict=True), strict=True))
