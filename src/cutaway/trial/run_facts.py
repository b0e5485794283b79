"""What a run comes to: its steps, scalars, collections and evaluations in numbers, its findings, and what is damaged.

Commands, the studio and the demo tell the same of a run because it is computed here; each has its own words for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.errors import EvaluationError, RunDamaged
from cutaway.run.annotations import Annotations, readable_annotations
from cutaway.run.evaluations import Evaluation, evaluations
from cutaway.run.findings import Finding
from cutaway.run.identity import Run
from cutaway.run.layout import COLLECTIONS_FILE
from cutaway.run.leases import RunState
from cutaway.run.preview import preview
from cutaway.run.schemas import FINDINGS, STATISTICS, STEPS
from cutaway.run.sources import SubsetSource
from cutaway.run.tables import Damage
from cutaway.trial.collections_file import collections_of
from cutaway.trial.growing import Columns
from cutaway.trial.run_totals import RunTotals, ScalarFacts
from cutaway.trial.step_columns import columns_of_steps
from cutaway.trial.summary import GLANCES

__all__ = [
    "EvaluationFacts",
    "HardSample",
    "RunFacts",
    "StepCounts",
    "count_steps",
    "evaluation_facts",
    "read_run_facts",
]


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
    totals = RunTotals(run)
    totals.poll()
    damage += totals.damage
    collections = _collections(run, damage)
    _read_table(run, FINDINGS, damage)
    annotations, unread = readable_annotations(run)
    return RunFacts(
        run=run,
        state=state,
        steps=count_steps(columns_of_steps(lambda name: mine[name].combine_chunks())),
        workers=workers,
        scalars=totals.facts(),
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


HARDEST = 5
LOSS, TRUTH, PREDICTION = "loss", "ground_truth.", "prediction."


class HardSample(NamedTuple):
    """A sample with a large loss: what it is, and what it was predicted as, where classes have names."""

    id: str | None
    loss: float
    truth: str | None
    prediction: str | None


@dataclass(frozen=True)
class EvaluationFacts:
    """One evaluation in a few values. Only of the newest finished one `hardest` is known, or why it is not."""

    number: int
    epoch: int | None
    state: str
    subsets: Mapping[str, SubsetSource]
    hardest: tuple[HardSample, ...] | None = None
    unreadable: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as JSON values."""
        return {
            "evaluation": self.number,
            "epoch": self.epoch,
            "state": self.state,
            "subsets": {
                name: {"samples": one.samples or 0, "failed": one.failed, "means": dict(one.means)}
                for name, one in self.subsets.items()
            },
            **({} if self.hardest is None else {"hardest": [one._asdict() for one in self.hardest]}),
            **({"unreadable": self.unreadable} if self.unreadable else {}),
        }


def evaluation_facts(run: Run) -> list[EvaluationFacts]:
    """Return each evaluation in a few values; of the newest one also its hardest samples."""
    found = evaluations(run)
    facts = [_facts_of(one) for one in found]
    newest = next((i for i in reversed(range(len(found))) if found[i].finished), None)
    if newest is not None:
        try:
            facts[newest] = replace(facts[newest], hardest=_hardest_samples(found[newest]))
        except EvaluationError as error:
            # What is left of the run is told all the same.
            facts[newest] = replace(facts[newest], unreadable=str(error))
    return facts


def _facts_of(evaluation: Evaluation) -> EvaluationFacts:
    source = evaluation.source
    return EvaluationFacts(evaluation.number, source.epoch, source.state or "damaged", source.subsets)


def _hardest_samples(evaluation: Evaluation) -> tuple[HardSample, ...]:
    """The largest losses of all subsets, with what each sample is and was predicted as where classes have names."""
    import pyarrow.compute as pc  # few runs are evaluated

    found: list[HardSample] = []
    for subset in evaluation.subsets:
        for piece in evaluation.pieces(subset, ("id", LOSS, TRUTH, PREDICTION)):
            if LOSS not in piece.column_names:
                continue
            if not (pa.types.is_floating(piece[LOSS].type) and pa.types.is_string(piece["id"].type)):
                # A run may come from anybody.
                raise EvaluationError(
                    f"The table of {subset!r} is not as Cutaway writes it: id holds {piece['id'].type} and loss "
                    f"{piece[LOSS].type}.",
                    hint="Evaluate again.",
                )
            finite = piece.filter(pc.is_finite(piece[LOSS]))
            top = finite.take(pc.select_k_unstable(finite, HARDEST, sort_keys=[(LOSS, "descending")]))
            plain = [name for name in top.column_names if name in ("id", LOSS) or name.endswith(".label")]
            found += [_hard_sample(row) for row in top.select(plain).to_pylist()]
        found = sorted(found, key=lambda one: -one.loss)[:HARDEST]
    return tuple(found)


def _hard_sample(row: dict[str, Any]) -> HardSample:
    def label(kind: str) -> str | None:
        return next((str(value) for name, value in row.items() if name.startswith(kind) and value is not None), None)

    return HardSample(row["id"], row[LOSS], label(TRUTH), label(PREDICTION))
