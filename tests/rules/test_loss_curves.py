"""Losses by what their steps were for."""

from pathlib import Path

import numpy as np
import pytest

from cutaway.errors import InsufficientInformationForRuleInvocation
from cutaway.rules.losses import LossCurves, TrainingSteps, training
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader
from cutaway.testing.rules import ScriptedRun
from cutaway.trial import create_trial

LOSS = "CrossEntropyLoss_output_0"
TRAIN, EVAL, PREDICT, NONE = ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT, ModeKeys.GLOBAL


def run_of(modes: list[ModeKeys], *, scalars: bool = False) -> ScriptedRun:
    run = ScriptedRun()
    for i, mode in enumerate(modes):
        run.step(mode, scalars={"loss": i}) if scalars else run.step(mode, tensors={LOSS: np.float64(i)})
    return run


def by_mode(reader: TensorReader, start: int = 0, stop: int = 100) -> dict[ModeKeys, list[int]]:
    return {loss.mode: loss.steps.tolist() for loss in LossCurves().read(reader, start, stop)}


@pytest.mark.parametrize("scalars", [False, True])
@pytest.mark.parametrize("on_disk", [False, True])
def test_each_mode_has_its_own_steps(tmp_path: Path, scalars: bool, on_disk: bool) -> None:
    run = run_of([NONE, TRAIN, TRAIN, EVAL, PREDICT, TRAIN, NONE], scalars=scalars)
    reader: TensorReader = run
    if on_disk:
        run.write(tmp_path / "run")
        reader = create_trial(tmp_path / "run")
    assert by_mode(reader) == {TRAIN: [1, 2, 5], EVAL: [3], PREDICT: [4], NONE: [0, 6]}
    assert by_mode(reader, 2, 4) == {TRAIN: [2], EVAL: [3]}


def test_training_is_what_train_and_no_mode_did() -> None:
    (loss,) = training(LossCurves().read(run_of([NONE, TRAIN, EVAL, NONE, TRAIN]), 0, 5))
    assert loss.steps.tolist() == loss.values.tolist() == [0, 1, 3, 4]


def test_a_scalar_of_a_step_that_left_no_record_keeps_its_mode(tmp_path: Path) -> None:
    run = ScriptedRun()
    for i in range(4):
        run.step(TRAIN if i < 2 else EVAL, scalars={"loss": float(i)})
    hidden = run.step_window
    run.step_window = lambda start, stop: hidden(start, min(stop, 1))  # type: ignore[method-assign]
    assert by_mode(run) == {TRAIN: [0, 1], EVAL: [2, 3]}


def test_without_a_loss_it_says_how_to_get_one() -> None:
    run = ScriptedRun()
    run.step(tensors={"fc.weight": np.ones(2)})
    with pytest.raises(InsufficientInformationForRuleInvocation) as refused:
        LossCurves().read(run, 0, 1)
    assert "this run saved 'weights'" in str(refused.value)
    assert "hook.register_loss(criterion)" in str(refused.value)


class TestTrainingSteps:
    def trains(self, *, cut: int) -> list[bool]:
        run = ScriptedRun()
        for updates in (False, True, True, False, False, True):
            run.step(NONE, seconds={"optimizer": 1e-3} if updates else {"forward": 1e-3})
        run.step(TRAIN)
        run.step(EVAL, seconds={"optimizer": 1e-3})
        steps, stop = TrainingSteps(), run.newest_step() + 1
        windows = [run.step_window(start, min(start + cut, stop)) for start in range(0, stop, cut)]
        return [bool(one) for window in windows for one in steps.among(window)]

    @pytest.mark.parametrize("cut", [1, 2, 3, 10])
    def test_steps_of_no_mode_train_unless_others_update_and_they_do_not(self, cut: int) -> None:
        assert self.trains(cut=cut) == [True, True, True, False, False, True, True, False]
