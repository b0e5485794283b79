"""What is wrong with a training as far as its run shows without any rule."""

from pathlib import Path

import numpy as np
import pytest

from cutaway.rules.faults import Faults, faults_of
from cutaway.rules.health import health_of
from cutaway.run import Run, RunState
from cutaway.tensors.modes import ModeKeys
from cutaway.testing.rules import ScriptedRun

NAN, INF = float("nan"), float("inf")


def with_scalar(name: str, *, bad: int, steps: int = 60) -> ScriptedRun:
    run = ScriptedRun()
    for step in range(steps):
        run.step(scalars={name: (NAN if step % 2 else INF) if step >= steps - bad else 1.0 / (1 + step)})
    return run


def with_tensor(*, bad: int, steps: int = 60) -> ScriptedRun:
    """A loss of one value a sample, one of which is not finite at some steps."""
    run = ScriptedRun()
    for step in range(steps):
        values = np.full(4, 1.0)
        values[2] = NAN if step >= steps - bad else 1.0
        run.step(tensors={"CrossEntropyLoss_output_0": values, "fc.weight": np.full(3, NAN)})
    return run


@pytest.mark.parametrize("name", ["loss", "train/loss"])
def test_a_loss_that_is_not_finite_is_named_with_how_many_steps(name: str, tmp_path: Path) -> None:
    run = with_scalar(name, bad=39).write(tmp_path / "run")
    assert faults_of(run, RunState.FINISHED).losses == f"{name} was NaN or infinite at 39 of 60 TRAIN steps"


@pytest.mark.parametrize(("name", "bad"), [("loss", 0), ("loss_scale", 39)])
def test_other_scalars_and_a_finite_loss_are_no_fault(name: str, bad: int, tmp_path: Path) -> None:
    assert faults_of(with_scalar(name, bad=bad).write(tmp_path / "run"), RunState.FINISHED) == Faults()


@pytest.mark.parametrize(
    ("bad", "said"), [(39, "CrossEntropyLoss_output_0 was NaN or infinite at 39 of 60 TRAIN steps"), (0, "")]
)
def test_a_registered_loss_is_read_from_its_statistics(bad: int, said: str, tmp_path: Path) -> None:
    assert faults_of(with_tensor(bad=bad).write(tmp_path / "run"), RunState.FINISHED).losses == said


def test_each_loss_is_named_with_its_mode(tmp_path: Path) -> None:
    run = ScriptedRun()
    for _ in range(3):
        run.step(scalars={"loss": NAN, "aux/loss": NAN, "other_loss": 1.0})
    said = "aux/loss was NaN or infinite at 3 of 3 TRAIN steps, loss was NaN or infinite at 3 of 3 TRAIN steps"
    assert faults_of(run.write(tmp_path / "run"), RunState.FINISHED).losses == said


def test_a_loss_of_several_modes_is_named_once(tmp_path: Path) -> None:
    run = ScriptedRun()
    for step in range(4):
        run.step(scalars={"loss": NAN if step == 3 else 1.0}, mode=ModeKeys.EVAL if step % 2 else ModeKeys.TRAIN)
    said = faults_of(run.write(tmp_path / "run"), RunState.FINISHED).losses
    assert said == "loss was NaN or infinite at 1 of 2 EVAL steps"
    both = ScriptedRun()
    for step in range(4):
        both.step(scalars={"loss": NAN}, mode=ModeKeys.EVAL if step % 2 else ModeKeys.TRAIN)
    said = faults_of(both.write(tmp_path / "both"), RunState.FINISHED).losses
    assert said == "loss was NaN or infinite at 2 of 2 TRAIN steps and 2 of 2 EVAL steps"


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (RunState.FAILED, "the training failed"),
        (RunState.CRASHED, "the training crashed"),
        (RunState.LOST, "the training is lost"),
        (RunState.FINISHED, ""),
        (RunState.ENDED, ""),
        (RunState.RUNNING, ""),
    ],
)
def test_a_bad_end_is_named(state: RunState, said: str, tmp_path: Path) -> None:
    assert faults_of(Run.create(tmp_path / "run"), state).end == said


def test_a_run_with_a_nan_loss_that_no_rule_has_seen_is_not_called_healthy(tmp_path: Path) -> None:
    health = health_of(with_scalar("loss", bad=39).write(tmp_path / "run"), RunState.FINISHED)
    assert health.verdict == "not checked"
    assert health.sentence == "Not checked yet; loss was NaN or infinite at 39 of 60 TRAIN steps"
    well = health_of(with_scalar("loss", bad=0).write(tmp_path / "well"), RunState.FINISHED)
    assert well.sentence == "Not checked yet"
