"""Requests travel to the one who is asked, and their answers back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from cutaway.errors import ConfigurationError, RunDamaged
from cutaway.run.control import Inbox, Reply, Request, answer, answer_to, ask, history
from cutaway.run.documents import write_document
from cutaway.run.storage import LocalStorage


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path)


def _request(action: str = "stop", role: str = "train", **more: object) -> Request:
    return Request(action, role, who="anna", why="the loss is NaN", **more)


def test_a_request_arrives_as_it_was_asked(storage: LocalStorage) -> None:
    request = _request("learning_rate", arguments={"value": 1e-4, "ünï": [1, None]})
    assert Inbox(storage, "train").new() == []
    ask(storage, request)
    assert Inbox(storage, "train").new() == [request]


def test_an_answer_comes_back_and_ends_the_waiting(storage: LocalStorage) -> None:
    done, refused = _request("checkpoint"), _request("pause")
    for request in (done, refused):
        ask(storage, request)
        assert answer_to(storage, request) is None
    answer(storage, done, Reply("done", "", step=7))
    assert Inbox(storage, "train").new() == [refused]
    answer(storage, refused, Reply("refused", "pausing is off", step=8))
    assert Inbox(storage, "train").new() == []
    found = [answer_to(storage, request) for request in (done, refused)]
    assert [(one.state, one.reason, one.step) for one in found if one] == [
        ("done", "", 7),
        ("refused", "pausing is off", 8),
    ]


def test_requests_are_for_the_role_that_they_name(storage: LocalStorage) -> None:
    ask(storage, _request(role="watch"))
    assert Inbox(storage, "train").new() == []
    assert len(Inbox(storage, "watch").new()) == 1


def test_requests_come_oldest_first(storage: LocalStorage) -> None:
    times = [3.0, 1.0, 2.0]
    for moment in times:
        ask(storage, _request(time=moment))
    assert [request.time for request in Inbox(storage, "train").new()] == sorted(times)


def test_a_damaged_request_does_not_hide_the_others(storage: LocalStorage) -> None:
    good, bad = _request(), _request()
    for request in (good, bad):
        ask(storage, request)
    path = storage.path(f"control/{bad.id}.json")
    path.write_bytes(path.read_bytes().replace(b"stop", b"stoq"))
    assert Inbox(storage, "train").new() == [good]


@pytest.mark.parametrize(
    "changes",
    [{"action": "dance", "unknown": 1}, {"time": "yesterday"}, {"arguments": [1]}, {"attempt": "1"}, {"why": None}],
)
def test_a_request_of_a_newer_release_does_not_hide_the_others(
    storage: LocalStorage, changes: dict[str, object]
) -> None:
    good = _request()
    ask(storage, good)
    write_document(storage, "control/new.json", {**asdict(good), "id": "new", **changes})
    assert Inbox(storage, "train").new() == [good]
    storage.replace("control/new.json", b'{"action": "dance"}')
    assert Inbox(storage, "train").new() == [good]


def test_an_id_is_asked_once(storage: LocalStorage) -> None:
    assert ask(storage, _request(id="stop-7"))
    assert not ask(storage, _request("pause", id="stop-7"))
    assert [request.action for request in Inbox(storage, "train").new()] == ["stop"]


def test_of_two_processes_that_ask_at_once_one_asks(storage: LocalStorage) -> None:
    with ThreadPoolExecutor(8) as pool:
        asked = list(pool.map(lambda who: ask(storage, replace(_request(id="stop-7"), who=str(who))), range(24)))
    assert sum(asked) == 1
    (request,) = Inbox(storage, "train").new()
    assert request.who == str(asked.index(True))


def test_an_inbox_hands_each_request_out_once(storage: LocalStorage) -> None:
    inbox = Inbox(storage, "train")
    assert inbox.new() == []
    first, second = _request(), _request("pause")
    ask(storage, first)
    assert inbox.new() == [first]
    assert inbox.new() == []
    ask(storage, second)
    ask(storage, _request(role="watch"))
    assert inbox.new() == [second]


def test_a_copy_under_another_name_is_no_second_request(storage: LocalStorage) -> None:
    inbox, request = Inbox(storage, "train"), _request()
    ask(storage, request)
    storage.replace("control/copy.json", storage.read(f"control/{request.id}.json"))
    assert inbox.new() == [request]
    assert inbox.new() == []


def test_a_request_that_was_only_half_there_is_read_when_it_is_whole(storage: LocalStorage) -> None:
    inbox, request = Inbox(storage, "train"), _request()
    ask(storage, request)
    whole = storage.read(f"control/{request.id}.json")
    storage.replace(f"control/{request.id}.json", whole[:20])
    assert inbox.new() == []
    storage.replace(f"control/{request.id}.json", whole)
    assert inbox.new() == [request]


def test_what_was_answered_before_is_not_handed_out(storage: LocalStorage) -> None:
    request = _request()
    ask(storage, request)
    answer(storage, request, Reply("done", "", step=7))
    assert Inbox(storage, "train").new() == []


def test_the_history_has_every_request_with_its_answer(storage: LocalStorage) -> None:
    done, waiting, damaged = (_request(time=moment) for moment in (1.0, 2.0, 3.0))
    reply = Reply("done", "", step=7)
    for request in (waiting, damaged, done):
        ask(storage, request)
    answer(storage, done, reply)
    storage.replace(f"control/{damaged.id}.done", b"{}")
    assert history(storage) == [(done, reply), (waiting, None), (damaged, None)]


def test_a_damaged_answer_is_damage_and_not_silence(storage: LocalStorage) -> None:
    request = _request()
    ask(storage, request)
    answer(storage, request, Reply("done", "", step=1))
    path = storage.path(f"control/{request.id}.done")
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(RunDamaged):
        answer_to(storage, request)


def test_an_id_cannot_point_outside_the_run(storage: LocalStorage) -> None:
    with pytest.raises(ConfigurationError):
        ask(storage, _request(id="../../run"))
