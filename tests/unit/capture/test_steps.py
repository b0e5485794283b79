"""Counting steps: over all modes, and within each."""

from __future__ import annotations

from pathlib import Path

from cutaway.capture.steps import StepCounter
from cutaway.run import Run
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
