"""A glimpse of an evaluation: some rows from all over its files, and what the files say of all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cutaway.run.evaluated.glimpse import Glimpse, Told, together, told_by_files
from cutaway.run.evaluations import Evaluation
from cutaway.run.identity import Run
from tests.unit.studio.a_population import evaluation_of, make

SAMPLES = 60_000


def a_file(tmp_path: Path, values: list[float | None]) -> Evaluation:
    run = Run.create(tmp_path / "made", kind="evaluation")
    evaluation = Evaluation(run, 0)
    evaluation.path.mkdir(parents=True)
    pq.write_table(pa.table({"loss": pa.array(values, pa.float64())}), evaluation.path / "a.parquet", row_group_size=2)
    return evaluation


def test_a_group_without_values_hides_nothing_of_the_others(tmp_path: Path) -> None:
    assert told_by_files(a_file(tmp_path, [None, None, 1.0, 3.0]), "a")["loss"] == Told(2, 1.0, 3.0)


def test_of_infinite_values_the_files_tell_no_end(tmp_path: Path) -> None:
    assert told_by_files(a_file(tmp_path, [1.0, np.inf, np.nan, 0.5]), "a")["loss"] == Told(0, 0.5, None)


def test_files_that_do_not_both_tell_an_end_tell_none() -> None:
    assert together([Told(1, 0.0, 2.0), Told(2, None, 3.0)]) == Told(3, None, 3.0)


def test_rows_are_taken_from_all_over_the_files(tmp_path: Path) -> None:
    make(tmp_path, samples=SAMPLES)
    some = Glimpse(evaluation_of(tmp_path).run, 0, 3)
    index = some.table("training", ["index"])["index"].to_numpy()
    assert len(index) == some.count("training")
    assert index[0] == 0
    assert index[-1] > SAMPLES / 2
