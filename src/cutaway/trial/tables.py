"""Tables for people: what a run recorded, as Arrow tables in step order, with modes beside the steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.run.tables import TableReader
from cutaway.tensors.modes import ModeKeys
from cutaway.trial.step_index import StepIndex

__all__ = ["filtered", "findings_table", "rows_in_range", "samples_at", "with_modes"]


def rows_in_range(reader: TableReader, steps: StepIndex, *, listed: bool) -> pa.Table:
    """Return what a table has within the trial's range, with the column `worker`; `listed` of listed steps only."""
    table = reader.read().drop_columns(["attempt"])
    numbers = table["step"].to_numpy()
    shown = steps.within.mask(numbers)
    if listed:
        distinct, places = np.unique(numbers, return_inverse=True)
        shown &= np.array([step in steps for step in distinct.tolist()], bool)[places]
    return _in_step_order(table if shown.all() else table.filter(pa.array(shown)))


def with_modes(table: pa.Table, steps: StepIndex) -> pa.Table:
    """Put the columns `mode`, `mode_step` and `worker` after `step`."""
    modes, mode_steps = steps.mode_columns(table["step"].to_numpy())
    front = {"step": table["step"], "mode": modes, "mode_step": mode_steps, "worker": table["worker"]}
    rest = {name: table[name] for name in table.column_names if name not in front}
    return _in_step_order(pa.table({**front, **rest}))


def filtered(table: pa.Table, *, mode: ModeKeys = ModeKeys.GLOBAL, **wanted: Sequence[str] | str | None) -> pa.Table:
    """Return the rows of one mode (GLOBAL: of all) whose columns hold one of the wanted values (None: any)."""
    if mode is not ModeKeys.GLOBAL:
        table = table.filter(pc.equal(table["mode"], mode.name))
    for column, values in wanted.items():
        if values is not None:
            allowed = [values] if isinstance(values, str) else list(values)
            table = table.filter(pc.is_in(table[column], pa.array(allowed, pa.string())))
    return table


def samples_at(reader: TableReader, steps: StepIndex, step: int) -> list[str | None] | None:
    """Return the ids of the samples of one listed step, of its workers one after the other by name."""
    found: dict[str, list[str | None]] = {}
    for batch in reader.batches:
        limit = reader.limit(batch.segment)
        if step in steps.listed(batch.segment) and (limit is None or step < limit):
            for place in np.flatnonzero(batch.content.column("step").to_numpy() == step):
                found[batch.segment.worker] = batch.content.take("samples", np.array([place]))[0].as_py()
    known = [ids for _, ids in sorted(found.items()) if ids is not None]
    return [one for ids in known for one in ids] if known else None


def findings_table(reader: TableReader) -> pa.Table:
    """Return each finding once, oldest first."""
    table = reader.read().drop_columns(["worker", "attempt"])
    return table.take(_firsts(table["id"].to_pylist())).sort_by("time")


def _firsts(ids: Iterable[str]) -> pa.Array:
    seen: dict[str, int] = {}
    for place, one in enumerate(ids):
        seen.setdefault(one, place)
    return pa.array(list(seen.values()), pa.int64())


def _in_step_order(table: pa.Table) -> pa.Table:
    numbers = table["step"].to_numpy()
    if (numbers[1:] >= numbers[:-1]).all():
        return table
    # Stable: the rows of one step keep the order in which they were written.
    return table.take(pa.array(np.argsort(numbers, kind="stable")))
