"""Steering: what is asked reaches the run folder once, and what cannot be carried out is refused at once."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutaway.run.control import Reply, Request, answer, ask, history
from cutaway.run.identity import Run
from cutaway.run.leases import Lease, RunState
from tests.unit.studio.one_run import Asked, studio_of

ID = "0" * 31 + "a"


class Training:
    """A run whose training is this process."""

    def __init__(self, path: Path) -> None:
        self.run = Run.create(path)
        self.attempt, self.lease = self.run.begin_attempt()

    def history(self) -> list[tuple[Request, Reply | None]]:
        return history(self.run.storage)


@pytest.fixture
def training(tmp_path: Path) -> Training:
    return Training(tmp_path / "runs" / "live")


@pytest.fixture
def studio(training: Training) -> Iterator[Asked]:
    with studio_of(training.run.path.parent) as asked:
        yield asked


def test_a_request_is_left_for_the_attempt_that_runs(studio: Asked, training: Training) -> None:
    done = studio.ask("live", action="set", arguments={"lr_factor": 0.5}, why="it spikes")
    assert done.status_code == 201
    told = done.json()["data"]
    assert told["new"]
    assert told["request"]["state"] == "waiting"
    request, reply = training.history()[0]
    assert (request.action, request.arguments, request.who, request.why) == (
        "set",
        {"lr_factor": 0.5},
        "studio",
        "it spikes",
    )
    assert (request.attempt, request.role, reply) == (training.attempt, "train", None)


def test_its_answer_is_shown(studio: Asked, training: Training) -> None:
    studio.ask("live", action="checkpoint", id=ID)
    answer(training.run.storage, training.history()[0][0], Reply("done", "saved", 12, time=5.0))
    row = studio.data("live", "/requests")[0]
    assert (row["id"], row["state"], row["reason"], row["step"], row["answered"]) == (ID, "done", "saved", 12, 5.0)


def test_an_id_is_asked_once_also_after_the_end(studio: Asked, training: Training) -> None:
    assert studio.ask("live", action="dump", id=ID).json()["data"]["new"]
    again = studio.ask("live", action="dump", id=ID)
    assert (again.status_code, again.json()["data"]["new"]) == (201, False)
    assert len(training.history()) == 1
    training.lease.release(RunState.FINISHED)
    assert studio.ask("live", action="dump", id=ID).json()["data"]["request"]["id"] == ID


def test_nobody_trains(studio: Asked, training: Training) -> None:
    training.lease.release(RunState.FAILED)
    refused = studio.ask("live", action="stop")
    assert (refused.status_code, refused.json()["code"]) == (409, "not-running")
    assert "failed" in refused.json()["error"]
    assert training.history() == []


def test_resuming_and_pausing_make_sense_once(studio: Asked, training: Training) -> None:
    refused = studio.ask("live", action="resume")
    assert (refused.status_code, refused.json()["code"]) == (409, "not-paused")
    lease: Lease = training.lease
    lease.show_paused(paused=True)
    assert studio.ask("live", action="pause").json()["code"] == "paused-already"
    assert studio.ask("live", action="resume").status_code == 201


@pytest.mark.parametrize(
    "wanted",
    [
        {"action": "dance"},
        {"action": "set"},
        {"action": "set", "arguments": {"lr": 0}},
        {"action": "set", "arguments": {"lr": -1}},
        {"action": "set", "arguments": {"momentum": 1}},
        {"action": "set", "arguments": {"lr": 1, "lr_factor": 1}},
        {"action": "set", "arguments": {"lr": "fast"}},
        {"action": "stop", "arguments": {"lr": 1}},
        {"action": "stop", "id": "../../run"},
        {"action": "stop", "why": "x" * 1001},
        {"action": "stop", "more": 1},
        {},
    ],
)
def test_what_is_wrong_is_said_before_anybody_is_asked(
    studio: Asked, training: Training, wanted: dict[str, object]
) -> None:
    assert studio.ask("live", **wanted).status_code == 400
    assert training.history() == []


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_that_are_none_are_refused(studio: Asked, training: Training, number: str) -> None:
    body = f'{{"action": "set", "arguments": {{"lr": {number}}}}}'
    url = f"/api/runs/{studio.id_of('live')}/requests"
    refused = studio.client.post(url, content=body, headers={"content-type": "application/json"})
    assert refused.status_code == 400
    assert training.history() == []


def test_the_newest_come_first_in_pages_and_messages_to_people_stay_out(studio: Asked, training: Training) -> None:
    for number in range(5):
        ask(training.run.storage, Request("dump", "train", "anna", str(number), time=float(number)))
    ask(training.run.storage, Request("notify", "watch", "rule", "secret channel", {"url": "https://x/token"}))
    page = studio.get("live", "/requests", offset=1, limit=2).json()
    assert ([row["why"] for row in page["data"]], page["total"]) == (["3", "2"], 5)


def test_a_request_of_a_stranger_is_shown_as_far_as_it_can_be(studio: Asked, training: Training) -> None:
    folder = training.run.path / "control"
    ask(training.run.storage, Request("stop", "train", "\ud800", "<b>", {"lr": float("inf")}, time=float("nan")))
    (folder / "broken.json").write_text("{")
    (folder / "list.json").write_text(json.dumps([1, 2]))
    rows = studio.data("live", "/requests")
    assert [(row["who"], row["arguments"], row["time"]) for row in rows] == [("?", {"lr": "Infinity"}, None)]


def test_a_run_that_is_opened_is_as_it_is_now_not_as_the_table_saw_it_last(studio: Asked, training: Training) -> None:
    assert studio.data("live")["row"]["state"] == "running"
    training.lease.show_paused(paused=True)
    told = studio.data("live")
    assert (told["row"]["state"], told["attempts"][-1]["state"]) == ("paused", "paused")
    training.lease.show_paused(paused=False)
    assert studio.data("live")["row"]["state"] == "running"
