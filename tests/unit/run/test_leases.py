"""Leases: one live writer each, and what became of it. Real kills are in tests/faults."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from cutaway.errors import ConfigurationError, RunLocked
from cutaway.run import leases as module
from cutaway.run.documents import read_document, write_document
from cutaway.run.leases import (
    LEASE_SECONDS,
    Lease,
    RunState,
    free_attempt,
    lease_state,
    read_leases,
    refuse_live_writer,
    training_states,
)
from cutaway.run.segments import WriterId
from tests.memory_storage import MemoryStorage

CHIEF = WriterId("train", "worker_0", 0)
KEY = "leases/train-worker_0-0.json"


@pytest.fixture
def storage() -> MemoryStorage:
    return MemoryStorage()


def _change(storage: MemoryStorage, key: str = KEY, **changes: Any) -> dict[str, Any]:
    content = {**read_document(storage, key), **changes}
    write_document(storage, key, content)
    return content


def _elsewhere(storage: MemoryStorage, writer: WriterId = CHIEF) -> dict[str, Any]:
    Lease(storage, "run", writer)
    return _change(storage, f"leases/{writer.stem}.json", machine="elsewhere")


class Clock:
    """A sleep that takes no time, and lets something happen meanwhile."""

    def __init__(self, meanwhile: Callable[[int], object] = lambda turn: None) -> None:
        self.slept = 0.0
        self._turn = 0
        self._meanwhile = meanwhile

    def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self._turn += 1
        self._meanwhile(self._turn)


def _never(seconds: float) -> None:
    pytest.fail("nobody waits for a process of this machine")


def test_a_held_lease_is_running(storage: MemoryStorage) -> None:
    Lease(storage, "run", CHIEF)
    [lease] = read_leases(storage, "train")
    assert lease_state(storage, lease, sleep=_never) is RunState.RUNNING


def test_a_writer_that_starts_is_no_writer_that_has_ended(storage: MemoryStorage) -> None:
    lease = Lease(storage, "run", CHIEF, starting=True)
    assert training_states([storage], sleep=_never) == [RunState.STARTING]
    assert not RunState.STARTING.has_ended
    lease.show_running()
    assert training_states([storage], sleep=_never) == [RunState.RUNNING]


def test_a_process_that_is_gone_while_it_started_has_crashed(storage: MemoryStorage) -> None:
    Lease(storage, "run", CHIEF, starting=True)
    _change(storage, pid=2**22 + 1)
    assert training_states([storage], sleep=_never) == [RunState.CRASHED]


def test_one_that_starts_elsewhere_is_alive_as_long_as_its_counter_moves(storage: MemoryStorage) -> None:
    Lease(storage, "run", CHIEF, starting=True)
    _change(storage, machine="elsewhere")
    clock = Clock(lambda turn: _change(storage, beat=turn) if turn == 3 else None)
    assert training_states([storage], sleep=clock.sleep) == [RunState.STARTING]
    assert training_states([storage], sleep=Clock().sleep) == [RunState.LOST]


def test_nobody_takes_over_from_a_writer_that_starts(storage: MemoryStorage) -> None:
    lease = Lease(storage, "run", CHIEF, starting=True)
    with pytest.raises(RunLocked):
        free_attempt(storage, "run", CHIEF)
    lease.withdraw()
    assert free_attempt(storage, "run", CHIEF) == 0


def test_a_lease_is_kept_alive_while_something_takes_long(
    storage: MemoryStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BEAT_SECONDS", 0.001)
    lease = Lease(storage, "run", CHIEF, starting=True)
    with lease.kept_alive():
        while read_document(storage, KEY)["beat"] < 3:
            threading.Event().wait(0.001)
    after = read_document(storage, KEY)["beat"]
    threading.Event().wait(0.02)
    assert read_document(storage, KEY)["beat"] == after


@pytest.mark.parametrize("state", [RunState.FINISHED, RunState.FAILED, RunState.ENDED])
def test_a_released_lease_says_how_it_ended(storage: MemoryStorage, state: RunState) -> None:
    lease = Lease(storage, "run", CHIEF)
    lease.beat()
    lease.release(state)
    assert training_states([storage], sleep=_never) == [state]


def test_a_beat_moves_the_counter_and_nothing_else(storage: MemoryStorage) -> None:
    lease = Lease(storage, "run", CHIEF)
    before = read_document(storage, KEY)
    lease.beat()
    lease.beat()
    assert read_document(storage, KEY) == {**before, "beat": 2}


def test_a_beat_after_the_release_does_not_bring_it_back(storage: MemoryStorage) -> None:
    lease = Lease(storage, "run", CHIEF)
    lease.release(RunState.FINISHED)
    lease.beat()
    assert training_states([storage], sleep=_never) == [RunState.FINISHED]


def test_a_slow_beat_of_another_thread_does_not_overtake_the_release() -> None:
    class Slow(MemoryStorage):
        beating, released = threading.Event(), threading.Event()

        def replace(self, key: str, data: bytes, *, durable: bool = True, exclusive: bool = False) -> None:
            if b'"beat": 1' in data and b"running" in data:
                self.beating.set()
                self.released.wait(0.1)  # nobody releases meanwhile, or else this write would come last
            super().replace(key, data, durable=durable, exclusive=exclusive)

    storage = Slow()
    lease = Lease(storage, "run", CHIEF)
    thread = threading.Thread(target=lease.beat)
    thread.start()
    assert storage.beating.wait(60)
    lease.release(RunState.FINISHED)
    storage.released.set()
    thread.join()
    assert training_states([storage], sleep=_never) == [RunState.FINISHED]


def test_a_process_that_is_gone_has_crashed(storage: MemoryStorage) -> None:
    Lease(storage, "run", CHIEF)
    lease = _change(storage, pid=2**22 + 1)
    assert lease_state(storage, lease, sleep=_never) is RunState.CRASHED


def test_the_last_word_of_a_process_that_is_gone_counts(storage: MemoryStorage) -> None:
    Lease(storage, "run", CHIEF)
    seen = _change(storage, pid=2**22 + 1)
    _change(storage, state=RunState.FINISHED)
    assert lease_state(storage, seen, sleep=_never) is RunState.FINISHED


def test_a_lease_elsewhere_that_moves_is_running_as_soon_as_it_moves(storage: MemoryStorage) -> None:
    lease = _elsewhere(storage)
    clock = Clock(lambda turn: turn == 2 and _change(storage, beat=1))
    assert lease_state(storage, lease, sleep=clock.sleep) is RunState.RUNNING
    assert clock.slept == 1.0


def test_a_lease_elsewhere_that_stands_still_is_lost_after_one_lease(storage: MemoryStorage) -> None:
    lease = _elsewhere(storage)
    clock = Clock()
    assert lease_state(storage, lease, sleep=clock.sleep) is RunState.LOST
    assert clock.slept == LEASE_SECONDS


def test_a_lease_elsewhere_that_is_released_meanwhile_says_how(storage: MemoryStorage) -> None:
    lease = _elsewhere(storage)
    clock = Clock(lambda turn: turn == 1 and _change(storage, state=RunState.FAILED))
    assert lease_state(storage, lease, sleep=clock.sleep) is RunState.FAILED


def test_a_lease_elsewhere_that_vanishes_is_lost(storage: MemoryStorage) -> None:
    lease = _elsewhere(storage)
    clock = Clock(lambda turn: turn == 1 and storage.remove(KEY))
    assert lease_state(storage, lease, sleep=clock.sleep) is RunState.LOST


def test_many_leases_elsewhere_are_waited_for_together(storage: MemoryStorage) -> None:
    storages = [MemoryStorage() for _ in range(4)]
    for each in storages:
        for worker in range(3):
            _elsewhere(each, WriterId("train", f"worker_{worker}", 0))
    clock = Clock(lambda turn: turn == 3 and _change(storages[2], "leases/train-worker_1-0.json", beat=1))
    lost, running = RunState.LOST, RunState.RUNNING
    assert training_states([*storages, storage], sleep=clock.sleep) == [lost, lost, running, lost, None]
    assert clock.slept == LEASE_SECONDS


def test_a_worker_that_runs_here_decides_without_waiting_for_others(storage: MemoryStorage) -> None:
    _elsewhere(storage)
    Lease(storage, "run", WriterId("train", "worker_1", 0))
    assert training_states([storage], sleep=_never) == [RunState.RUNNING]


@pytest.mark.parametrize(
    ("chief", "other", "expected"),
    [
        (RunState.FINISHED, RunState.FAILED, RunState.FINISHED),
        (RunState.FAILED, RunState.FINISHED, RunState.FAILED),
        (RunState.FINISHED, RunState.RUNNING, RunState.RUNNING),
        (RunState.RUNNING, RunState.FINISHED, RunState.RUNNING),
        (RunState.ENDED, RunState.FINISHED, RunState.ENDED),
    ],
)
def test_a_training_runs_while_a_worker_does_and_ends_as_its_chief_did(
    storage: MemoryStorage, chief: RunState, other: RunState, expected: RunState
) -> None:
    for worker, state in (("worker_0", chief), ("worker_1", other)):
        lease = Lease(storage, "run", WriterId("train", worker, 0))
        if state is not RunState.RUNNING:
            lease.release(state)
    assert training_states([storage], sleep=_never) == [expected]


def test_only_the_newest_attempt_tells_the_state(storage: MemoryStorage) -> None:
    for worker in ("worker_0", "worker_1"):
        Lease(storage, "run", WriterId("train", worker, 0))
    Lease(storage, "run", CHIEF._replace(attempt=1)).release(RunState.FINISHED)
    assert training_states([storage], sleep=_never) == [RunState.FINISHED]


def test_attempts_are_compared_as_numbers(storage: MemoryStorage) -> None:
    for attempt in (9, 10):
        Lease(storage, "run", CHIEF._replace(attempt=attempt)).release(RunState.FINISHED)
    assert [lease["attempt"] for lease in read_leases(storage, "train")] == [10]


def test_a_second_writer_is_refused_while_the_first_lives(storage: MemoryStorage) -> None:
    first = Lease(storage, "run", CHIEF)
    with pytest.raises(RunLocked, match=r"being written by process \d+ on .* as train of worker_0") as caught:
        refuse_live_writer(storage, "run", "train", "worker_0")
    assert (caught.value.role, caught.value.worker) == ("train", "worker_0")
    first.release(RunState.FINISHED)
    refuse_live_writer(storage, "run", "train", "worker_0")


def test_other_workers_and_other_roles_are_not_refused(storage: MemoryStorage) -> None:
    Lease(storage, "run", CHIEF)
    refuse_live_writer(storage, "run", "train", "worker_1")
    refuse_live_writer(storage, "run", "watch", "worker_0")
    refuse_live_writer(storage, "run", "trai", "worker_0")


def test_one_attempt_is_claimed_once(storage: MemoryStorage) -> None:
    Lease(storage, "run", CHIEF).release(RunState.FINISHED)
    with pytest.raises(RunLocked, match="another process that started just now"):
        Lease(storage, "run", CHIEF)
    assert training_states([storage], sleep=_never) == [RunState.FINISHED]


def test_the_next_attempt_comes_after_every_lease_of_the_role(storage: MemoryStorage) -> None:
    assert free_attempt(storage, "run", CHIEF) == 0
    assert free_attempt(storage, "run", CHIEF._replace(attempt=3)) == 3
    Lease(storage, "run", CHIEF._replace(attempt=4)).release(RunState.ENDED)
    Lease(storage, "run", WriterId("train", "worker_1", 6)).release(RunState.ENDED)
    Lease(storage, "run", WriterId("watch", "worker_0", 9))
    assert free_attempt(storage, "run", CHIEF._replace(attempt=3)) == 7


@pytest.mark.parametrize("damage", [b"", b"{", b'{"state": "running"}', b"\xff" * 40])
def test_a_damaged_lease_is_lost_but_its_attempt_is_taken(storage: MemoryStorage, damage: bytes) -> None:
    Lease(storage, "run", CHIEF)
    storage.replace(KEY, damage)
    assert training_states([storage], sleep=_never) == [RunState.LOST]
    assert free_attempt(storage, "run", CHIEF) == 1


def test_foreign_files_among_the_leases_are_passed_over(storage: MemoryStorage) -> None:
    for name in ("train-worker_0.json", "train-worker_0-x.json", "readme.txt", "train-a-b-0.json"):
        storage.replace(f"leases/{name}", b"{}")
    assert read_leases(storage, "train") == []


@pytest.mark.parametrize(
    "writer", [("tr-ain", "worker_0", 0), ("train", "worker-0", 0), ("train", "a/b", 0), ("", "w", 0)]
)
def test_a_name_that_could_not_be_found_again_is_refused(storage: MemoryStorage, writer: tuple[str, str, int]) -> None:
    with pytest.raises(ConfigurationError, match="letters, digits"):
        Lease(storage, "run", WriterId(*writer))


def test_a_forked_child_neither_beats_nor_releases(storage: MemoryStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    lease = Lease(storage, "run", CHIEF)
    real = module.os.getpid()
    monkeypatch.setattr(module.os, "getpid", lambda: real + 1)
    lease.beat()
    lease.release(RunState.FINISHED)
    monkeypatch.undo()
    assert read_document(storage, KEY)["beat"] == 0
    assert training_states([storage], sleep=_never) == [RunState.RUNNING]
