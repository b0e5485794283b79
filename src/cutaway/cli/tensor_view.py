"""What `cutaway tensors` shows, read from a run. Prints nothing.

A `TensorView` remembers what it has read, so that looking again at a growing run reads only what is new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.arrays import Int64Array
from cutaway.cli.options import command_run, shown_path
from cutaway.errors import ConfigurationError, InvalidWorker, did_you_mean
from cutaway.run.schemas import STATISTICS, STEPS
from cutaway.run.tables import Damage
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.settings import compile_pattern
from cutaway.tensors.statistic_names import STATISTIC_NAMES
from cutaway.trial.collections_file import collections_of
from cutaway.trial.tensor_history import TensorHistory, group_order, ordered_collections, tensor_row

if TYPE_CHECKING:
    from cutaway.run import Run

__all__ = ["Snapshot", "TensorQuery", "TensorView"]

Memberships = Mapping[str, list[str]]


@dataclass(frozen=True, kw_only=True)
class TensorQuery:
    """What a person asked to see; checked here, before anything is read."""

    regex: str | None = None
    collection: str | None = None
    step: int | None = None
    mode: str | None = None
    worker: str | None = None
    statistic: str = "l2"

    def __post_init__(self) -> None:
        if self.regex is not None:
            compile_pattern(self.regex, "--regex")
        if self.mode is not None:
            object.__setattr__(self, "mode", ModeKeys.parse(self.mode).name)
        if self.statistic not in STATISTIC_NAMES:
            raise ConfigurationError(
                f"No statistic {self.statistic!r}.",
                hint=f"{did_you_mean(self.statistic, STATISTIC_NAMES)} There are {', '.join(STATISTIC_NAMES)}.",
            )


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A run's tensors at one moment. `mode` is the one whose steps are shown, None where all are."""

    run: str
    path: str
    state: str
    steps: dict[str, int]
    last_step: int | None
    thinned: int
    workers: list[str]
    worker: str | None
    mode: str | None
    statistic: str
    tensors: list[TensorHistory]
    damage: list[Damage]

    def to_dict(self) -> dict[str, Any]:
        """Return the snapshot as JSON values."""
        return {**asdict(self), "damage": [one._asdict() for one in self.damage]}


class TensorView:
    """Reads the statistics of one run, again and again while it grows."""

    def __init__(self, run: Run, wanted: TensorQuery) -> None:
        self.run = run
        self._wanted = wanted
        self._statistics = run.table(STATISTICS)
        self._steps = run.table(STEPS)

    def look(self, state: str) -> Snapshot:
        """Return how the run's tensors stand now."""
        rows = self._statistics.read(columns=["worker", "step", "tensor", "size", *STATISTIC_NAMES])
        # Read second: a step whose statistics are there has its own row by now.
        steps = self._steps.read(columns=["worker", "step", "mode", "thinned"])
        workers = sorted({*pc.unique(steps["worker"]).to_pylist(), *pc.unique(rows["worker"]).to_pylist()})
        worker = self._worker(workers)
        steps, rows = _rows_where(steps, "worker", worker), _rows_where(rows, "worker", worker)
        counts = {one["values"]: one["counts"] for one in pc.value_counts(steps["mode"]).to_pylist()}
        mode = self._mode(counts)
        if mode is not None:
            rows = rows.filter(pc.is_in(rows["step"], _rows_where(steps, "mode", mode)["step"]))
        return Snapshot(
            run=self.run.name,
            path=shown_path(self.run.path),
            state=state,
            steps=counts,
            last_step=pc.max(steps["step"]).as_py(),
            thinned=pc.sum(steps["thinned"]).as_py() or 0,
            workers=workers,
            worker=worker,
            mode=mode,
            statistic=self._wanted.statistic,
            tensors=self._rows(rows) if len(rows) else [],
            damage=[*self._statistics.damage, *self._steps.damage],
        )

    def _worker(self, workers: Sequence[str]) -> str | None:
        wanted = self._wanted.worker
        if wanted is not None and workers and wanted not in workers:
            raise InvalidWorker(wanted, workers)
        return wanted or (workers[0] if workers else None)

    def _mode(self, counts: Mapping[str, int]) -> str | None:
        """Return the mode that was asked for; training's where there are several and none was."""
        wanted = self._wanted.mode
        if wanted is not None and counts and wanted not in counts:
            known = ", ".join(f"{mode} ({count:,} steps)" for mode, count in counts.items())
            raise ConfigurationError(f"No {wanted} step in run {self.run.name!r}.", hint=f"It has {known}.")
        if wanted is None and self._wanted.step is None and len(counts) > 1 and "TRAIN" in counts:
            return "TRAIN"
        return wanted

    def _rows(self, rows: pa.Table) -> list[TensorHistory]:
        encoded = pc.dictionary_encode(rows["tensor"].combine_chunks())
        names: list[str] = encoded.dictionary.to_pylist()
        collections = collections_of(self.run)
        member_of = {name: ordered_collections(found.name for found in collections.resolve(name)) for name in names}
        wanted = self._matching(self._collected(names, member_of))
        columns = {name: rows[name].to_numpy() for name in ("step", "size", *STATISTIC_NAMES)}
        codes = encoded.indices.to_numpy()
        order = np.lexsort((columns["step"], codes))
        edges = np.searchsorted(codes[order], np.arange(len(names) + 1))
        found = []
        for code in (code for code, name in enumerate(names) if name in wanted):
            mine = order[edges[code] : edges[code + 1]]
            at = self._place(columns["step"][mine])
            if at is not None:
                own = {name: column[mine] for name, column in columns.items()}
                found.append(tensor_row(names[code], member_of[names[code]], own, at, self._wanted.statistic))
        if not found and self._wanted.step is not None:
            raise self._no_such_step(self._wanted.step, np.unique(columns["step"]))
        return sorted(found, key=group_order)

    def _place(self, steps: Int64Array) -> int | None:
        """Return the place of the step that was asked for, or of the last one."""
        if self._wanted.step is None:
            return len(steps) - 1
        at = int(np.searchsorted(steps, self._wanted.step))
        return at if at < len(steps) and steps[at] == self._wanted.step else None

    def _no_such_step(self, wanted: int, known: Int64Array) -> ConfigurationError:
        place = int((known < wanted).sum())
        near = " and ".join(str(step) for step in known[max(place - 1, 0) : place + 1])
        return ConfigurationError(
            f"Step {wanted} has no statistics in run {self.run.name!r}.",
            hint=f"The nearest are those of step {near}; they go from {known[0]} to {known[-1]}.",
        )

    def _collected(self, names: Sequence[str], member_of: Memberships) -> Sequence[str]:
        wanted = self._wanted.collection
        if wanted is None:
            return names
        collections = collections_of(self.run)
        held = ", ".join(sorted({one for several in member_of.values() for one in several}))
        if wanted not in collections:
            raise ConfigurationError(
                f"No collection {wanted!r} in run {self.run.name!r}.",
                hint=f"{did_you_mean(wanted, collections.names)} With statistics: {held}.",
            )
        found = [name for name in names if collections.get(wanted).matches(name)]
        if not found:
            raise ConfigurationError(
                f"Collection {wanted!r} of run {self.run.name!r} has no tensor with statistics.",
                hint=f"Those that do: {held}.",
            )
        return found

    def _matching(self, names: Sequence[str]) -> frozenset[str]:
        wanted = self._wanted.regex
        if wanted is None:
            return frozenset(names)
        pattern = compile_pattern(wanted, "--regex")
        found = frozenset(name for name in names if pattern.search(name))
        if not found:
            parts = {part for name in names for part in [name, *name.replace("/", ".").replace("_", ".").split(".")]}
            raise ConfigurationError(
                f"None of the {len(names)} tensors of run {self.run.name!r} matches {wanted!r}.",
                hint=f"{did_you_mean(wanted, sorted(parts))} `cutaway tensors {command_run(self.run)}` lists them.",
            )
        return found


def _rows_where(table: pa.Table, column: str, value: str | None) -> pa.Table:
    return table.filter(pc.equal(table[column], pa.scalar(value, pa.string())))
