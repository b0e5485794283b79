from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cutaway.analysis.batches import batch_curves
from cutaway.run import Run
from tests.unit.trial.conftest import Writing

LOSS = "CrossEntropyLoss_output_0"


def _values(writing: Writing, step: int, worker: str, **named: list[float]) -> None:
    for name, numbers in named.items():
        ids = [f"training/{worker}-{i}" for i in range(len(numbers))]
        rows = {"step": [step] * len(ids), "sample": ids, "name": [name] * len(ids), "value": numbers}
        writing.table("values", worker).append_rows(rows, step)


def test_the_tensor_of_a_loss_is_read_where_there_is_no_scalar(tmp_path: Path) -> None:
    writing = Writing(Run.create(tmp_path / "run"))
    writing.collections()
    for step, loss in enumerate([3.0, np.nan, 1.0]):
        writing.statistics(step, {LOSS: np.array(loss), "AuxLoss_output_1": np.array([1.0, 2.0])})
        writing.listed(step)
    writing.close()
    found = batch_curves(tmp_path / "run")
    assert found.table["loss"].to_pylist() == pytest.approx([3, np.nan, 1], nan_ok=True)
    assert found.notes[0] == f"The loss is tensor {LOSS!r} for 3 batches."


def test_a_batch_is_the_mean_over_the_samples_of_all_workers(tmp_path: Path) -> None:
    workers = ("worker_0", "worker_1")
    writing = Writing(Run.create(tmp_path / "run"), workers=workers)
    writing.collections()
    _values(writing, 0, "worker_0", loss=[1.0, 2.0, 3.0], correct=[1, 1, 0])
    _values(writing, 0, "worker_1", loss=[10.0], correct=[np.nan])
    for worker in workers:
        writing.listed(0, worker=worker)
    writing.close()
    row = batch_curves(tmp_path / "run").table.to_pylist()
    assert len(row) == 1
    assert (row[0]["mode"], row[0]["step"], row[0]["batch"], row[0]["count"]) == ("TRAIN", 0, 0, 4)
    assert row[0]["loss"] == 4
    assert row[0]["accuracy"] == pytest.approx(2 / 3)  # of the fourth the loss ignored the label


def test_values_at_steps_that_left_no_record_are_counted_and_left_out(tmp_path: Path) -> None:
    writing = Writing(Run.create(tmp_path / "run"))
    writing.collections()
    for step in range(4):
        _values(writing, step, "worker_0", loss=[1.0, 2.0])
        if step % 2 == 0:
            writing.listed(step)
    writing.close()
    found = batch_curves(tmp_path / "run")
    assert found.table["step"].to_pylist() == [0, 2]
    assert found.notes[-1] == "Steps with values of samples that left no record, and are left out: 2."


def test_a_live_run_shows_what_is_there_and_then_more(tmp_path: Path) -> None:
    writing = Writing(Run.create(tmp_path / "run"))
    writing.collections()
    for step in range(2):
        _values(writing, step, "worker_0", loss=[float(step)])
        writing.listed(step)
        assert batch_curves(tmp_path / "run").table["loss"].to_pylist()[: step + 1] == list(range(step + 1))
    writing.close()
