"""Scalars, steps and samples' values as a page asks for them again and again while a run grows."""

from pathlib import Path

import numpy as np

from cutaway.run.schemas import SCALARS, STEPS, VALUES
from cutaway.run.segments import WriterId
from cutaway.tensors.modes import ModeKeys
from cutaway.testing.rules import ScriptedRun
from cutaway.trial import create_trial


def test_series_grow_and_agree_with_the_windows(tmp_path: Path) -> None:
    run = ScriptedRun()
    run.begin(tmp_path / "run")
    trial = None
    for step in range(20):
        mode = ModeKeys.EVAL if step % 5 == 4 else ModeKeys.TRAIN
        run.step(mode, scalars={"loss": float(step), "other": -1.0}, epoch=step // 5)
        trial = trial or create_trial(tmp_path / "run")
        if step % 7 == 0:
            trial.scalar_series()
    assert trial is not None
    series = trial.scalar_series()
    assert list(series) == [("loss", "TRAIN"), ("other", "TRAIN"), ("loss", "EVAL"), ("other", "EVAL")]
    for (name, mode), points in series.items():
        known = trial.scalar_window(name, 0, 100, mode)
        np.testing.assert_array_equal(points.step, known["step"])
        np.testing.assert_array_equal(points.value, known["value"])
    run.end()


def test_a_later_attempt_takes_over_in_every_view(tmp_path: Path) -> None:
    scripted = ScriptedRun()
    for step in range(10):
        scripted.step(scalars={"loss": float(step)}, samples=["a"])
    run = scripted.write(tmp_path / "run")
    trial = create_trial(tmp_path / "run")
    assert len(trial.scalar_series()["loss", "TRAIN"].step) == len(trial.step_columns()["step"]) == 10
    number, lease = run.begin_attempt(from_step=4)
    who = WriterId("train", "worker_0", number)
    rows = {"step": [4], "mode": ["TRAIN"], "mode_step": [4], "time": [1.0], "samples": [["b", "c"]]}
    for table, content in (
        (SCALARS, {"name": ["loss"], "step": [4], "mode": ["TRAIN"], "value": [100.0], "time": [1.0]}),
        (VALUES, {"step": [4], "sample": ["b"], "name": ["loss"], "value": [7.0]}),
        (STEPS, rows),
    ):
        writer = run.writer(table, who)
        writer.append_rows(content, 4)
        writer.close()
    assert trial.scalar_series()["loss", "TRAIN"].value.tolist() == [0.0, 1.0, 2.0, 3.0, 100.0]
    columns = trial.step_columns()
    assert columns["step"].tolist() == [0, 1, 2, 3, 4]
    assert columns["samples"].tolist() == [1, 1, 1, 1, 2]
    assert trial.values_window(4, 5).to_pylist() == [{"step": 4, "sample": "b", "name": "loss", "value": 7.0}]
    assert len(trial.values_window(0, 4)) == 0
    del lease


def test_samples_of_all_workers_are_counted_and_other_columns_are_the_first_ones(tmp_path: Path) -> None:
    scripted = ScriptedRun()
    for _ in range(3):
        scripted.step(samples=["a", "b"])
    run = scripted.write(tmp_path / "run")
    writer = run.writer(STEPS, WriterId("train", "worker_1", 0))
    for step in (0, 2):
        row = {"step": [step], "mode": ["EVAL"], "mode_step": [0], "time": [9.0], "samples": [["c"]]}
        writer.append_rows(row, step)
    writer.close()
    columns = create_trial(tmp_path / "run").step_columns()
    assert columns["samples"].tolist() == [3, 2, 3]
    assert columns["mode"].tolist() == ["TRAIN"] * 3


def test_an_empty_run_has_empty_columns(tmp_path: Path) -> None:
    ScriptedRun().write(tmp_path / "run")
    from cutaway.run.identity import Run
    from cutaway.trial.trial import Trial

    trial = Trial(Run.open(tmp_path / "run"))
    assert trial.scalar_series() == {}
    assert len(trial.step_columns()["step"]) == 0
    assert (len(trial.values_window(0, 10)), trial.saved_names()) == (0, set())
