"""What a training is asked for, with a hook that takes arrays: carried out once, in order, between two steps."""

from __future__ import annotations

import errno
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.capture.adapter import Worker
from cutaway.capture.mailbox import Mailbox
from cutaway.errors import ConfigurationError
from cutaway.run import Run
from cutaway.run.control import Reply, Request, answer_to, ask
from cutaway.run.leases import read_leases
from cutaway.run.state_words import run_words, stop_words
from tests.faulty_storage import Fault, FaultyStorage
from tests.recording import Recorded

SECONDS = 60.0


def until(condition: Callable[[], Any]) -> Any:
    """Wait for something that another thread does, and return it."""
    deadline = time.monotonic() + SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return found


def request(action: str, **more: Any) -> Request:
    return Request(action, "train", "anna", more.pop("why", "to see"), **more)


def left(hook: Any, action: str, **more: Any) -> Request:
    """Ask for something, and wait until the training thread could see it."""
    asked = request(action, **more)
    mail = hook.requests.mail
    count = len(mail.waiting)
    ask(hook.run.storage, asked)
    until(lambda: len(mail.waiting) > count)
    return asked


def answered(hook: Any, asked: Request) -> Reply:
    """Wait for what became of a request; one that was only delivered has not been carried out."""

    def final() -> Reply | None:
        reply = answer_to(hook.run.storage, asked)
        return None if reply is None or reply.state == "delivered" else reply

    found: Reply = until(final)
    return found


def delivered(hook: Any, asked: Request) -> Reply:
    """Wait for the first word about a request."""
    found: Reply = until(lambda: answer_to(hook.run.storage, asked))
    return found


def step(hook: Any, value: float = 1.0) -> None:
    hook.take(Net_weight=np.full(3, value, np.float32))


# -- stop ----------------------------------------------------------------------------------------------------------


def test_a_loop_sees_that_it_should_stop_and_the_run_says_who_asked(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        assert not hook.should_stop
        step(hook)
        asked = left(hook, "stop", why="the loss is NaN.")
        step(hook)
        assert hook.should_stop
        reply = answered(hook, asked)
    assert hook.should_stop
    assert (reply.state, reply.step) == ("done", 1)
    recorded = Recorded(tmp_path / "run")
    by = {"who": "anna", "why": "the loss is NaN.", "step": 1, "attempt": 0, "seen": 1}
    assert recorded.run.identity["stopped_by"] == by
    (finding,) = recorded.run.findings()
    assert (finding.code, finding.severity, finding.where) == ("stop-requested", "info", {"step": 1})
    assert finding.message == "Stop asked by anna: the loss is NaN."


def test_a_loop_without_steps_sees_a_stop_when_it_asks(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        asked = left(hook, "stop")
        assert hook.should_stop
        assert answered(hook, asked).state == "done"


def test_a_stop_that_the_loop_never_reads_is_delivered_and_not_done(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        asked = left(hook, "stop", why="the loss is NaN")
        for _ in range(4):
            step(hook)
        reply = delivered(hook, asked)
        assert reply.state == "delivered"
        assert "has not read `hook.should_stop`" in reply.reason
        assert "`if hook.should_stop: break`" in reply.reason
    last = answer_to(hook.run.storage, asked)
    assert last is not None
    assert last.state == "delivered"
    recorded = Recorded(tmp_path / "run")
    assert recorded.run.identity["stopped_by"]["seen"] is None
    words = stop_words(run_words(recorded.run, recorded.run.state(), "run", 3).stopped_by, 3)
    assert words == (
        "Not stopped: anna asked for it at step 0: the loss is NaN; the loop never read `hook.should_stop` "
        "and went on to step 3. Add `if hook.should_stop: break` to the loop"
    )


def test_a_stop_is_done_when_the_loop_reads_it_also_long_after_it_came(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        assert not hook.should_stop
        asked = left(hook, "stop")
        step(hook)
        assert delivered(hook, asked).state == "delivered"
        step(hook)
        step(hook)
        assert hook.should_stop
        assert answered(hook, asked).state == "done"
    by = Recorded(tmp_path / "run").run.identity["stopped_by"]
    assert by["seen"] > by["step"]


def test_in_the_middle_of_a_step_a_stop_alone_is_carried_out(tmp_path: Path, array_hook: type) -> None:
    calls: list[int] = []
    with array_hook(tmp_path / "run") as hook:
        hook.on_checkpoint(calls.append)
        checkpoint, stop = left(hook, "checkpoint"), left(hook, "stop")
        hook.steps.begin()
        assert hook.should_stop
        assert answered(hook, stop).state == "done"
        assert not calls
        hook.steps.end()
        assert calls == [0]
        assert answered(hook, checkpoint).state == "done"


def test_the_first_who_asks_stops_the_training(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        left(hook, "stop")
        second = left(hook, "stop", why="me too")
        step(hook)
        reply = answered(hook, second)
        assert reply.state == "done"
        assert "anna had asked for it already, at step 0" in reply.reason
    recorded = Recorded(tmp_path / "run")
    assert recorded.findings() == ["stop-requested"]
    assert recorded.run.identity["stopped_by"]["why"] == "to see"


def test_an_attempt_that_was_not_stopped_says_nothing_of_a_stop(tmp_path: Path, array_hook: type) -> None:
    array_hook(tmp_path / "run").close()
    assert "stopped_by" not in Run.open(tmp_path / "run").identity


# -- once, in order, by whom ---------------------------------------------------------------------------------------


def test_requests_are_carried_out_oldest_first(tmp_path: Path, array_hook: type) -> None:
    done: list[str] = []
    with array_hook(tmp_path / "run") as hook:
        hook.on_checkpoint(lambda _: done.append("checkpoint"))
        hook.requests._actions["set"] = lambda asked: done.append(str(asked.arguments["lr"])) or ""
        mail = hook.requests.mail
        mail._looking.acquire()  # as if they had come between two looks
        for moment, (action, arguments) in enumerate([("set", {"lr": 2}), ("checkpoint", {}), ("set", {"lr": 1})]):
            ask(hook.run.storage, request(action, arguments=arguments, time=float(3 - moment)))
        mail._looking.release()
        until(lambda: len(mail.waiting) == 3)
        step(hook)
    assert done == ["1", "checkpoint", "2"]


def test_an_id_is_carried_out_once(tmp_path: Path, array_hook: type) -> None:
    calls: list[int] = []
    with array_hook(tmp_path / "run") as hook:
        hook.on_checkpoint(calls.append)
        asked = left(hook, "checkpoint", id="rule-7")
        assert not ask(hook.run.storage, asked)
        hook.run.storage.replace("control/copy.json", hook.run.storage.read("control/rule-7.json"))
        for _ in range(3):
            step(hook)
            hook.recorder.mail.look()
        assert answered(hook, asked).state == "done"
    assert calls == [0]


def test_what_could_not_be_answered_is_not_done_again_and_answered_later(
    tmp_path: Path, array_hook: type, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[int] = []
    with array_hook(tmp_path / "run") as hook:
        hook.on_checkpoint(calls.append)
        asked = left(hook, "checkpoint")
        mail = hook.requests.mail
        mail._storage = storage = FaultyStorage(mail._storage, Fault(1, errno.ENOSPC, lasting=True))
        step(hook)
        until(lambda: storage.failures > 2)
        assert answer_to(hook.run.storage, asked) is None
        step(hook)
        storage.heal()
        assert answered(hook, asked).step == 0
    assert calls == [0]
    assert caplog.text.count("The answer to 'checkpoint' of anna is late") == 1
    assert Recorded(tmp_path / "run").numbers() == [0, 1]


def test_a_request_for_an_earlier_attempt_is_refused(tmp_path: Path, array_hook: type) -> None:
    array_hook(tmp_path / "run").close()
    with array_hook(tmp_path / "run", resume=True) as hook:
        stale = left(hook, "stop", attempt=0)
        mine = left(hook, "dump", attempt=1)
        step(hook)
        step(hook)
        assert not hook.should_stop
        reply = answered(hook, stale)
        assert (reply.state, reply.reason) == ("refused", "the training that it was meant for has ended")
        assert answered(hook, mine).state == "done"


def test_a_request_for_a_later_attempt_is_left_to_it(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        ask(hook.run.storage, later := request("stop", attempt=1))
        marker = left(hook, "resume")
        step(hook)
        answered(hook, marker)
        assert not hook.should_stop
    assert answer_to(hook.run.storage, later) is None
    with array_hook(tmp_path / "run", resume=True) as hook:
        until(lambda: hook.should_stop)


def test_an_unreadable_request_is_left_and_hides_nothing(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        hook.run.storage.replace("control/torn.json", b'{"action": "stop", "ro')
        good = left(hook, "stop")
        step(hook)
        assert hook.should_stop
        assert answered(hook, good).state == "done"
    assert not (tmp_path / "run" / "control" / "torn.done").exists()


def test_an_id_that_is_no_file_name_gets_no_answer_and_does_no_harm(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        hook.requests.mail.waiting.append(request("resume", id="../escaped"))
        good = left(hook, "stop")
        step(hook)
        assert hook.should_stop
        assert answered(hook, good).state == "done"
    assert not (tmp_path / "escaped.done").exists()


def test_an_unknown_action_is_refused_with_the_nearest_one(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        asked = left(hook, "stopp")
        step(hook)
        reply = answered(hook, asked)
        assert reply.state == "refused"
        assert "no action 'stopp'. Did you mean 'stop'" in reply.reason


def test_workers_beside_the_chief_take_no_requests(
    tmp_path: Path, array_hook: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutaway.capture.current.count_shared", lambda: 1)
    every = {"include_workers": "all"}
    with (
        array_hook(tmp_path / "run", Worker(0, "job", 2), **every) as chief,
        array_hook(tmp_path / "run", Worker(1, "job", 2), **every) as second,
    ):
        asked = left(chief, "stop")
        step(second)
        assert not second.should_stop
        step(chief)
        assert chief.should_stop
        assert answered(chief, asked).state == "done"


def test_what_comes_with_the_end_is_refused(tmp_path: Path, array_hook: type) -> None:
    calls: list[int] = []
    with array_hook(tmp_path / "run") as hook:
        hook.on_checkpoint(calls.append)
        step(hook)
        checkpoint, dump = left(hook, "checkpoint"), request("dump")
        ask(hook.run.storage, dump)
    storage = hook.run.storage
    for asked in (checkpoint, dump):
        reply = answer_to(storage, asked)
        assert reply is not None
        assert (reply.state, reply.reason, reply.step) == ("refused", "the training has ended", 0)
    assert calls == []


def test_without_a_run_nothing_is_asked(tmp_path: Path, array_hook: type, monkeypatch: pytest.MonkeyPatch) -> None:
    with array_hook(tmp_path / "dry", dry_run=True) as hook:
        step(hook)
        assert not hook.should_stop
    monkeypatch.setenv("CUTAWAY", "off")
    with array_hook(tmp_path / "off") as hook:
        assert not hook.should_stop


# -- checkpoint ----------------------------------------------------------------------------------------------------


def test_the_loops_function_is_called_on_its_own_thread_between_two_steps(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        calls: list[tuple[int, object, bool]] = []

        @hook.on_checkpoint
        def save(at: int) -> None:
            calls.append((at, threading.current_thread(), hook.steps.record is None))

        asked = left(hook, "checkpoint")
        assert not calls
        step(hook)
        assert calls == [(0, threading.current_thread(), True)]
        assert answered(hook, asked).step == 0
        save(7)
        assert calls[-1][0] == 7


def test_a_checkpoint_that_fails_is_refused_and_the_training_goes_on(
    tmp_path: Path, array_hook: type, caplog: pytest.LogCaptureFixture
) -> None:
    def save(_: int) -> None:
        raise ConfigurationError("the bucket is gone")

    with array_hook(tmp_path / "run") as hook:
        hook.on_checkpoint(save)
        asked = left(hook, "checkpoint")
        step(hook)
        reply = answered(hook, asked)
        assert (reply.state, reply.reason) == ("refused", "ConfigurationError: the bucket is gone")
        step(hook)
    assert "the bucket is gone" in caplog.text
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == [0, 1]
    assert recorded.run.state() == "finished"


def test_without_a_function_a_checkpoint_is_refused(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        asked = left(hook, "checkpoint")
        step(hook)
        assert answered(hook, asked).reason == "the loop gave no function to `hook.on_checkpoint`"


def test_an_interrupt_in_a_checkpoint_reaches_the_loop_and_is_answered(tmp_path: Path, array_hook: type) -> None:
    def save(_: int) -> None:
        raise KeyboardInterrupt

    with array_hook(tmp_path / "run") as hook:
        hook.on_checkpoint(save)
        asked = left(hook, "checkpoint")
        with pytest.raises(KeyboardInterrupt):
            step(hook)
        assert answered(hook, asked).reason == "it was interrupted"


def test_a_checkpoint_function_may_use_the_hook(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:

        @hook.on_checkpoint
        def save(at: int) -> None:
            hook.save_scalar("saved", at)
            assert hook.flush()
            assert not hook.should_stop
            hook.steps.begin()  # as a forward of the model would

        asked = left(hook, "checkpoint")
        step(hook)
        step(hook)
        assert answered(hook, asked).state == "done"
    recorded = Recorded(tmp_path / "run")
    assert recorded.scalars("saved") == {0: 0.0}
    assert recorded.numbers() == [0, 1, 2]


def test_what_is_no_function_is_said_at_once(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook, pytest.raises(ConfigurationError, match="but got str"):
        hook.on_checkpoint("model.pt")


# -- pause ---------------------------------------------------------------------------------------------------------


def train_until_stopped(hook: Any) -> threading.Thread:
    def loop() -> None:
        while not hook.should_stop:
            step(hook)
            time.sleep(0.001)

    thread = threading.Thread(target=loop)
    thread.start()
    return thread


def is_paused(hook: Any) -> bool:
    (lease,) = read_leases(hook.run.storage, "train")
    return bool(lease.get("paused", False))


def test_a_paused_training_stands_still_its_lease_moves_and_it_does_what_it_is_asked(
    tmp_path: Path, array_hook: type, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("cutaway.capture.background.BEAT_SECONDS", 0.05)
    saved: list[int] = []
    with array_hook(tmp_path / "run") as hook:
        hook.on_checkpoint(saved.append)
        thread = train_until_stopped(hook)
        pause, checkpoint, dump, again, resume, stop = (
            request(action) for action in ("pause", "checkpoint", "dump", "pause", "resume", "stop")
        )
        ask(hook.run.storage, pause)
        reply = answered(hook, pause)
        at = reply.step
        assert reply.state == "done"
        assert is_paused(hook)
        beat = read_leases(hook.run.storage, "train")[0]["beat"]
        until(lambda: read_leases(hook.run.storage, "train")[0]["beat"] > beat + 1)
        for asked in (checkpoint, dump, again):
            ask(hook.run.storage, asked)
        assert answered(hook, checkpoint).step == at
        assert answered(hook, again).reason == "it was paused already"
        assert (hook.step, saved, is_paused(hook)) == (at, [at], True)
        assert answer_to(hook.run.storage, dump) is None
        ask(hook.run.storage, resume)
        assert answered(hook, resume) == Reply("done", "", at, time=answered(hook, resume).time)
        until(lambda: hook.step > at + 3)
        assert answered(hook, dump).step == at + 1
        assert not is_paused(hook)
        ask(hook.run.storage, stop)
        thread.join(SECONDS)
        assert not thread.is_alive()
    assert f"Paused after step {at} by anna: to see." in caplog.text
    assert "goes on after a pause" in caplog.text
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == list(range(hook.step + 1))
    assert recorded.saved_at("Net_weight") == [at + 1]


def test_a_stop_ends_a_pause(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        thread = train_until_stopped(hook)
        pause, stop, late = (request(action) for action in ("pause", "stop", "pause"))
        ask(hook.run.storage, pause)
        at = answered(hook, pause).step
        ask(hook.run.storage, stop)
        thread.join(SECONDS)
        assert not thread.is_alive()
        assert hook.step == at
        ask(hook.run.storage, late)
        until(lambda: hook.requests.mail.waiting)
        assert hook.should_stop
        assert answered(hook, late).reason == "the training was asked to stop"


def test_what_is_not_paused_cannot_be_resumed(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        asked = left(hook, "resume")
        step(hook)
        assert answered(hook, asked).reason == "the training is not paused"


def test_closing_ends_a_pause(tmp_path: Path, array_hook: type) -> None:
    hook = array_hook(tmp_path / "run")
    thread = threading.Thread(target=step, args=(hook,))
    pause = left(hook, "pause")
    thread.start()
    assert answered(hook, pause).state == "done"
    hook.close()
    thread.join(SECONDS)
    assert not thread.is_alive()
    assert Recorded(tmp_path / "run").run.state() == "finished"


def test_a_hook_that_is_closed_does_not_pause(tmp_path: Path, array_hook: type) -> None:
    hook = array_hook(tmp_path / "run")
    pause = left(hook, "pause")
    hook.steps.begin()
    hook.close()
    reply = answer_to(hook.run.storage, pause)
    assert reply is not None
    assert reply.state == "refused"


def test_a_capture_that_stops_lets_a_paused_training_go(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        pause = left(hook, "pause")
        thread = threading.Thread(target=step, args=(hook,))
        thread.start()
        assert answered(hook, pause).state == "done"
        hook.recorder.stop("the folder is gone")
        thread.join(SECONDS)
        assert not thread.is_alive()
        # Stopping can be asked for all the same: the loop looks, though no step is seen.
        stop = left(hook, "stop")
        assert hook.should_stop
        assert answered(hook, stop).state == "done"
        dump = left(hook, "dump")
        assert hook.should_stop
        assert "capture has stopped" in answered(hook, dump).reason


def test_an_answer_warns_of_a_pause_where_others_wait(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run", Worker(0, "job", 2)) as hook:
        pause = left(hook, "pause")
        left(hook, "resume")
        step(hook)
        assert "timeout of its process group" in answered(hook, pause).reason


# -- dump ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"statistics_every": 0},
        {"include_collections": ["weights"], "save_config": {"save_interval": 1000}},
        {"include_collections": ["weights"], "reduction_config": {"reductions": ["mean"], "save_raw_tensor": False}},
    ],
)
def test_a_dump_has_every_watched_tensor_of_the_next_step(
    tmp_path: Path, array_hook: type, settings: dict[str, Any]
) -> None:
    with array_hook(tmp_path / "run", **settings) as hook:
        for _ in range(3):
            step(hook)
        asked = left(hook, "dump")
        step(hook)
        assert not hook.steps.idle
        hook.take(Net_weight=np.full(3, 5, np.float32), Net_bias=[1.5])
        step(hook)
        reply = answered(hook, asked)
        assert (reply.state, reply.step) == ("done", 4)
        assert Recorded(tmp_path / "run").tensors()[4, "Net_bias"].array == [1.5]
    saved = Recorded(tmp_path / "run").tensors()
    array = saved[4, "Net_weight"].array
    assert array is not None
    np.testing.assert_array_equal(array, np.full(3, 5))
    if "reduction_config" not in settings:
        assert {at for at, _ in saved} - {0} == {4}


def test_an_idle_hook_goes_back_to_sleep_after_a_dump(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run", statistics_every=100) as hook:
        step(hook)
        assert hook.steps.idle
        asked = left(hook, "dump")
        hook.steps.count()
        assert not hook.steps.idle
        hook.set_mode("EVAL")
        assert not hook.steps.idle
        step(hook)
        assert hook.steps.idle
        assert answered(hook, asked).step == 2
    assert Recorded(tmp_path / "run").saved_at("Net_weight") == [2]


def test_a_dump_that_does_not_fit_the_budget_is_refused(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run", disk_budget=1_000_000) as hook:
        asked = left(hook, "dump")
        step(hook)
        hook.take(Net_weight=np.zeros(10**6, np.float32))
        reply = answered(hook, asked)
        assert (reply.state, reply.step) == ("refused", 1)
        assert "disk budget" in reply.reason


def test_a_dump_that_was_asked_for_before_the_end_is_not_left_open(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        asked = left(hook, "dump")
        step(hook)
    reply = answer_to(hook.run.storage, asked)
    assert reply is not None
    assert (reply.state, reply.reason) == ("refused", "the training ended before its next step")


# -- set -----------------------------------------------------------------------------------------------------------


def test_a_hook_that_knows_no_optimizer_refuses_a_learning_rate(tmp_path: Path, array_hook: type) -> None:
    with array_hook(tmp_path / "run") as hook:
        asked = left(hook, "set", arguments={"lr": 0.1})
        step(hook)
        assert answered(hook, asked).state == "refused"


# -- cost ----------------------------------------------------------------------------------------------------------


def test_looking_for_requests_costs_one_listing_and_no_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, listed = Run.create(tmp_path / "run"), list[str]()

    class Listed:
        """A storage that can only be listed."""

        def list(self, folder: str) -> list[str]:
            listed.append(folder)
            return run.storage.list(folder)

    ask(run.storage, request("pause"))
    mail = Mailbox(run.storage, attempt=0)
    mail.look()
    assert len(mail.waiting) == 1
    monkeypatch.setattr(mail._inbox, "_storage", Listed())
    for _ in range(100):
        mail.look()
    assert (len(mail.waiting), listed) == (1, ["control"] * 100)


def test_nothing_is_logged_where_nothing_is_asked(
    tmp_path: Path, array_hook: type, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), array_hook(tmp_path / "run") as hook:
        for _ in range(20):
            step(hook)
            assert not hook.should_stop
    assert caplog.text == ""
    assert not (tmp_path / "run" / "control").exists()
