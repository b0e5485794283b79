"""Records become rows: statistics, kept tensors, values, scalars, and the step last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.capture.budget import RESERVE, DiskBudget
from cutaway.capture.records import Layout, Offer, Slab, StepRecord
from cutaway.capture.selection import Selection
from cutaway.capture.step_writer import StepWriter
from cutaway.errors import StorageError
from cutaway.run import Run, TableWriter, WriterId
from cutaway.tensors.blocked_statistics import StatisticsPlan
from cutaway.tensors.collections import Collections
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reduction_config import ReductionConfig
from cutaway.tensors.save_config import SaveConfig
from tests.recording import Recorded, assert_statistics

WEIGHT, GRADIENT = "Net_fc.weight", "gradient/Net_fc.weight"
LAYOUT = Layout(
    (WEIGHT, GRADIENT), ("float32", "bfloat16"), ((2, 2), (2, 2)), 1, StatisticsPlan([(WEIGHT, 4), (GRADIENT, 4)])
)


class Bench:
    """A step writer over a real run, with everything that it is given by a recorder."""

    def __init__(self, path: Path, *included: str, limit: int = 10**9, **settings: Any) -> None:
        self.path = path
        run = Run.create(path)
        who = WriterId("train", "worker_0", 0)
        self.tables: dict[str, TableWriter] = {}
        self.released: list[Slab] = []
        self.written: list[str] = []
        self.budget = DiskBudget(limit)
        self.spent = 0
        save = settings.get("save", SaveConfig(save_interval=1))
        self.selection = Selection(Collections(), included, save, settings.get("reductions"))

        def table(name: str) -> TableWriter:
            self.written.append(name)
            return self.tables.setdefault(name, run.writer(name, who))

        self.writer = StepWriter(table, self.selection, self.budget, self.released.append, self._spend)

    def _spend(self) -> None:
        written = sum(table.bytes_written for table in self.tables.values())
        self.budget.spend(written - self.spent)
        self.spent = written

    def write(self, *records: StepRecord) -> Recorded:
        self.writer.write(records)
        return Recorded(self.path)

    def record(self, step: int, **fields: Any) -> StepRecord:
        due = self.selection.due(ModeKeys.TRAIN, step)
        return StepRecord(step, ModeKeys.TRAIN, step, 100.0 + step, due=due, **{"statistics": True, **fields})


def slab(weight: list[float], gradient: list[float] | None = None, scale: float = 1.0) -> Slab:
    found = Slab(LAYOUT, LAYOUT.plan.buffer(), [True, gradient is not None], scale)
    found.values(0)[:] = weight
    if gradient is not None:
        found.values(1)[:] = gradient
    return found


def test_a_step_is_listed_after_everything_else_of_it_is_written(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "run", "weights")
    fields = {"slab": slab([1, 2, 3, 4]), "scalars": [("loss", 0.5)], "samples": ["training/1"]}
    bench.write(bench.record(0, sample_values=[(["training/1"], lambda: {"loss": np.array([0.5])})], **fields))
    assert bench.written[-1] == "trace/steps"
    assert set(bench.written) == {"trace/statistics", "trace/tensors", "values", "scalars", "trace/steps"}


def test_a_step_whose_tensors_could_not_be_written_is_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path / "run", "weights")
    bench.write(bench.record(0, slab=slab([1, 2, 3, 4])))

    def full(*_: Any) -> None:
        raise StorageError("full")

    monkeypatch.setattr(bench.tables["trace/tensors"], "append_tensors", full)
    with pytest.raises(StorageError):
        bench.write(bench.record(1, slab=slab([1, 2, 3, 4])))
    assert Recorded(bench.path).numbers() == [0]


def test_statistics_of_a_slab_and_its_change(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "run")
    recorded = bench.write(
        bench.record(0, slab=slab([1, 2, 3, 4], [0, 0, 1, -1])), bench.record(1, slab=slab([1, 2, 3, 6], [1, 1, 1, 1]))
    )
    rows = recorded.statistics()
    assert_statistics(rows[0, WEIGHT], np.array([1, 2, 3, 4]))
    assert_statistics(rows[0, GRADIENT], np.array([0, 0, 1, -1]))
    assert rows[0, WEIGHT]["change"] is None
    assert rows[1, WEIGHT]["change"] == 2.0
    assert rows[1, GRADIENT]["change"] is None


def test_the_change_spans_the_steps_without_statistics(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "run")
    recorded = bench.write(
        bench.record(0, slab=slab([1, 2, 3, 4])),
        bench.record(1, slab=slab([9, 9, 9, 9]), statistics=False),
        bench.record(2, slab=slab([1, 2, 3, 7])),
    )
    assert recorded.statistics()[2, WEIGHT]["change"] == 3.0


def test_a_tensor_that_a_step_did_not_have_has_no_row(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "run", "weights", "gradients")
    recorded = bench.write(bench.record(0, slab=slab([1, 2, 3, 4])))
    assert set(recorded.statistics()) == {(0, WEIGHT)}
    assert set(recorded.tensors()) == {(0, WEIGHT)}


def test_scaled_gradients_are_written_without_their_scale_and_weights_as_they_are(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "run", "weights", "gradients")
    recorded = bench.write(bench.record(0, slab=slab([1, 2, 3, 4], [8, 16, 24, 32], scale=8.0)))
    rows, saved = recorded.statistics(), recorded.tensors()
    assert rows[0, WEIGHT]["max"] == 4
    assert rows[0, GRADIENT]["max"] == 4
    bits = saved[0, GRADIENT].array
    assert bits is not None
    assert (bits.astype(np.uint32) << 16).view(np.float32).ravel().tolist() == [1, 2, 3, 4]


def test_kept_tensors_have_their_own_type_and_shape(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "run", "all")
    offers = [Offer("x_output_0", np.arange(6, dtype=np.int16).reshape(2, 3), "int16")]
    saved = bench.write(bench.record(0, slab=slab([1, 2, 3, 4], [1, 2, 3, 4]), offers=offers)).tensors()
    assert {name: (one.dtype, one.shape) for (_, name), one in saved.items()} == {
        WEIGHT: ("float32", (2, 2)),
        GRADIENT: ("bfloat16", (2, 2)),
        "x_output_0": ("int16", (2, 3)),
    }


def test_reductions_alone_take_no_raw_bytes(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "run", "weights", reductions=ReductionConfig(reductions=["sum"], abs_norms=["l1"]))
    saved = bench.write(bench.record(0, slab=slab([1, -2, 3, 4]))).tensors()[0, WEIGHT]
    assert saved.array is None
    assert saved.reductions == {"sum": 6.0, "abs_l1": 10.0}


def test_a_watched_tensor_that_is_not_finite_is_kept_besides_the_schedule(tmp_path: Path) -> None:
    save = SaveConfig(end_step=0, when_nan=["gradient"])
    bench = Bench(tmp_path / "run", "weights", save=save)
    recorded = bench.write(
        bench.record(0, slab=slab([1, 2, 3, 4], [1, 2, 3, 4]), statistics=False),
        bench.record(1, slab=slab([1, 2, 3, 4], [1, 2, 3, np.nan]), statistics=False),
        bench.record(2, slab=slab([1, 2, np.inf, 4], [1, 2, 3, 4]), statistics=False),
    )
    assert recorded.saved_at(WEIGHT) == [1]
    assert recorded.statistics() == {}


@pytest.mark.parametrize("values", [[], [1.0], [[1, 2], [3, 4]], [True, False], [1e300, -1e300], [np.nan, np.inf]])
def test_statistics_of_offers_of_any_kind(tmp_path: Path, values: Any) -> None:
    bench = Bench(tmp_path / "run", "all")
    array = np.asarray(values)
    rows = bench.write(bench.record(0, offers=[Offer("x", array, str(array.dtype))])).statistics()
    assert_statistics(rows[0, "x"], array)


def test_offers_of_mixed_kinds_keep_their_order(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "run", "all")
    arrays = [np.ones(2, np.float32), np.arange(3), np.ones((2, 2), np.float16), np.ones(1, np.float64) * 7]
    offers = [Offer(f"x{i}", array, str(array.dtype)) for i, array in enumerate(arrays)]
    rows = bench.write(bench.record(0, offers=offers)).statistics()
    for i, array in enumerate(arrays):
        assert_statistics(rows[0, f"x{i}"], array)


@pytest.mark.parametrize("shape", [(4, 3, 2, 2), (4, 3), (5,), (), (0, 3), (4, 0)])
def test_the_activity_of_channels(tmp_path: Path, shape: tuple[int, ...]) -> None:
    bench = Bench(tmp_path / "run", "all")
    array = np.asarray(np.random.default_rng(0).normal(size=shape), np.float32)
    row = bench.write(bench.record(0, offers=[Offer("x", array, "float32", activity=True)])).statistics()[0, "x"]
    channels = shape[1] if len(shape) > 1 else int(np.prod(shape, initial=1)) if shape else 1
    assert len(row["active"] or ()) == channels
    if array.size and len(shape) > 1:
        wanted = np.moveaxis(array > 0, 1, 0).reshape(channels, -1).mean(axis=1)
        assert row["active"] == pytest.approx(wanted)


def test_slabs_go_back_all_but_the_one_that_the_next_change_needs(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "run")
    slabs = [slab([1, 2, 3, 4]) for _ in range(3)]
    bench.write(*(bench.record(step, slab=one) for step, one in enumerate(slabs)))
    assert bench.released == slabs[:2]


def test_a_slab_goes_back_although_writing_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path / "run")

    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(StatisticsPlan, "compute", broken)
    one = slab([1, 2, 3, 4])
    with pytest.raises(ZeroDivisionError):
        bench.write(bench.record(0, slab=one))
    assert bench.released == [one] or bench.writer._previous is one


def test_values_of_samples_of_several_batches(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "run")
    values = [
        (["training/a", None], lambda: {"loss": np.array([1.0, 2.0]), "correct": np.array([1.0, 0.0])}),
        (["training/b"], lambda: {"loss": np.array([3.0])}),
        ([None], lambda: {"loss": np.array([4.0])}),
    ]
    recorded = bench.write(bench.record(0, sample_values=values, samples=["training/a", None, "training/b", None]))
    assert recorded.values("loss") == {(0, "training/a"): 1.0, (0, "training/b"): 3.0}
    assert recorded.values("correct") == {(0, "training/a"): 1.0}


def test_full_tensors_that_do_not_fit_are_refused_within_one_group(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "run", "weights", limit=RESERVE + 30_000)
    big = Layout((WEIGHT,), ("float32",), ((2_000,),), 1, StatisticsPlan([(WEIGHT, 2_000)]))
    records = [bench.record(step, slab=Slab(big, big.plan.buffer(), [True])) for step in range(8)]
    recorded = bench.write(*records)
    assert 1 <= len(recorded.saved_at(WEIGHT)) <= 3
    assert bench.writer.refused == 8 - len(recorded.saved_at(WEIGHT))
    assert recorded.numbers() == list(range(8))


def test_plans_of_ever_new_sizes_are_forgotten(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "run", "all")
    for step in range(60):
        bench.write(bench.record(step, offers=[Offer("x", np.ones(step + 1, np.float32), "float32")]))
    assert len(bench.writer._plans) <= 16
    assert Recorded(bench.path).statistics()[59, "x"]["size"] == 60
