"""A request that several could carry out is carried out by one; what a dead process had is taken over by one."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest

from cutaway.run.claims import Claim, Claims
from cutaway.run.control import Request
from cutaway.run.documents import read_document, write_document
from cutaway.run.leases import LEASE_SECONDS, Lease, RunState
from cutaway.run.process import this_process
from cutaway.run.segments import WriterId
from cutaway.run.storage import LocalStorage

REQUEST = Request("notify", "watch", "anna", "the loss is NaN", id="r1")
DEAD = {**this_process(), "pid": 2**22 + 1, "started": "0"}


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path)


def _claims(storage: LocalStorage, at: list[float] | None = None) -> Claims:
    return Claims(storage, "watch", lambda: (at or [0.0])[0])


def _left_by(storage: LocalStorage, owner: dict[str, object], number: int = 0, **state: bool) -> None:
    content = {**owner, "busy": False, "interrupted": False, **state}
    write_document(storage, f"control/r1.claim-{number}", content)


def test_one_gets_a_request_and_others_none_until_it_is_given_back(storage: LocalStorage) -> None:
    first = _claims(storage).claim(REQUEST)
    assert first
    assert not first.interrupted
    assert _claims(storage).claim(REQUEST) is None
    first.release()
    first.release()
    assert _claims(storage).claim(REQUEST)


def test_requests_are_claimed_one_by_one(storage: LocalStorage) -> None:
    assert _claims(storage).claim(REQUEST)
    assert _claims(storage).claim(Request("notify", "watch", "", "", id="r10"))
    assert _claims(storage).claim(Request("notify", "watch", "", "", id="r"))


@pytest.mark.parametrize("busy", [True, False])
def test_what_a_dead_process_had_is_taken_over(storage: LocalStorage, busy: bool) -> None:
    _left_by(storage, DEAD, busy=busy)
    claim = _claims(storage).claim(REQUEST)
    assert claim
    assert claim.interrupted is busy
    assert storage.list("control") == ["r1.claim-1"]
    assert _claims(storage).claim(REQUEST) is None


def test_an_interruption_is_remembered_over_two_deaths(storage: LocalStorage) -> None:
    _left_by(storage, DEAD, interrupted=True)
    claim = _claims(storage).claim(REQUEST)
    assert claim
    assert claim.interrupted


def test_a_claim_says_whether_it_is_being_carried_out(storage: LocalStorage) -> None:
    claim = _claims(storage).claim(REQUEST)
    assert claim
    seen = []
    for change in (claim.begin, claim.pause):
        change()
        seen.append(read_document(storage, "control/r1.claim-0")["busy"])
    assert seen == [True, False]


def test_a_damaged_claim_is_taken_over_after_a_while(storage: LocalStorage) -> None:
    storage.replace("control/r1.claim-0", b"{}")
    at = [0.0]
    claims = _claims(storage, at)
    assert claims.claim(REQUEST) is None
    at[0] = 3 * LEASE_SECONDS
    claim = claims.claim(REQUEST)
    assert claim
    assert claim.interrupted


def test_who_is_on_another_machine_keeps_a_claim_while_its_lease_moves(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = {**this_process(), "machine": "elsewhere", "pid": 7}
    with monkeypatch.context() as patch:
        patch.setattr("cutaway.run.leases.this_process", lambda: elsewhere)
        lease = Lease(storage, "run", WriterId("watch", "watcher_0", 0))
    _left_by(storage, elsewhere, busy=True)
    at = [0.0]
    claims = _claims(storage, at)
    for _ in range(4):
        assert claims.claim(REQUEST) is None
        lease.beat()
        at[0] += 1.5 * LEASE_SECONDS
    assert claims.claim(REQUEST) is None
    at[0] += 2.5 * LEASE_SECONDS
    assert claims.claim(REQUEST)


def test_who_has_ended_on_another_machine_has_no_claim(storage: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = {**this_process(), "machine": "elsewhere", "pid": 7}
    with monkeypatch.context() as patch:
        patch.setattr("cutaway.run.leases.this_process", lambda: elsewhere)
        Lease(storage, "run", WriterId("watch", "watcher_0", 0)).release(RunState.FINISHED)
    _left_by(storage, elsewhere)
    assert _claims(storage).claim(REQUEST)


def _compete(path: Path, barrier: object, answers: object) -> None:
    claims = Claims(LocalStorage(path), "watch")
    barrier.wait()  # type: ignore[attr-defined]
    claim = claims.claim(REQUEST)
    answers.put(claim is not None)  # type: ignore[attr-defined]
    barrier.wait()  # type: ignore[attr-defined]
    os._exit(0)


def test_of_several_that_see_a_dead_process_one_takes_over(tmp_path: Path, storage: LocalStorage) -> None:
    context = multiprocessing.get_context("fork")
    for number in range(5):
        barrier, answers = context.Barrier(5), context.SimpleQueue()
        children = [context.Process(target=_compete, args=(tmp_path, barrier, answers)) for _ in range(4)]
        for child in children:
            child.start()
        barrier.wait()
        got = [answers.get() for _ in children]
        barrier.wait()
        for child in children:
            child.join()
        assert sorted(got) == [False, False, False, True], number


def test_a_number_that_is_taken_is_not_overwritten(storage: LocalStorage) -> None:
    Claim(storage, "control/r1.claim-3", interrupted=False)
    with pytest.raises(FileExistsError):
        Claim(storage, "control/r1.claim-3", interrupted=False)
