"""Writes run folders the way a hook does, row by row, so that tests decide what is there at which moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.run import Run, RunState, TableWriter, WriterId
from cutaway.run.leases import Lease
from cutaway.tensors.collections import Collections
from cutaway.tensors.statistics import reference_statistics

Arrays = Mapping[str, Any]


class Writing:
    """One attempt of one run, being written by this process."""

    def __init__(self, run: Run, *, from_step: int | None = 0, workers: Sequence[str] = ("worker_0",)) -> None:
        self.run = run
        self.attempt, lease = run.begin_attempt(from_step=from_step)
        self.leases: dict[str, Lease] = {"worker_0": lease}
        for worker in workers[1:]:
            self.leases[worker] = run.join_attempt(worker, self.attempt)
        self._tables: dict[tuple[str, str], TableWriter] = {}

    def table(self, name: str, worker: str = "worker_0") -> TableWriter:
        if (name, worker) not in self._tables:
            self._tables[name, worker] = self.run.writer(name, WriterId("train", worker, self.attempt))
        return self._tables[name, worker]

    def collections(self, collections: Collections | None = None) -> None:
        content = {"included": [], "collections": (collections or Collections()).to_dict()}
        self.run.write_document("trace/collections.json", content)

    def tensors(
        self,
        step: int,
        arrays: Arrays,
        *,
        worker: str = "worker_0",
        dtypes: Mapping[str, str] | None = None,
        reductions: Mapping[str, Mapping[str, float]] | None = None,
        raw: bool = True,
    ) -> None:
        values = [np.ascontiguousarray(array).reshape(np.shape(array)) for array in arrays.values()]
        kept = reductions or {}
        rows = {
            "step": [step] * len(arrays),
            "tensor": list(arrays),
            "dtype": [(dtypes or {}).get(name, str(value.dtype)) for name, value in zip(arrays, values, strict=True)],
            "shape": [value.shape for value in values],
            "reductions": [list(kept[name].items()) if name in kept else None for name in arrays],
        }
        table = self.table("trace/tensors", worker)
        table.append_tensors(rows, step, [value if raw else None for value in values])

    def statistics(self, step: int, arrays: Arrays, *, worker: str = "worker_0") -> None:
        found = [asdict(reference_statistics(array)) for array in arrays.values()]
        columns = {name: [row[name] for row in found] for name in found[0]}
        rows = {"step": [step] * len(arrays), "tensor": list(arrays), **columns}
        self.table("trace/statistics", worker).append_rows(rows, step)

    def listed(
        self,
        step: int,
        *,
        mode: str = "TRAIN",
        mode_step: int | None = None,
        worker: str = "worker_0",
        samples: Sequence[str | None] | None = None,
    ) -> None:
        row = {"step": step, "mode": mode, "mode_step": step if mode_step is None else mode_step, "time": 1e9 + step}
        rest = {"samples": samples, "statistics": True, "thinned": 0}
        self.table("trace/steps", worker).append_rows({key: [value] for key, value in {**row, **rest}.items()}, step)

    def step(
        self,
        step: int,
        saved: Arrays | None = None,
        seen: Arrays | None = None,
        *,
        worker: str = "worker_0",
        **listing: Any,
    ) -> None:
        """Write a whole step: `saved` tensors, statistics of the `seen` ones, and last its own row."""
        if saved:
            self.tensors(step, saved, worker=worker)
        if seen:
            self.statistics(step, seen, worker=worker)
        self.listed(step, worker=worker, **listing)

    def close(self, state: RunState = RunState.FINISHED, *, workers: Sequence[str] | None = None) -> None:
        """Close the files and say how it ended."""
        ending = list(self.leases) if workers is None else workers
        for (_, worker), table in self._tables.items():
            if worker in ending:
                table.close()
        for worker in ending:
            self.leases[worker].release(state)


Write = Callable[..., Writing]


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Write]:
    """Start a run, or the next attempt of one, and write its collections."""
    started: list[Writing] = []

    def start(name: str = "mnist", run: Run | None = None, *, collections: bool = True, **about: Any) -> Writing:
        writing = Writing(run or Run.create(tmp_path / name), **about)
        if collections:
            writing.collections()
        started.append(writing)
        return writing

    yield start
    for writing in started:
        for table in writing._tables.values():
            table.close()


def flip(path: Path, offset: int, bit: int = 3) -> None:
    """Flip one bit of a file."""
    data = bytearray(path.read_bytes())
    data[offset] ^= 1 << bit
    path.write_bytes(bytes(data))


@pytest.fixture
def damage_file() -> Callable[..., None]:
    return flip
