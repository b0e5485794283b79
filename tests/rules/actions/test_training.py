"""Actions that the training carries out are asked for once, whoever asks and however often."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest

from cutaway.errors import ConfigurationError, StorageError
from cutaway.rules import Checkpoint, Dump, ReduceLearningRate, StopTraining
from cutaway.rules.actions.action import Action, ask_for
from cutaway.run import Finding, Run
from cutaway.run.control import Inbox

ASKED: list[tuple[Action, str, dict[str, float]]] = [
    (StopTraining(), "stop", {}),
    (Checkpoint(), "checkpoint", {}),
    (ReduceLearningRate(), "set", {"lr_factor": 0.1}),
    (ReduceLearningRate(0.5), "set", {"lr_factor": 0.5}),
    (Dump(), "dump", {}),
]


@pytest.mark.parametrize(("action", "word", "arguments"), ASKED, ids=repr)
def test_an_action_asks_the_training_and_says_who_and_why(
    action: Action, word: str, arguments: dict[str, float], run: Run, finding: Finding
) -> None:
    assert action.needs_training
    assert action.act(run, finding)
    [request] = Inbox(run.storage, "train").new()
    assert (request.action, request.arguments, request.attempt) == (word, arguments, 0)
    assert (request.who, request.why) == ("rule VanishingGradient", "The gradient of fc1 vanishes.")


@pytest.mark.parametrize(("action", "word", "arguments"), ASKED, ids=repr)
def test_asking_again_does_nothing(
    action: Action, word: str, arguments: dict[str, float], run: Run, finding: Finding
) -> None:
    assert action.act(run, finding)
    assert not action.act(Run.open(run.path), replace(finding, time=finding.time + 9))
    assert len(Inbox(run.storage, "train").new()) == 1


def test_every_action_and_every_finding_is_asked_for_by_itself(run: Run, finding: Finding) -> None:
    for action, _, _ in ASKED:
        assert action.act(run, finding)
        assert action.act(run, replace(finding, id="other"))
    assert len(Inbox(run.storage, "train").new()) == 2 * len(ASKED)


def test_a_finding_of_no_attempt_asks_whoever_trains(run: Run, finding: Finding) -> None:
    StopTraining().act(run, replace(finding, where={"step": 3}))
    assert Inbox(run.storage, "train").new()[0].attempt is None


def _ask(path: Path, finding: Finding, barrier: object, answers: object) -> None:
    barrier.wait()  # type: ignore[attr-defined]
    answers.put(StopTraining().act(Run.open(path), finding))  # type: ignore[attr-defined]


def test_of_several_processes_one_asks(run: Run, finding: Finding) -> None:
    context = multiprocessing.get_context("fork")
    barrier, answers = context.Barrier(4), context.Queue()
    children = [context.Process(target=_ask, args=(run.path, finding, barrier, answers)) for _ in range(4)]
    for child in children:
        child.start()
    assert sorted(answers.get(timeout=20) for _ in children) == [False, False, False, True]
    for child in children:
        child.join()
    assert len(Inbox(run.storage, "train").new()) == 1


def test_only_runs_whose_name_begins_so_are_stopped(
    run: Run, finding: Finding, caplog: pytest.LogCaptureFixture
) -> None:
    assert not StopTraining("cifar").act(run, finding)
    assert Inbox(run.storage, "train").new() == []
    assert "'mnist-7' is not stopped about VanishingGradient" in caplog.text
    assert StopTraining("mnist").act(run, finding)


@pytest.mark.parametrize("factor", [0.0, 1.0, -0.5, 10.0, float("nan")])
def test_a_factor_that_reduces_nothing_is_refused(factor: float) -> None:
    with pytest.raises(ConfigurationError, match="0 < factor < 1"):
        ReduceLearningRate(factor)


class _Failing:
    name, needs_training = "fails", True

    def __init__(self, error: Exception) -> None:
        self.errors = [error]

    def act(self, run: Run, finding: Finding) -> bool:
        if self.errors:
            raise self.errors.pop()
        return True


def test_what_cannot_be_written_is_asked_for_again(
    run: Run, finding: Finding, caplog: pytest.LogCaptureFixture
) -> None:
    action = _Failing(StorageError("the disk is full"))
    left = ask_for([(action, run, finding), (Dump(), run, finding)])
    assert left == [(action, run, finding)]
    assert "the disk is full" in caplog.text
    assert len(Inbox(run.storage, "train").new()) == 1
    assert ask_for(left) == []


def test_an_action_that_raises_is_logged_and_stops_nobody(
    run: Run, finding: Finding, caplog: pytest.LogCaptureFixture
) -> None:
    assert ask_for([(_Failing(KeyError("oops")), run, finding), (Dump(), run, finding)]) == []
    assert "KeyError" in caplog.text
    assert len(Inbox(run.storage, "train").new()) == 1
