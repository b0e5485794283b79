"""The sample ids of many steps in one go: the same as asked for one by one."""

from __future__ import annotations

from cutaway.run import RunState
from cutaway.trial import Trial, create_trial
from tests.unit.trial.conftest import Write


def one_by_one(trial: Trial, start: int, stop: int) -> list[list[str | None] | None]:
    return [trial.samples(step) for step in trial.step_window(start, stop)["step"].tolist()]


def test_steps_without_known_samples_are_none(write: Write) -> None:
    writing = write()
    writing.step(0, samples=["training/1", None])
    writing.step(1)
    writing.step(4, samples=[])
    writing.close()
    trial = create_trial(writing.run.path)
    assert trial.samples_window(0, 10) == [["training/1", None], None, []] == one_by_one(trial, 0, 10)
    assert trial.samples_window(1, 4) == [None]


def test_the_workers_of_a_step_come_one_after_the_other(write: Write) -> None:
    writing = write(workers=("worker_0", "worker_1"))
    for step in range(3):
        writing.step(step, worker="worker_1", samples=[f"training/b{step}"])
        writing.step(step, worker="worker_0", samples=[f"training/a{step}"])
    writing.close()
    trial = create_trial(writing.run.path)
    assert trial.samples_window(1, 3) == [["training/a1", "training/b1"], ["training/a2", "training/b2"]]
    assert trial.samples_window(0, 3) == one_by_one(trial, 0, 3)


def test_a_later_attempt_replaces_what_it_took_over(write: Write) -> None:
    first = write()
    for step in range(6):
        first.step(step, samples=[f"training/{step}"])
    trial = create_trial(first.run.path)
    assert trial.samples_window(4, 6) == [["training/4"], ["training/5"]]
    first.close(RunState.FAILED)
    second = write(run=first.run, from_step=4)
    second.step(4, samples=["training/44"])
    second.close()
    assert trial.samples_window(0, 9) == one_by_one(trial, 0, 9)
    assert trial.samples_window(4, 6) == [["training/44"]]


def test_what_arrives_later_is_seen(write: Write) -> None:
    writing = write()
    trial = create_trial(writing.run.path)
    assert trial.samples_window(0, 9) == []
    for step in range(3):
        writing.step(step, samples=[f"training/{step}"])
        assert trial.samples_window(step, 9) == [[f"training/{step}"]]
