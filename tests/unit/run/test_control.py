"""Requests travel to the one who is asked, and their answers back."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.errors import ConfigurationError, RunDamaged
from cutaway.run.control import Answer, Request, answer, answer_to, ask, pending
from cutaway.run.storage import LocalStorage


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path)


def _request(action: str = "stop", role: str = "train", **more: object) -> Request:
    return Request(action, role, who="anna", why="the loss is NaN", **more)


def test_a_request_arrives_as_it_was_asked(storage: LocalStorage) -> None:
    request = _request("learning_rate", arguments={"value": 1e-4, "ünï": [1, None]})
    assert pending(storage, "train") == []
    ask(storage, request)
    assert pending(storage, "train") == [request]


def test_an_answer_comes_back_and_ends_the_waiting(storage: LocalStorage) -> None:
    done, refused = _request("checkpoint"), _request("pause")
    for request in (done, refused):
        ask(storage, request)
        assert answer_to(storage, request) is None
    answer(storage, done, Answer("done", "", step=7))
    assert pending(storage, "train") == [refused]
    answer(storage, refused, Answer("refused", "pausing is off", step=8))
    assert pending(storage, "train") == []
    found = [answer_to(storage, request) for request in (done, refused)]
    assert [(one.state, one.reason, one.step) for one in found if one] == [
        ("done", "", 7),
        ("refused", "pausing is off", 8),
    ]


def test_requests_are_for_the_role_that_they_name(storage: LocalStorage) -> None:
    ask(storage, _request(role="watch"))
    assert pending(storage, "train") == []
    assert len(pending(storage, "watch")) == 1


def test_requests_come_oldest_first(storage: LocalStorage) -> None:
    times = [3.0, 1.0, 2.0]
    for moment in times:
        ask(storage, _request(time=moment))
    assert [request.time for request in pending(storage, "train")] == sorted(times)


def test_a_damaged_request_does_not_hide_the_others(storage: LocalStorage) -> None:
    good, bad = _request(), _request()
    for request in (good, bad):
        ask(storage, request)
    path = storage.path(f"control/{bad.id}.json")
    path.write_bytes(path.read_bytes().replace(b"stop", b"stoq"))
    assert pending(storage, "train") == [good]


def test_a_request_of_a_newer_release_does_not_hide_the_others(storage: LocalStorage) -> None:
    good = _request()
    ask(storage, good)
    storage.replace("control/new.json", storage.read(f"control/{good.id}.json"))
    assert len(pending(storage, "train")) == 2
    storage.replace("control/new.json", b'{"action": "dance"}')
    assert pending(storage, "train") == [good]


def test_a_damaged_answer_is_damage_and_not_silence(storage: LocalStorage) -> None:
    request = _request()
    ask(storage, request)
    answer(storage, request, Answer("done", "", step=1))
    path = storage.path(f"control/{request.id}.done")
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(RunDamaged):
        answer_to(storage, request)


def test_an_id_cannot_point_outside_the_run(storage: LocalStorage) -> None:
    with pytest.raises(ConfigurationError):
        ask(storage, _request(id="../../run"))
