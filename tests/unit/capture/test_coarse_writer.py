"""The coarse copy of the statistics, as the writer thread keeps it: one batch per 64 recorded steps."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cutaway.capture.coarse_writer import CoarseWriter
from cutaway.capture.statistics_batch import Part, side_by_side
from cutaway.run import Run, TableWriter, WriterId
from cutaway.run.schemas import OVERVIEW, STATISTICS
from cutaway.tensors.coarse import STRETCH
from cutaway.tensors.statistic_names import FLOATS, STATISTIC_COLUMNS


class Bench:
    """A coarse writer over a real run."""

    def __init__(self, path: Path) -> None:
        self.run = Run.create(path)
        who = WriterId("train", "worker_0", 0)
        self.tables = {name: self.run.writer(name, who) for name in (OVERVIEW, STATISTICS)}
        self.asked: list[str] = []
        self.writer = CoarseWriter(self._table)

    def _table(self, name: str) -> TableWriter:
        self.asked.append(name)
        return self.tables[name]

    def add(self, *parts: Part) -> None:
        self.writer.add(parts, side_by_side(parts))

    def rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.run.table(OVERVIEW).read().to_pylist()
        return found


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "run")


def part(step: int, *names: str, value: float | None = None, nonfinite: int = 0) -> Part:
    number = float(step if value is None else value)
    columns = {name: np.full(len(names), number) for name in STATISTIC_COLUMNS}
    columns |= {
        "size": np.full(len(names), 7),
        "nonfinite": np.full(len(names), nonfinite),
        "zeros": np.zeros(len(names)),
    }
    return Part(step, pa.array(names, pa.string()), columns)


def test_a_batch_is_written_for_each_64_steps_whatever_groups_they_come_in(bench: Bench) -> None:
    parts = [part(step, "a", "b") for step in range(150)]
    for start in range(0, 150, 7):
        bench.add(*parts[start : start + 7])
    assert [(row["step"], row["last_step"], row["tensor"]) for row in bench.rows()] == [
        (0, 63, "a"),
        (0, 63, "b"),
        (64, 127, "a"),
        (64, 127, "b"),
    ]
    bench.writer.flush()
    assert [(row["step"], row["last_step"], row["steps"]) for row in bench.rows()][-1] == (128, 149, 22)
    bench.writer.flush()
    assert len(bench.rows()) == 6


def test_a_row_has_the_least_greatest_and_last_of_every_statistic(bench: Bench) -> None:
    bench.add(part(3, "a", value=2.0, nonfinite=1), part(5, "a", value=-4.0), part(8, "a", value=1.0, nonfinite=6))
    bench.writer.flush()
    (row,) = bench.rows()
    assert (row["step"], row["last_step"], row["own_first"], row["own_last"], row["size"]) == (3, 8, 3, 8, 7)
    for name in FLOATS:
        assert (row[f"{name}_min"], row[f"{name}_max"], row[f"{name}_last"]) == (-4.0, 2.0, 1.0), name
    assert (row["nonfinite_min"], row["nonfinite_max"], row["nonfinite_last"]) == (0, 6, 6)


def test_a_statistic_that_no_step_has_is_nan(bench: Bench) -> None:
    bench.add(part(0, "a", value=math.nan), part(1, "a", value=math.nan, nonfinite=7))
    bench.writer.flush()
    (row,) = bench.rows()
    assert all(math.isnan(row[f"l2_{which}"]) for which in ("min", "max", "last"))
    assert row["nonfinite_max"] == 7


def test_tensors_may_come_and_go(bench: Bench) -> None:
    for step in range(100):
        extra = [part(step, "seldom", value=9.0)] if step in (70, 80) else []
        changing = part(step, "b", "a") if step % 2 else part(step, "a", "b")
        bench.add(changing, *extra)
    bench.writer.flush()
    rows = {(row["step"], row["tensor"]): row for row in bench.rows()}
    assert set(rows) == {(0, "a"), (0, "b"), (64, "a"), (64, "b"), (64, "seldom")}
    seldom = rows[64, "seldom"]
    assert (seldom["steps"], seldom["own_first"], seldom["own_last"], seldom["last_step"]) == (2, 70, 80, 99)
    assert (rows[64, "b"]["steps"], rows[64, "b"]["l2_min"], rows[64, "b"]["l2_max"]) == (36, 64.0, 99.0)


def test_steps_without_statistics_between_them_do_not_count(bench: Bench) -> None:
    for step in range(0, 50 * (STRETCH + 1), 50):
        bench.add(part(step, "a"))
    (row,) = bench.rows()
    assert (row["step"], row["last_step"], row["steps"]) == (0, 50 * (STRETCH - 1), STRETCH)


def test_nothing_is_written_of_nothing(bench: Bench) -> None:
    bench.writer.add([], side_by_side([]))
    bench.writer.flush()
    assert bench.asked == []
