"""What a run comes to: its steps, scalars, collections and evaluations in numbers, its findings, and what is damaged.

Commands, the studio and the demo tell the same of a run because it is computed here; each has its own words for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.errors import RunDamaged
from cutaway.run.annotations import Annotations, readable_annotations
from cutaway.run.findings import Finding
from cutaway.run.identity import Run
from cutaway.run.layout import COLLECTIONS_FILE
from cutaway.run.leases import RunState
from cutaway.run.preview import preview
from cutaway.run.schemas import FINDINGS, SCALARS, STATISTICS, STEPS
from cutaway.run.tables import Damage
from cutaway.trial.collections_file import collections_of
from cutaway.trial.evaluation_facts import EvaluationFacts, evaluation_facts
from cutaway.trial.growing import Columns
from cutaway.trial.step_columns import columns_of_steps
from cutaway.trial.summary import GLANCES, ScalarFacts, scalar_facts

__all__ = ["RunFacts", "StepCounts", "count_steps", "read_run_facts"]


class StepCounts(NamedTuple):
    """The recorded steps of a run in numbers; `by_mode` has the modes in the order in which they began."""

    recorded: int
    first: int | None
    last: int | None
    by_mode: dict[str, int]
    epochs: int | None
    with_statistics: int
    thinned: int
    samples_known: bool


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """Everything that is told of one run; `damage` is what was met on the way."""

    run: Run
    state: RunState
    steps: StepCounts
    workers: list[str]
    scalars: list[ScalarFacts]
    collections: dict[str, int]
    findings: list[Finding]
    evaluations: list[EvaluationFacts]
    annotations: Annotations
    damage: list[Damage]


def count_steps(columns: Columns) -> StepCounts:
    """Return the steps that some columns of a trial hold in numbers."""
    steps, epochs = columns["step"], columns["epoch"]
    modes, begins, counts = np.unique(columns["mode"].astype(str), return_index=True, return_counts=True)
    order = np.argsort(begins)
    return StepCounts(
        recorded=len(steps),
        first=int(steps.min()) if len(steps) else None,
        last=int(steps.max()) if len(steps) else None,
        by_mode=dict(zip(modes[order].tolist(), counts[order].tolist(), strict=True)),
        epochs=int(epochs.max()) + 1 if len(epochs) and epochs.max() >= 0 else None,
        with_statistics=int(columns["statistics"].sum()),
        thinned=int(columns["thinned"].sum()),
        samples_known=bool((columns["samples"] >= 0).any()),
    )


def read_run_facts(run: Run) -> RunFacts:
    """Read everything that is told of one run."""
    damage = list(run.damage)
    steps = _read_table(run, STEPS, damage)
    workers = sorted(set(steps["worker"].to_pylist()))
    mine = steps.filter(pc.equal(steps["worker"], pa.scalar(workers[0] if workers else "")))
    state = run.state()
    scalars = scalar_facts(_read_table(run, SCALARS, damage))
    collections = _collections(run, damage)
    _read_table(run, FINDINGS, damage)
    annotations, unread = readable_annotations(run)
    return RunFacts(
        run=run,
        state=state,
        steps=count_steps(columns_of_steps(lambda name: mine[name].combine_chunks())),
        workers=workers,
        scalars=scalars,
        collections=collections,
        findings=run.findings(),
        evaluations=evaluation_facts(run),
        annotations=annotations,
        damage=[*damage, *([] if unread is None else [unread])],
    )


def _read_table(run: Run, table: str, damage: list[Damage]) -> pa.Table:
    reader = run.table(table)
    rows = reader.read()
    damage += reader.damage
    return rows


def _collections(run: Run, damage: list[Damage]) -> dict[str, int]:
    """Return how many tensors each collection has that has any, as far as a glance at the statistics shows them."""
    try:
        run.document(COLLECTIONS_FILE)
    except RunDamaged as error:
        damage.append(Damage(error.path, error.offset, None, error.reason))
    seen = preview(run, STATISTICS, GLANCES)
    names = set() if seen is None else set(seen["tensor"].to_pylist())
    counts = {
        found.name: len(found.tensor_names | {name for name in names if found.matches(name)})
        for found in collections_of(run)
    }
    return {name: count for name, count in counts.items() if count}
