"""Columns of very many samples are described by some of them, and by what the files say of all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cutaway.run.evaluations import Evaluation
from cutaway.run.identity import Run
from cutaway.studio.populations import described, glimpse
from cutaway.studio.populations.glimpse import Glimpse, Told, together, told_by_files
from cutaway.studio.wire import PopulationColumn
from tests.unit.studio.a_population import evaluation_of, make
from tests.unit.studio.one_run import studio_of

SAMPLES = 60_000


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    make(folder, samples=SAMPLES)
    return folder


def columns_of(root: Path) -> tuple[dict[str, PopulationColumn], int]:
    with studio_of(root) as asked:
        found = asked.data("made", "/population")
        return {one["name"]: PopulationColumn(**one) for one in found["columns"]}, found["looked_at"]


def test_what_files_tell_of_all_samples_is_exact_and_the_rest_is_near(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, all_of_them = columns_of(root)
    for module in (glimpse, described):
        monkeypatch.setattr(module, "LARGE", 40_000)
    some, looked_at = columns_of(root)
    assert all_of_them == SAMPLES
    assert 10_000 < looked_at < SAMPLES
    assert list(some) == list(whole)
    for name, column in some.items():
        assert (column.kind, column.group, column.values) == (whole[name].kind, whole[name].group, whole[name].values)
        if name not in ("correct", "probability"):
            assert (column.missing, column.min, column.max) == (whole[name].missing, whole[name].min, whole[name].max)
        assert column.strength == pytest.approx(whole[name].strength, abs=0.05)


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


def test_rows_are_taken_from_all_over_the_files(root: Path) -> None:
    some = Glimpse(evaluation_of(root).run, 0, 3)
    index = some.table("training", ["index"])["index"].to_numpy()
    assert len(index) == some.count("training")
    assert index[0] == 0
    assert index[-1] > SAMPLES / 2
