"""The long run of the rules' benchmark is a run like any other, sick where it says and nowhere else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.rules_looking import linked
from benchmarks.rules_run import TENSORS, LongRun, write_long_run
from cutaway.tensors.modes import ModeKeys
from cutaway.trial import Trial, create_trial

STEPS = 520


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[LongRun, Path]:
    folder = tmp_path_factory.mktemp("bench") / "run"
    return write_long_run(folder, STEPS), folder


@pytest.fixture
def trial(written: tuple[LongRun, Path]) -> Trial:
    return create_trial(written[1])


def test_every_step_is_there_with_all_its_tensors(trial: Trial) -> None:
    assert trial.recorded_steps() == list(range(STEPS))
    assert len(trial.tensor_names()) == TENSORS
    assert len(trial.tensor_names(collection="gradients")) == 80
    (block,) = trial.statistics_blocks(trial.tensor_names(collection="gradients"), 0, STEPS)
    assert block["l2"].shape == (80, STEPS - 10)


def test_it_has_modes_samples_phases_and_scalars(trial: Trial) -> None:
    assert {mode: len(trial.recorded_steps(mode)) for mode in trial.modes()} == {ModeKeys.TRAIN: 510, ModeKeys.EVAL: 10}
    assert (trial.samples(1) or [])[:2] == ["training/32", "training/33"]
    assert (trial.samples(495) or [""])[0] == "validation/15840"
    window = trial.step_window(0, STEPS)
    assert np.isfinite(window["backward"]).all()
    assert np.allclose(np.diff(window["time"]), 0.02, atol=1e-6)
    assert trial.scalar_names() == ["learning_rate", "loss"]


def test_it_is_sick_where_it_says_and_nowhere_else(written: tuple[LongRun, Path], trial: Trial) -> None:
    run = written[0]
    gradients = trial.tensor_names(collection="gradients")
    (block,) = trial.statistics_blocks(gradients, 0, STEPS)
    sick = {
        (block.names[row], int(block.steps[column]))
        for row, column in zip(*np.nonzero((block["nonfinite"] > 0) | (block["l1"] == 0)), strict=True)
    }
    assert sick == {(run.nan_tensor, run.nan_step), (run.vanished_tensor, run.vanished_step)}
    assert not trial.findings().num_rows


def test_weights_change_a_little_at_every_step_and_do_not_run_away(trial: Trial) -> None:
    (block,) = trial.statistics_blocks(trial.tensor_names(collection="weights"), 0, STEPS)
    ratio = block["change"][:, 1:] / block["l2"][:, 1:]
    assert 1e-5 < np.nanmin(ratio) < np.nanmax(ratio) < 1e-1
    assert np.allclose(block["std"][:, -1], block["std"][:, 0], rtol=0.1)


def test_a_linked_copy_can_be_added_to_without_the_run_seeing_it(written: tuple[LongRun, Path], tmp_path: Path) -> None:
    before = sorted(written[1].rglob("*"))
    with linked(written[1], tmp_path / "copy") as copy:
        assert create_trial(copy).recorded_steps() == list(range(STEPS))
        (copy / "findings").mkdir()
        (copy / "findings" / "x").write_text("")
    assert sorted(written[1].rglob("*")) == before
    assert not (tmp_path / "copy").exists()
