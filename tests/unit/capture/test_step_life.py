"""Counting steps: over all modes, and within each."""

from __future__ import annotations

from pathlib import Path

from cutaway.capture.step_life import StepCounter
from cutaway.run import Run, RunState, WriterId
from cutaway.tensors.modes import ModeKeys


def test_each_mode_counts_for_itself_and_all_count_together() -> None:
    counter = StepCounter()
    taken = [counter.take(mode) for mode in (ModeKeys.TRAIN, ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.TRAIN)]
    assert taken == [(0, 0), (1, 1), (2, 0), (3, 2)]
    assert counter.last == 3
    assert counter.mode_step(ModeKeys.TRAIN) == 3
    assert counter.mode_step(ModeKeys.PREDICT) == 0


def test_before_the_first_step_the_current_one_is_zero() -> None:
    assert StepCounter().last == 0


def test_a_resumed_run_continues_the_numbers_it_keeps(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        for mode in ("TRAIN", "TRAIN", "EVAL", "TRAIN"):
            hook.set_mode(mode)
            hook.take(weight=[1.0])
    run = Run.open(tmp_path / "run")
    run.begin_attempt(from_step=3)
    counter, _ = StepCounter.after(run)
    assert counter.take(ModeKeys.TRAIN) == (3, 2)
    assert counter.take(ModeKeys.EVAL) == (4, 1)


def test_a_run_that_was_killed_before_a_step_was_listed_keeps_to_its_schedule(tmp_path: Path) -> None:
    """Its scalars were acknowledged, so their steps are not taken again, nor by the schedule of their mode."""
    run = Run.create(tmp_path / "run")
    number, lease = run.begin_attempt(from_step=0)
    run.writer("scalars", WriterId("train", "worker_0", number)).append_records(
        [("progress", 0, "TRAIN", 0.5, 1.0), ("progress", 1, "TRAIN", 0.5, 2.0)], 0
    )
    lease.release(RunState.CRASHED)
    run.begin_attempt(from_step=2)
    counter, _ = StepCounter.after(run)
    assert counter.take(ModeKeys.TRAIN) == (2, 2)
    assert counter.take(ModeKeys.EVAL) == (3, 0)


def test_where_not_even_a_scalar_is_left_the_steps_are_of_no_mode(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run")
    _, lease = run.begin_attempt(from_step=0)
    lease.release(RunState.CRASHED)
    run.begin_attempt(from_step=3)
    assert StepCounter.after(run)[0].take(ModeKeys.GLOBAL) == (3, 3)
