"""What the states of a run mean: the command that comes next can be run as it is written."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from cutaway.run import Run, RunState
from cutaway.run.failure import TrainingFailure
from cutaway.run.state_words import run_words, state_words, stop_words


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


def test_a_failed_run_names_its_exception_and_a_later_attempt_forgets_it(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run")
    run.begin_attempt()[1].release(RunState.FAILED, TrainingFailure("ValueError", "shapes differ", "Traceback"))
    words = run_words(run, RunState.FAILED, "run", 3)
    assert words.meaning == "ValueError: shapes differ; everything up to step 3 is here"
    assert words.failure == TrainingFailure("ValueError", "shapes differ", "Traceback")
    run.begin_attempt()[1].release(RunState.FINISHED)
    words = run_words(run, RunState.FINISHED, "run", 3)
    assert (words.meaning, words.failure) == ("Completed normally", None)


def test_the_exception_of_another_worker_is_told_where_the_first_has_none(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run")
    number, lease = run.begin_attempt()
    other = run.join_attempt("worker_1", number)
    other.release(RunState.FAILED, TrainingFailure("RuntimeError", "out of memory", "Traceback"))
    lease.release(RunState.FAILED)
    assert run_words(run, RunState.FAILED, "run", 3).meaning.startswith("RuntimeError: out of memory")


BY = {"who": "anna@lab", "why": "good enough", "step": 12, "attempt": 0}


@pytest.mark.parametrize(
    ("by", "last_step", "said"),
    [
        (None, 12, ""),
        ({**BY, "seen": 12}, 12, "Stopped by anna@lab at step 12: good enough"),
        ({**BY, "seen": 12, "why": ""}, None, "Stopped by anna@lab at step 12"),
        ({**BY, "seen": 20}, 20, "Stopped by anna@lab at step 20, asked at step 12: good enough"),
        (
            {**BY, "seen": 12},
            90,
            "anna@lab asked it to stop at step 12: good enough; it saw that at step 12, and ended at step 90",
        ),
        (
            {**BY, "seen": None, "why": ""},
            90,
            "Not stopped: anna@lab asked for it at step 12; the loop never read `hook.should_stop` and went on to "
            "step 90. Add `if hook.should_stop: break` to the loop",
        ),
        (BY, 90, "anna@lab asked it to stop at step 12: good enough"),
    ],
    ids=["nobody asked", "stopped", "without a reason", "seen later", "seen and went on", "never seen", "not known"],
)
def test_a_run_is_called_stopped_where_its_loop_saw_that_it_should(
    by: dict[str, object] | None, last_step: int | None, said: str
) -> None:
    assert stop_words(by, last_step) == said


def test_a_run_that_nobody_trained_has_no_tensors_to_look_at(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", kind="evaluation")
    assert run_words(run, RunState.ENDED, "run", None).meaning == "A run of evaluations only"
