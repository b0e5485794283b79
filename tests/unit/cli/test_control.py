"""`cutaway control`: what is asked, what comes back, and what is wrong before anybody is asked."""

from __future__ import annotations

import getpass
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cutaway.run import Run, RunState
from cutaway.run.control import Inbox, Reply, Request, answer, ask, history
from cutaway.run.leases import Lease
from cutaway.run.segments import WriterId

MakeRun = Callable[..., Run]
Cutaway = Callable[..., tuple[int, str, str]]
Answers = Callable[[Run, Reply], threading.Thread]


@pytest.fixture
def answers() -> Iterator[Answers]:
    """Answer the next request to a run, as its training would."""
    threads: list[threading.Thread] = []

    def start(run: Run, reply: Reply) -> threading.Thread:
        def wait() -> None:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                for request in Inbox(run.storage, "train").new():
                    answer(run.storage, request, reply)
                    return
                time.sleep(0.005)

        threads.append(threading.Thread(target=wait))
        threads[-1].start()
        return threads[-1]

    yield start
    for thread in threads:
        thread.join(60)


def test_a_request_names_who_asks_and_why_and_the_attempt(
    make_run: MakeRun, cutaway: Cutaway, answers: Answers
) -> None:
    run = make_run("mnist-1", running=True)
    answers(run, Reply("done", "the loop sees it", 812))
    code, out, err = cutaway("control", "mnist", "stop", "--why", "the loss is NaN")
    assert (code, out, err) == (0, "done at step 812: the loop sees it\n", "")
    ((request, _),) = history(run.storage)
    assert (request.action, request.role, request.why, request.attempt) == ("stop", "train", "the loss is NaN", 0)
    assert request.who == f"{getpass.getuser()}@{socket.gethostname()}"


def test_a_refusal_ends_with_one(make_run: MakeRun, cutaway: Cutaway, answers: Answers) -> None:
    answers(make_run(running=True), Reply("refused", "no optimizer is registered", 5))
    assert cutaway("control", "mnist", "set", "lr=0.1") == (1, "refused: no optimizer is registered\n", "")


@pytest.mark.parametrize(("text", "arguments"), [("lr=1e-3", {"lr": 0.001}), ("lr_factor=0.5", {"lr_factor": 0.5})])
def test_settings_travel_as_numbers(
    make_run: MakeRun, cutaway: Cutaway, answers: Answers, text: str, arguments: dict[str, float]
) -> None:
    run = make_run(running=True)
    answers(run, Reply("done", "", 5))
    assert cutaway("control", "mnist", "set", text) == (0, "done at step 5\n", "")
    assert history(run.storage)[0][0].arguments == arguments


def test_without_an_answer_the_request_waits(make_run: MakeRun, cutaway: Cutaway) -> None:
    run = make_run(running=True)
    code, out, _ = cutaway("control", "mnist", "checkpoint", "--wait", "0.1")
    assert code == 0
    assert "No answer within 0.1 s" in out
    assert "`cutaway control runs/mnist-1`" in out
    assert [request.action for request in Inbox(run.storage, "train").new()] == ["checkpoint"]


def test_json_has_the_request_and_its_answer(make_run: MakeRun, cutaway: Cutaway, answers: Answers) -> None:
    answers(make_run(running=True), Reply("done", "", 5))
    _, out, _ = cutaway("control", "mnist", "dump", "--json")
    content = json.loads(out)
    assert (content["ok"], content["outcome"], content["path"]) == (True, "done", "runs/mnist-1")
    assert content["request"]["action"] == "dump"
    assert content["answer"]["step"] == 5
    _, out, _ = cutaway("control", "mnist", "dump", "--json", "--wait", "0")
    assert (json.loads(out)["outcome"], json.loads(out)["answer"]) == ("waiting", None)


@pytest.mark.parametrize("state", [RunState.FINISHED, RunState.FAILED, RunState.ENDED])
def test_what_does_not_run_is_not_asked(make_run: MakeRun, cutaway: Cutaway, state: RunState) -> None:
    run = make_run(state=state)
    code, out, err = cutaway("control", "mnist", "stop")
    assert (code, out) == (2, "")
    assert f"The training of run 'mnist-1' is not running: it is {state}." in err
    assert "cutaway runs show runs/mnist-1" in err
    assert history(run.storage) == []


def test_a_training_that_ends_while_it_is_asked_leaves_no_one_waiting(
    make_run: MakeRun, cutaway: Cutaway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutaway.cli.control.ALIVE_SECONDS", 0.05)
    run = make_run()
    lease = Lease(run.storage, str(run.path), WriterId("train", "worker_0", 1))
    timer = threading.Timer(0.3, lease.release, [RunState.FINISHED])
    timer.start()
    code, out, _ = cutaway("control", "mnist", "pause", "--wait", "3600")
    timer.join()
    assert (code, out) == (1, "The training ended before it answered.\n")
    assert history(run.storage)[0][0].attempt == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["stopp"], "No action 'stopp'. Did you mean 'stop'"),
        (["dance"], "No action 'dance'."),
        (["stop", "lr=1"], "`stop` takes nothing else, but got 'lr=1'."),
        (["set"], "but got nothing."),
        (["set", "lr=1", "lr_factor=2"], "but got lr=1 lr_factor=2."),
        (["set", "lrr=1"], "Nothing called 'lrr' can be set. Did you mean 'lr'"),
        (["set", "momentum=1"], "Nothing called 'momentum' can be set. There are lr and lr_factor."),
        (["set", "lr"], "`lr` must be a number that is not negative, but got 'lr'."),
        (["set", "lr=fast"], "but got 'lr=fast'."),
        (["set", "lr=-1"], "but got 'lr=-1'."),
        (["set", "lr=nan"], "but got 'lr=nan'."),
        (["stop", "--wait", "-1"], "`--wait >= 0` must hold"),
    ],
)
def test_what_is_wrong_is_said_before_anybody_is_asked(
    make_run: MakeRun, cutaway: Cutaway, words: list[str], said: str
) -> None:
    run = make_run(running=True)
    code, out, err = cutaway("control", "mnist", *words)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())
    assert history(run.storage) == []


def test_without_an_action_the_requests_so_far_are_listed(make_run: MakeRun, cutaway: Cutaway) -> None:
    run = make_run(running=True)
    assert "Nothing was asked of it so far" in cutaway("control", "mnist")[1]
    first = Request("set", "train", "anna@lab", "it spikes", {"lr": 0.01}, time=time.time() - 90)
    for request in (first, Request("stop", "train", "rule LossSpike", "")):
        ask(run.storage, request)
    answer(run.storage, first, Reply("done", "lr from 0.1 to 0.01", 7))
    code, out, _ = cutaway("control", "mnist")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "mnist-1  running"
    told = "1 min ago set lr=0.01 anna@lab it spikes done at step 7: lr from 0.1 to 0.01"
    assert " ".join(lines[2].split()) == told
    assert lines[3].split()[-1] == "waits"
    content = json.loads(cutaway("control", "mnist", "--json")[1])
    assert (content["state"], content["paused"]) == ("running", False)
    assert [one["answer"] and one["answer"]["step"] for one in content["requests"]] == [7, None]


def test_a_finished_run_still_lists_what_was_asked(make_run: MakeRun, cutaway: Cutaway) -> None:
    ask(make_run().storage, Request("stop", "train", "anna", ""))
    code, out, _ = cutaway("control", "mnist")
    assert code == 0
    assert "mnist-1  finished" in out


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_the_list_fits_the_terminal(make_run: MakeRun, cutaway: Cutaway, columns: int) -> None:
    run = make_run(running=True)
    ask(run.storage, Request("checkpoint", "train", "somebody@a.rather.long.host.name", "because of this and that"))
    _, out, _ = cutaway("control", "mnist", columns=columns)
    assert max(map(len, out.splitlines())) <= columns


def test_a_paused_training_is_shown_as_paused(make_run: MakeRun, cutaway: Cutaway) -> None:
    run = make_run()
    lease = Lease(run.storage, str(run.path), WriterId("train", "worker_0", 1))
    lease.show_paused(paused=True)
    assert cutaway("control", "mnist")[1].startswith("mnist-1  running, paused\n")
    shown = cutaway("runs", "show", "mnist")[1]
    assert "is paused" in shown
    assert "Next: cutaway control runs/mnist-1 resume" in shown
    lease.show_paused(paused=False)
    assert cutaway("control", "mnist")[1].startswith("mnist-1  running\n")
    lease.show_paused(paused=True)
    lease.release(RunState.FAILED)
    assert "paused" not in cutaway("control", "mnist")[1]


def test_a_run_says_who_stopped_its_last_attempt(make_run: MakeRun, cutaway: Cutaway) -> None:
    run = make_run(steps=13)
    by: dict[str, Any] = {"who": "anna@lab", "why": "the loss is NaN", "step": 12, "attempt": 0, "seen": 12}
    run.identity["stopped_by"] = by
    run.save_identity()
    assert "Stopped by anna@lab at step 12: the loss is NaN" in cutaway("runs", "show", "mnist")[1]
    assert json.loads(cutaway("runs", "show", "mnist", "--json")[1])["stopped_by"] == by
    _, lease = Run.open(run.path).begin_attempt(from_step=13)
    lease.release(RunState.FINISHED)
    assert "anna" not in cutaway("runs", "show", "mnist")[1]


def test_ctrl_c_leaves_the_request_and_says_how_to_look_again(
    make_run: MakeRun, cutaway: Cutaway, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(running=True)

    def interrupted(*_: object) -> None:
        assert Inbox(run.storage, "train").new()
        raise KeyboardInterrupt

    monkeypatch.setattr("cutaway.cli.control._wait", interrupted)
    code, out, err = cutaway("control", "mnist", "stop", "--wait", "60")
    assert (code, out) == (130, "")
    assert err == "The request waits. `cutaway control runs/mnist-1` shows what became of it.\n"
    assert [one.action for one in Inbox(run.storage, "train").new()] == ["stop"]
