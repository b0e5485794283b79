"""How long a training waits for the writer: one wait may be long, but all of them together are bounded."""

from __future__ import annotations

import pytest

from cutaway.capture.patience import (
    FREE_SECONDS,
    STATISTICS_PATIENCE,
    TENSOR_PATIENCE,
    WAITING_SHARE,
    Patience,
)
from cutaway.capture.records import StepRecord
from cutaway.tensors.modes import ModeKeys

OWN = {"FREE_SECONDS": FREE_SECONDS, "STATISTICS_PATIENCE": STATISTICS_PATIENCE, "TENSOR_PATIENCE": TENSOR_PATIENCE}


@pytest.fixture(autouse=True)
def _as_users_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OWN.items():
        monkeypatch.setattr(f"cutaway.capture.patience.{name}", value)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def record(*, due: bool = False) -> StepRecord:
    return StepRecord(0, ModeKeys.TRAIN, 0, 0.0, due=frozenset({"weights"} if due else ()))


def _wait(patience: Patience, clock: Clock, seconds: float) -> float:
    """Wait so long, or as long as it may be; return how long that was."""
    with patience.wait(record()) as allowed:
        took = min(seconds, allowed)
        clock.now += took
    return took


def test_a_writer_that_is_held_up_now_and_then_is_always_waited_for() -> None:
    clock = Clock()
    patience = Patience(clock)
    for _ in range(1000):
        clock.now += 60.0
        assert _wait(patience, clock, 2.0) == 2.0


def test_a_single_wait_ends() -> None:
    assert Patience(Clock()).left_for(record()) == STATISTICS_PATIENCE


def test_what_all_waits_take_is_a_share_of_the_time_of_the_training() -> None:
    clock = Clock()
    patience = Patience(clock)
    while clock.now < 3600.0:
        clock.now += 0.01
        _wait(patience, clock, 1.0)
    assert patience.waited <= FREE_SECONDS + WAITING_SHARE * clock.now + 1e-6
    assert patience.left_for(record()) < 0.01


def test_a_tensor_that_was_asked_for_is_waited_for_in_any_case() -> None:
    clock = Clock()
    patience = Patience(clock)
    while patience.left_for(record()):
        _wait(patience, clock, 5.0)
    assert patience.left_for(record(due=True)) == TENSOR_PATIENCE
