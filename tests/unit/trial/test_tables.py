"""The tables for people."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from cutaway.run import Finding
from cutaway.run.findings import append_findings
from cutaway.tensors import modes
from cutaway.trial import Trial, create_trial
from tests.unit.trial.conftest import Write

ONE = np.ones(3, np.float32)


@pytest.fixture
def trial(write: Write) -> Trial:
    writing = write(workers=("worker_0", "worker_1"))
    for worker in writing.leases:
        for step in range(4):
            mode = "EVAL" if step == 3 else "TRAIN"
            seen = {"Net_fc.weight": ONE * step, "gradient/Net_fc.weight": ONE}
            rest = {"mode": mode, "mode_step": step % 3, "samples": [f"training/{step}", None]}
            writing.step(step, None, seen, worker=worker, **rest)
        rows = {"name": ["loss", "lr"], "step": [0, 1], "mode": ["TRAIN", "EVAL"], "value": [0.5, 0.1], "time": [1, 2]}
        writing.table("scalars", worker).append_rows(rows, 0)
        values = {"step": [0, 3], "sample": ["training/0", "test/9"], "name": ["loss", "margin"], "value": [0.25, -1.0]}
        writing.table("values", worker).append_rows(values, 0)
    finding = Finding("loss-spike", "warning", "It rose.", where={"step": 3})
    append_findings(writing.table("findings"), [finding])
    append_findings(writing.table("findings", "worker_1"), [finding, Finding("late", "info", "Done.")])
    writing.close()
    return create_trial(writing.run.path)


def test_statistics_have_a_row_per_step_tensor_and_worker_in_step_order(trial: Trial) -> None:
    table = trial.statistics()
    assert table.column_names == [
        *("step", "mode", "mode_step", "worker", "tensor", "size", "nonfinite", "zeros"),
        *("min", "max", "mean", "std", "l1", "l2", "abs_min", "change", "active"),
    ]
    assert table.num_rows == 4 * 2 * 2
    assert table["step"].to_pylist() == sorted(table["step"].to_pylist())
    last = table.slice(14).to_pylist()
    assert [(row["mode"], row["mode_step"], row["worker"]) for row in last] == [("EVAL", 0, "worker_1")] * 2


def test_statistics_can_be_narrowed(trial: Trial) -> None:
    assert set(trial.statistics(tensor="Net_fc.weight")["tensor"].to_pylist()) == {"Net_fc.weight"}
    assert trial.statistics(tensor=["Net_fc.weight", "missing"]).num_rows == 8
    assert trial.statistics(regex="^gradient").num_rows == 8
    assert trial.statistics(collection="weights").num_rows == 8
    assert trial.statistics(tensor="Net_fc.weight", collection="gradients").num_rows == 0
    assert trial.statistics(mode=modes.EVAL)["step"].to_pylist() == [3] * 4
    assert trial.statistics(tensor="Net_fc.weight", mode="train")["max"].to_pylist() == [0, 0, 1, 1, 2, 2]


def test_tables_become_pandas_and_polars_frames_in_one_call(trial: Trial) -> None:
    for table in (trial.statistics(), trial.scalars(), trial.step_table(), trial.sample_values(), trial.findings()):
        assert isinstance(table.to_pandas(), pd.DataFrame)
        assert pl.from_arrow(table).shape == table.shape


def test_scalars_are_there_at_once_and_can_be_narrowed(trial: Trial) -> None:
    assert trial.scalars().column_names == ["name", "step", "mode", "value", "time", "worker"]
    assert trial.scalars(name="loss")["value"].to_pylist() == [0.5, 0.5]
    assert trial.scalars(mode=modes.EVAL)["name"].to_pylist() == ["lr", "lr"]


def test_the_step_table_has_every_recorded_step_with_its_samples(trial: Trial) -> None:
    table = trial.step_table()
    assert table.column_names == [
        *("step", "mode", "mode_step", "worker", "epoch", "time"),
        *("data", "forward", "backward", "optimizer", "samples", "statistics", "thinned"),
    ]
    assert table["step"].to_pylist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert table["samples"].to_pylist()[2] == ["training/1", None]
    assert trial.step_table(mode=modes.EVAL).num_rows == 2


def test_the_samples_of_a_step_are_those_of_all_workers(trial: Trial) -> None:
    assert trial.samples(2) == ["training/2", None, "training/2", None]


def test_a_step_without_known_samples_has_none(write: Write) -> None:
    writing = write()
    writing.step(0, {"weight": ONE})
    assert create_trial(writing.run.path).samples(0) is None


def test_sample_values_come_with_the_mode_of_their_step(trial: Trial) -> None:
    table = trial.sample_values(sample="test/9")
    assert table.column_names == ["step", "mode", "mode_step", "worker", "sample", "name", "value"]
    assert table["mode"].to_pylist() == ["EVAL", "EVAL"]
    assert trial.sample_values(name="loss")["value"].to_pylist() == [0.25, 0.25]
    assert trial.sample_values(mode=modes.TRAIN).num_rows == 2


def test_sample_values_of_a_step_without_a_record_are_there_at_once(write: Write) -> None:
    writing = write()
    values = {"step": [0], "sample": ["training/0"], "name": ["loss"], "value": [math.inf]}
    writing.table("values").append_rows(values, 0)
    trial = create_trial(writing.run.path)
    assert trial.sample_values().select(["mode", "mode_step", "value"]).to_pylist() == [
        {"mode": None, "mode_step": None, "value": math.inf}
    ]
    writing.listed(0)
    assert trial.sample_values()["mode"].to_pylist() == ["TRAIN"]


def test_findings_are_listed_once_each_oldest_first(trial: Trial) -> None:
    table = trial.findings()
    assert table["code"].to_pylist() == ["loss-spike", "late"]
    assert json.loads(table["where"].to_pylist()[0]) == {"step": 3}
    assert [finding.code for finding in trial.run.findings()] == ["loss-spike", "late"]


def test_tables_of_a_run_that_has_recorded_nothing_are_empty_and_have_their_columns(write: Write, trial: Trial) -> None:
    empty = create_trial(write("empty").run.path)
    for name in ("statistics", "scalars", "step_table", "sample_values", "findings"):
        assert getattr(empty, name)().schema.equals(getattr(trial, name)().schema), name


def test_a_trial_tells_notebooks_how_it_stands_without_markup_from_names(write: Write) -> None:
    writing = write()
    for step in range(12):
        writing.step(step, {"<script>": ONE})
    page = create_trial(writing.run.path)._repr_html_()
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert "running" in page
    assert "0, 1, 2, 3, 4, 5, 6, … 11 (12)" in page
    assert repr(create_trial(writing.run.path)).startswith("Trial(")
