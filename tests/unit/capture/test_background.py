"""The writer thread: order, back-pressure, flushing, beats and its end."""

from __future__ import annotations

import threading
import time

import pytest

from cutaway.capture.background import QUEUE, BackgroundWriter
from cutaway.capture.records import StepRecord
from cutaway.tensors.modes import ModeKeys


def record(step: int) -> StepRecord:
    return StepRecord(step, ModeKeys.TRAIN, step, 0.0)


class Writer:
    """Notes what it is given; stands still while `go` is not set."""

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.groups: list[int] = []
        self.beats = 0
        self.go = threading.Event()
        self.go.set()
        self.thread = BackgroundWriter(self.write, self.beat)

    def write(self, records: list[StepRecord]) -> None:
        self.go.wait(30)
        self.groups.append(len(records))
        self.steps += [one.step for one in records]

    def beat(self) -> None:
        self.beats += 1


def test_everything_is_written_once_and_in_order() -> None:
    writer = Writer()
    for step in range(500):
        assert writer.thread.submit(record(step), patience=30)
    assert writer.thread.flush(30)
    assert writer.steps == list(range(500))
    assert max(writer.groups) <= QUEUE
    assert writer.thread.close(30)


def test_flush_waits_for_what_is_being_written() -> None:
    writer = Writer()
    writer.go.clear()
    writer.thread.submit(record(0), patience=0)
    assert not writer.thread.flush(0.05)
    writer.go.set()
    assert writer.thread.flush(30)
    assert writer.steps == [0]
    writer.thread.close(30)


def test_flush_of_nothing_returns_at_once() -> None:
    writer = Writer()
    assert writer.thread.flush(5)
    writer.thread.close(30)


def test_a_full_queue_refuses_and_holds_no_more_than_it_may() -> None:
    writer = Writer()
    writer.go.clear()
    accepted = [writer.thread.submit(record(step), patience=0.01) for step in range(3 * QUEUE)]
    assert sum(accepted) == QUEUE
    writer.go.set()
    assert writer.thread.flush(30)
    assert writer.steps == [step for step, taken in enumerate(accepted) if taken]
    assert writer.thread.submit(record(99), patience=0)
    writer.thread.close(30)


def test_a_stalled_writer_is_waited_for_once() -> None:
    writer = Writer()
    writer.go.clear()
    for step in range(QUEUE):
        writer.thread.submit(record(step), patience=0)
    assert not writer.thread.submit(record(98), patience=0.01)
    # Whoever waited now would wait for longer than a test may take.
    assert not writer.thread.submit(record(99), patience=3600)
    writer.go.set()
    writer.thread.flush(30)
    assert writer.thread.submit(record(100), patience=20)
    writer.thread.close(30)


def test_closing_writes_what_waits() -> None:
    writer = Writer()
    writer.go.clear()
    for step in range(5):
        writer.thread.submit(record(step), patience=0)
    writer.go.set()
    assert writer.thread.close(30)
    assert writer.steps == list(range(5))


def test_closing_says_when_the_writer_did_not_end() -> None:
    writer = Writer()
    writer.go.clear()
    writer.thread.submit(record(0), patience=0)
    assert not writer.thread.close(0.05)
    writer.go.set()
    assert writer.thread.close(30)


def test_a_nudge_starts_what_would_wait_for_company(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutaway.capture.background.IDLE_SECONDS", 60.0)
    writer = Writer()
    for step in range(QUEUE - 1):
        writer.thread.submit(record(step), patience=0)
    writer.thread.nudge(at_least=1)
    deadline = time.monotonic() + 60
    while len(writer.steps) < QUEUE - 1 and time.monotonic() < deadline:
        time.sleep(0.005)
    assert writer.steps == list(range(QUEUE - 1))
    writer.thread.close(30)


def test_it_beats_without_any_record() -> None:
    writer = Writer()
    deadline = time.monotonic() + 60
    while not writer.beats and time.monotonic() < deadline:
        time.sleep(0.01)
    assert writer.beats
    writer.thread.close(30)
