"""What the states of a run mean: the command that comes next can be run as it is written."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from cutaway.run import Run, RunState
from cutaway.run.state_words import run_words, state_words


def test_a_plain_path_stays_as_it_is() -> None:
    assert state_words(RunState.FINISHED, "~/runs/mnist", 3, {}).following == "cutaway tensors ~/runs/mnist"


@pytest.mark.parametrize("paused", [True, False])
def test_a_path_that_a_shell_would_take_apart_is_one_word(paused: bool) -> None:
    path = "runs/x; rm -rf $HOME <img src=x>"
    following = state_words(RunState.RUNNING, path, 3, {"paused": paused}).following
    assert path in shlex.split(following)


def test_the_home_of_a_person_is_still_found() -> None:
    assert state_words(RunState.FINISHED, "~/my runs", 3, {}).following == "cutaway tensors ~/'my runs'"


def test_who_stopped_the_last_attempt_is_told_and_who_stopped_an_earlier_one_is_not(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run")
    number, lease = run.begin_attempt()
    lease.release(RunState.FINISHED)
    run.identity["stopped_by"] = {"attempt": number, "who": "Ada", "step": 3, "why": ""}
    assert run_words(run, RunState.FINISHED, "run", 3).stopped_by == run.identity["stopped_by"]
    run.begin_attempt()[1].release(RunState.FINISHED)
    assert run_words(run, RunState.FINISHED, "run", 3).stopped_by is None


def test_a_run_that_nobody_trained_has_no_tensors_to_look_at(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", kind="evaluation")
    assert run_words(run, RunState.ENDED, "run", None).meaning == "a run of evaluations only"
