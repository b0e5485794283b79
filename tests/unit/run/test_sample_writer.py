"""Rows of an evaluation: in whole parts while it goes on, merged in a stream at its end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.analysis.population.plotting import previews
from cutaway.errors import ConfigurationError, RunDamaged
from cutaway.run import Run, sample_writer
from cutaway.run.sample_columns import (
    COUNT,
    PREVIEW,
    SPACE,
    columns_of,
    list_column,
    shape_of,
    tensor_field,
    unified_schema,
    value_column,
    vector_column,
)
from cutaway.run.sample_writer import SampleWriter


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run")


def batch(start: int, stop: int, **columns: pa.Array) -> pa.RecordBatch:
    ids = pa.array([f"training/{i}" for i in range(start, stop)])
    return pa.RecordBatch.from_pydict({"id": ids, "index": pa.array(range(start, stop)), **columns})


def tensors(start: int, stop: int, size: int) -> pa.RecordBatch:
    values = np.arange(start * size, stop * size, dtype=np.float32).reshape(-1, size)
    column = list_column(values, np.ones(stop - start, np.bool_))
    whole = batch(start, stop)
    return whole.append_column(tensor_field("prediction.y", column, (size,)), column)


class TestParts:
    def test_rows_lie_in_whole_parts_and_are_counted_without_a_gap(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sample_writer, "PART_ROWS", 10)
        writer = SampleWriter(run, 0)
        writer.append("training", 0, batch(0, 6))
        assert writer.rows_done("training") == 0
        writer.append("training", 6, batch(6, 12))
        assert writer.rows_done("training") == 12
        writer.append("training", 12, batch(12, 15))
        again = SampleWriter(run, 0)
        assert again.rows_done("training") == 12
        writer.flush()
        assert again.rows_done("training") == 15

    def test_what_lies_behind_a_gap_does_not_count(self, run: Run) -> None:
        writer = SampleWriter(run, 0)
        for start in (0, 5, 10):
            writer.append("training", start, batch(start, start + 5))
            writer.flush()
        [middle] = (run.path / "samples/0/parts").glob("training-000000000005-*")
        middle.unlink()
        assert writer.rows_done("training") == 5
        with pytest.raises(RunDamaged, match="5 of the 15 samples"):
            writer.merge({"training": 15})

    def test_rows_with_a_gap_are_refused(self, run: Run) -> None:
        writer = SampleWriter(run, 0)
        writer.append("training", 0, batch(0, 5))
        with pytest.raises(ConfigurationError, match="without a gap"):
            writer.append("training", 6, batch(6, 8))

    def test_time_closes_a_part_too(self, run: Run) -> None:
        now = [0.0]
        writer = SampleWriter(run, 0, clock=lambda: now[0])
        writer.append("training", 0, batch(0, 1))
        now[0] = sample_writer.PART_SECONDS + 1
        writer.append("training", 1, batch(1, 2))
        assert writer.rows_done("training") == 2


class TestMerging:
    def test_parts_of_two_subsets_become_two_tables(self, run: Run) -> None:
        writer = SampleWriter(run, 0)
        writer.append("training", 0, batch(0, 4))
        writer.append("validation", 0, batch(0, 3))
        writer.merge({"training": 4, "validation": 3, "test": 0})
        assert pq.read_table(run.path / "samples/0/training.parquet")["index"].to_pylist() == [0, 1, 2, 3]
        assert len(pq.read_table(run.path / "samples/0/validation.parquet")) == 3
        assert not (run.path / "samples/0/test.parquet").exists()
        writer.remove_parts()
        assert not (run.path / "samples/0/parts").exists()

    def test_columns_come_in_one_order_and_the_rest_lies_beside(self, run: Run) -> None:
        writer = SampleWriter(run, 0)
        rows = batch(
            0,
            3,
            **{
                "metric.a": pa.array([1.0, 2.0, 3.0]),
                "loss": pa.array([1.0, 2.0, 3.0]),
                "error": pa.array([None, "bad", None], pa.string()),
                f"{SPACE}latent": vector_column(np.arange(6, dtype=np.float32).reshape(3, 2)),
                PREVIEW: pa.array([b"one", None, b"three"]),
                f"{COUNT}inputs": pa.array([2, 0, 0], pa.int32()),
            },
        )
        writer.append("training", 0, rows)
        assert writer.merge({"training": 3}) == {"training": {"inputs": 2}}
        table = pq.read_table(run.path / "samples/0/training.parquet")
        assert table.column_names == ["id", "index", "error", "loss", "metric.a"]
        assert np.load(run.path / "samples/0/training.latent.npy").tolist() == [[0, 1], [2, 3], [4, 5]]
        assert [png for _, png in previews(run, "training")] == [b"one", None, b"three"]

    def test_a_part_without_vectors_has_rows_of_nan(self, run: Run) -> None:
        writer = SampleWriter(run, 0)
        writer.append("training", 0, batch(0, 2))
        writer.flush()
        vectors = vector_column(np.ones((2, 3), np.float32))
        writer.append("training", 2, batch(2, 4, **{f"{SPACE}latent": vectors}))
        writer.merge({"training": 4})
        found = np.load(run.path / "samples/0/training.latent.npy")
        assert np.isnan(found[:2]).all()
        assert (found[2:] == 1).all()

    @pytest.mark.parametrize(("size", "large"), [(1024, False), (1025, True)])
    def test_values_over_4_kb_lie_in_a_file_of_their_own(self, run: Run, size: int, large: bool) -> None:
        writer = SampleWriter(run, 0)
        writer.append("training", 0, tensors(0, 3, size))
        writer.merge({"training": 3})
        assert (run.path / "samples/0/training.blobs.arrow").is_file() is large
        field = pq.read_schema(run.path / "samples/0/training.parquet").field("prediction.y")
        assert shape_of(field) == (size,)
        assert pa.types.is_integer(field.type) is large

    def test_a_merge_again_gives_the_same(self, run: Run) -> None:
        writer = SampleWriter(run, 0)
        writer.append("training", 0, tensors(0, 3, 5))
        writer.merge({"training": 3})
        first = (run.path / "samples/0/training.parquet").read_bytes()
        (run.path / "samples/0/.training.parquet.1").write_bytes(b"left by a kill")
        SampleWriter(run, 0).merge({"training": 3})
        assert (run.path / "samples/0/training.parquet").read_bytes() == first
        assert not (run.path / "samples/0/.training.parquet.1").exists()

    def test_types_that_change_from_part_to_part_meet_in_one_that_holds_both(self, run: Run) -> None:
        writer = SampleWriter(run, 0)
        values = [[None, None], [1, 2], [1.5, None], ["x", "y"], [True, False]]
        for i, pair in enumerate(values):
            writer.append("training", 2 * i, batch(2 * i, 2 * i + 2, **{"metadata.m": value_column(pair)}))
            writer.flush()
        writer.merge({"training": 10})
        found = pq.read_table(run.path / "samples/0/training.parquet")["metadata.m"].to_pylist()
        assert found[:2] == [None, None]
        assert found[6:8] == ["x", "y"]
        assert [float(one) for one in found[2:5]] == [1, 2, 1.5]


class TestColumns:
    @given(
        st.lists(st.lists(st.integers(-5, 5), min_size=3, max_size=3), min_size=1, max_size=6),
        st.data(),
    )
    @settings(max_examples=50)
    def test_lists_are_the_rows_and_null_where_not_valid(self, rows: list[list[int]], data: st.DataObject) -> None:
        valid = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
        column = list_column(np.array(rows, np.int16), valid)
        wanted = [row if good else None for row, good in zip(rows, valid, strict=True)]
        assert column.to_pylist() == wanted

    def test_texts_and_scalars_are_lists_too(self) -> None:
        assert list_column(np.array(["a", "b"]), np.ones(2, np.bool_)).to_pylist() == [["a"], ["b"]]
        assert list_column(np.array([1, 2]), np.ones(2, np.bool_)).to_pylist() == [[1], [2]]

    def test_rows_become_columns_with_nulls(self) -> None:
        assert columns_of([{"a": 1}, {"a": 2, "b": "x"}]) == {"a": [1, 2], "b": [None, "x"]}

    def test_one_schema_of_several_widens(self) -> None:
        one = pa.schema([("a", pa.int64()), ("b", pa.null())])
        other = pa.schema([("a", pa.float32()), ("b", pa.list_(pa.int8())), ("c", pa.string())])
        assert unified_schema([one, other]).types == [pa.float64(), pa.list_(pa.int8()), pa.string()]
