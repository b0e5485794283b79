"""`Loaded`: the population of one evaluation as the studio holds it. Columns are read when somebody asks for them.

Rows are the samples of all subsets, one subset after the other, as in the files. Safe to use from several threads.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.filters import Filter, parse_filter, rows_where
from cutaway.analysis.filters.matching import known_column
from cutaway.arrays import BoolArray
from cutaway.run.analyses import KeptTable
from cutaway.run.evaluated import EvaluatedPopulation
from cutaway.run.evaluated.columns import CORRECT, LABEL, PREDICTION, SAMPLE
from cutaway.run.evaluated.kept import METHODS, map_kind
from cutaway.run.evaluations import Evaluation
from cutaway.run.exporting import readable_texts
from cutaway.run.identity import Run
from cutaway.studio.populations import derived
from cutaway.studio.populations.kept_tables import KeptTables, Placed, placed_map

__all__ = ["Loaded"]

T = TypeVar("T")


class Loaded:
    """The samples of an evaluation, without latent vectors, and what was kept of analyses of all of them."""

    def __init__(self, population: EvaluatedPopulation) -> None:
        self.population = population
        self.evaluation: Evaluation = population.evaluation
        self.run: Run = population.evaluation.run
        self.number = population.evaluation.number
        self.subsets = population.subsets
        self.classes = population.answer.classes
        self.space = population.space
        self.counts = population.counts
        self._lock = threading.RLock()
        self._columns: dict[str, pa.ChunkedArray] = {}
        self._kept = KeptTables(population, lambda: self.ids)
        self._made: dict[Hashable, tuple[object, Any]] = {}

    def __len__(self) -> int:
        return sum(self.counts.values())

    @property
    def own_columns(self) -> list[str]:
        """The columns that the evaluation itself has."""
        return self.population.column_names

    @property
    def column_names(self) -> list[str]:
        """Every column that can be asked for: the evaluation's, then what analyses and people add."""
        return [*self.own_columns, *(name for name, one in derived.COLUMNS.items() if one.is_there(self))]

    # No `cached_property` here: in Python 3.11 each has a lock that all evaluations share, held while it is made. Who
    # reads a kept table has ours and wants the ids; who makes the ids would have theirs and want ours.
    @property
    def ids(self) -> pa.Array:
        """The ids of the samples, in the order of the rows."""
        return self.remembered("ids", None, self._ids)

    def _ids(self) -> pa.Array:
        whole = self.column(SAMPLE).combine_chunks()
        return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole

    @property
    def repeated_ids(self) -> int:
        """How many ids more than one subset has; within a subset each has its own."""
        return self.remembered("repeated ids", None, self._repeated_ids)

    def _repeated_ids(self) -> int:
        starts = np.cumsum([0, *self.counts.values()]).tolist()
        named = (
            pc.all(pc.starts_with(self.ids.slice(start, count), f"{subset}/"), min_count=0).as_py()
            for start, (subset, count) in zip(starts, self.counts.items(), strict=False)
        )
        # Ids that begin with their subset differ between subsets; only those of strangers are compared.
        return 0 if all(named) else len(self.ids) - int(pc.count_distinct(self.ids).as_py())

    @property
    def order(self) -> npt.NDArray[np.uint32]:
        """The row of each point: random, and the same for as many samples, so that the first are a fair sample."""
        return self.remembered("order", None, lambda: np.random.default_rng(0).permutation(len(self)).astype(np.uint32))

    @property
    def samples_digest(self) -> str:
        """What tells which samples these are, in which order."""
        return self.remembered("digest", None, self._samples_digest)

    def _samples_digest(self) -> str:
        digest = hashlib.sha256(str(len(self)).encode())
        # Taken anew, the values lie in buffers of their own, whatever they were cut out of.
        for part in self.ids.take(pa.array(np.arange(len(self)))).buffers():
            digest.update(b"" if part is None else memoryview(part))
        return digest.hexdigest()[:32]

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a column. Raises with the nearest names where there is none."""
        added = None if name in self.own_columns else derived.COLUMNS.get(name)
        if added is not None and added.is_there(self):
            return self.remembered(("column", name), added.stamp(self), lambda: added.make(self))
        if name not in self.own_columns:
            known_column(self.schema, name)
        with self._lock:
            if name not in self._columns:
                self._columns[name] = self._correct_column() if name == CORRECT else self.fresh_columns([name])[name]
            return self._columns[name]

    def fresh_columns(self, names: Sequence[str]) -> pa.Table:
        """Read columns of the evaluation's own without keeping them; for whoever looks once at each."""
        missing = [name for name in names if name not in self._columns]
        read = self.population.table(missing) if missing else None
        columns = {
            name: readable_texts(read[name]) if read is not None and name in missing else self._columns[name]
            for name in names
        }
        return pa.table(columns)

    def select(self, names: Iterable[str]) -> pa.Table:
        """Return some columns as a table."""
        return pa.table({name: self.column(name) for name in names})

    def kept_row(self, kind: str, sample: str) -> dict[str, Any] | None:
        """Return what an analysis says of a sample; None where it says nothing."""
        held = self.kept(kind)
        if held is None:
            return None
        rows: list[dict[str, Any]] = held.table.filter(pc.equal(held.table[SAMPLE], sample)).slice(0, 1).to_pylist()
        return rows[0] if rows else None

    @property
    def schema(self) -> pa.Table:
        """A table without rows that has every column, for whoever must know their names."""
        return pa.table({name: pa.nulls(0) for name in self.column_names})

    def row_of(self, sample: str) -> int | None:
        """Return the row of a sample; None where there is no such sample."""
        found = pc.index(self.ids, pa.scalar(sample, self.ids.type)).as_py()
        return found if found >= 0 else None

    def rows_of(self, samples: Sequence[str]) -> dict[str, int]:
        """Return the rows of some samples by their ids; those that are not there are left out."""
        wanted = pa.array(list(dict.fromkeys(samples)), self.ids.type)
        rows = np.flatnonzero(np.asarray(pc.is_in(self.ids, value_set=wanted)))
        names = self.ids.take(pa.array(rows)).to_pylist()
        # Reversed, so that of a sample that is there twice the first row stands.
        return dict(reversed(list(zip(names, rows.tolist(), strict=True))))

    def where(self, conditions: Iterable[str]) -> BoolArray:
        """Return which rows fulfil all conditions, as people write them. Reads only the columns that they name."""
        schema = self.schema
        filters: list[Filter] = [parse_filter(one, schema) for one in conditions]
        if not filters:
            return np.ones(len(self), np.bool_)
        return rows_where(self.select(dict.fromkeys(one.column for one in filters)), filters)

    def kept(self, kind: str) -> KeptTable | None:
        """Return what was kept of an analysis of all samples, such as `mislabeled`; None where none of these is."""
        with self._lock:
            return self._kept.table(kind)

    @property
    def kept_notes(self) -> list[str]:
        """What of the analyses that were asked for does not count, and why."""
        with self._lock:
            return self._kept.notes

    def kept_stamp(self, kind: str) -> object:
        """Return what changes when another result of an analysis is kept."""
        return self._kept.stamp(kind)

    def map(self, method: str = "umap") -> Placed | None:
        """Return the map that was kept of a method; None where there is none of these samples."""
        kind = map_kind(method)
        return self.remembered(
            ("map", method), self._kept.stamp(kind), lambda: placed_map(self.kept(kind), len(self), method)
        )

    def maps(self) -> Iterator[Placed]:
        """Return the maps that were kept, the one to show first; each is read when it is asked for."""
        return (placed for method in METHODS if (placed := self.map(method)) is not None)

    def is_made(self, kind: str) -> bool:
        """Whether an analysis of this evaluation was kept, by what its file says; the file is not read whole."""
        with self._lock:
            return self._kept.is_made(kind)

    def remembered(self, name: Hashable, stamp: object, make: Callable[[], T]) -> T:
        """Return what was made under a name, and make it where that was of another stamp."""
        with self._lock:
            held = self._made.get(name)
        # Made without the lock: whoever draws the map does not wait for whoever describes every column.
        if held is None or held[0] != stamp:
            held = stamp, make()
            with self._lock:
                self._made[name] = held
        found: T = held[1]
        return found

    def column_stamp(self, name: str) -> object:
        """Return what changes when a column does; those of the evaluation itself never do."""
        return None if name in self.own_columns else derived.COLUMNS[name].stamp(self)

    def _correct_column(self) -> pa.ChunkedArray:
        # As the files would say it, without reading them again for labels and predictions that pages ask for anyway.
        return pc.equal(self.column(LABEL), self.column(PREDICTION))
