"""What the states of a run mean: the command that comes next can be run as it is written."""

from __future__ import annotations

import shlex

import pytest

from cutaway.run import RunState
from cutaway.run.state_words import state_words


def test_a_plain_path_stays_as_it_is() -> None:
    assert state_words(RunState.FINISHED, "~/runs/mnist", 3, {}).following == "cutaway tensors ~/runs/mnist"


@pytest.mark.parametrize("paused", [True, False])
def test_a_path_that_a_shell_would_take_apart_is_one_word(paused: bool) -> None:
    path = "runs/x; rm -rf $HOME <img src=x>"
    following = state_words(RunState.RUNNING, path, 3, {"paused": paused}).following
    assert path in shlex.split(following)


def test_the_home_of_a_person_is_still_found() -> None:
    assert state_words(RunState.FINISHED, "~/my runs", 3, {}).following == "cutaway tensors ~/'my runs'"
