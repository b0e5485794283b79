"""Messages are sent at least once with one key, by one of all who could, and hold nobody up."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from cutaway.errors import StorageError
from cutaway.rules import Command, Email, Notify, Webhook
from cutaway.rules.actions import delivery
from cutaway.rules.actions.channel import SENT, DeliveryOutcome, Message
from cutaway.rules.actions.delivery import Deliveries
from cutaway.run import Finding, Run
from cutaway.run.claims import Claim, Claims
from cutaway.run.control import Inbox, Reply, Request, answer, answer_to, ask, history
from tests.rules.actions.conftest import PASSWORD, SECRET
from tests.rules.actions.servers import Endpoint, MailServer, unused_port


def _until(condition: Callable[[], object], deliveries: Deliveries | None = None, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        if deliveries is not None:
            deliveries.pump()
        time.sleep(0.005)


def _states(run: Run) -> list[str]:
    return [reply.state if reply else "pending" for _, reply in history(run.storage)]


def _claims(run: Run) -> list[str]:
    return [name for name in run.storage.list("control") if ".claim-" in name]


def _idle(deliveries: Deliveries) -> bool:
    return not any(one.is_on_its_way for one in deliveries._mine.values())


def test_a_message_is_sent_and_answered(run: Run, finding: Finding, endpoint: Endpoint) -> None:
    notify = Notify(endpoint.url)
    deliveries = Deliveries(run, [notify])
    assert notify.act(run, finding)
    assert not notify.act(run, finding)
    assert not notify.needs_training
    _until(lambda: _states(run) == ["done"], deliveries)
    assert len(endpoint.posts) == 1
    [(request, reply)] = history(run.storage)
    assert endpoint.posts[0].headers["Idempotency-Key"] == request.id
    assert reply
    assert reply.step == 41
    assert deliveries.findings == []
    assert deliveries.close(1) == 0
    assert _claims(run) == []


def test_failures_are_tried_again_with_the_same_key_and_ever_longer_pauses(
    run: Run, finding: Finding, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.statuses = [500] * 9
    notify, at = Notify(endpoint.url), [100.0]
    deliveries = Deliveries(run, [notify], clock=lambda: at[0])
    notify.act(run, finding)
    for pause in (0.5, 1, 2, 4, 8, 16, 32, 60, 60):
        sent = len(endpoint.posts)
        _until(lambda sent=sent: len(endpoint.posts) == sent + 1 and _idle(deliveries), deliveries)
        at[0] += pause * 0.98
        deliveries.pump()
        assert _idle(deliveries)
        at[0] += pause * 0.03
    _until(lambda: _states(run) == ["done"], deliveries)
    assert len({(post.headers["Idempotency-Key"], post.body) for post in endpoint.posts}) == 1
    assert len(endpoint.posts) == 10
    assert "was not sent: http://127.0.0.1 answered 500. Tried again in 0.5 s" in caplog.text


def test_nobody_there_is_tried_again_until_somebody_is(
    run: Run, finding: Finding, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "FIRST_PAUSE", 0.01)
    monkeypatch.setenv("MY_WEBHOOK", f"http://127.0.0.1:{unused_port()}/")
    notify = Notify("env:MY_WEBHOOK")
    deliveries = Deliveries(run, [notify])
    notify.act(run, finding)
    _until(lambda: any(one.tries > 1 for one in deliveries._mine.values()), deliveries)
    assert _states(run) == ["pending"]
    monkeypatch.setenv("MY_WEBHOOK", endpoint.url)
    _until(lambda: _states(run) == ["done"], deliveries)


def test_what_can_never_be_sent_is_refused_with_the_reason(
    run: Run, finding: Finding, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.statuses = [404]
    actions = [Notify(endpoint.url), Notify(Command(["no-such-program-anywhere"]))]
    deliveries = Deliveries(run, actions)
    for action in actions:
        action.act(run, finding)
    _until(lambda: _states(run) == ["refused", "refused"], deliveries)
    reasons = sorted(reply.reason for _, reply in history(run.storage) if reply)
    assert reasons == [
        "http://127.0.0.1 answered 404",
        "there is no program 'no-such-program-anywhere' that can be run",
    ]
    assert "cannot be sent: http://127.0.0.1 answered 404" in caplog.text


def test_a_slow_endpoint_holds_up_neither_the_watcher_nor_other_messages(
    run: Run, finding: Finding, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.open.clear()
    slow, quick = Notify(endpoint.url), Notify(Command(["touch", str(tmp_path / "paged")]))
    deliveries = Deliveries(run, [slow, quick])
    slow.act(run, finding)
    deliveries.pump()
    assert _states(run) == ["pending"]
    assert endpoint.arrived.wait(60)
    quick.act(run, finding)
    _until((tmp_path / "paged").exists, deliveries)
    assert "pending" in _states(run)
    assert deliveries.close(0.05) == 1
    endpoint.open.set()
    _until(lambda: _states(run) == ["done", "done"])


def test_no_more_than_a_few_are_sent_at_once(run: Run, finding: Finding, endpoint: Endpoint) -> None:
    endpoint.open.clear()
    notify = Notify(endpoint.url)
    deliveries = Deliveries(run, [notify])
    for number in range(7):
        notify.act(run, replace(finding, id=str(number)))
    for _ in range(5):
        deliveries.pump()
        assert sum(thread.name == "cutaway-notify" for thread in threading.enumerate()) <= 4
    endpoint.open.set()
    _until(lambda: _states(run) == ["done"] * 7, deliveries)
    assert len(endpoint.posts) == 7


def _send_until_killed(path: Path, url: str) -> None:
    signal.alarm(60)
    deliveries = Deliveries(Run.open(path), [Notify(url)])
    while True:
        deliveries.pump()
        time.sleep(0.005)


def test_a_kill_between_sending_and_answering_sends_again_and_says_so(
    run: Run, finding: Finding, endpoint: Endpoint
) -> None:
    endpoint.open.clear()
    notify = Notify(endpoint.url)
    notify.act(run, finding)
    watcher = multiprocessing.get_context("spawn").Process(target=_send_until_killed, args=(run.path, endpoint.url))
    watcher.start()
    assert endpoint.arrived.wait(60)
    # Another watcher leaves to the first what that is sending, as long as it lives.
    second = Deliveries(run, [notify])
    second.pump()
    assert second.close(0.1) == 0
    assert second.findings == []
    watcher.kill()
    watcher.join()
    endpoint.open.set()
    third = Deliveries(run, [notify])
    _until(lambda: _states(run) == ["done"], third)
    assert len(endpoint.posts) == 2
    assert len({(post.headers["Idempotency-Key"], post.body) for post in endpoint.posts}) == 1
    [found] = third.findings
    assert (found.code, found.severity, found.where) == ("notify-maybe-twice", "info", {"step": 41, "attempt": 0})
    assert found.message == (
        "The message about VanishingGradient at step 41 may have been sent twice: "
        "the watcher before this one ended in between."
    )
    assert Deliveries(run, [notify]).findings == []


def test_the_finding_of_an_interruption_has_one_id(run: Run, finding: Finding) -> None:
    notify = Notify(Command(["true"]))
    notify.act(run, finding)
    ids = set()
    for _ in range(2):
        for name in _claims(run):
            run.storage.remove(f"control/{name}")
        _claim_of_the_dead(run, Inbox(run.storage, "watch").new()[0].id, busy=True)
        ids |= {found.id for found in Deliveries(run, [notify]).findings}
    assert len(ids) == 1


def test_a_message_that_was_only_waiting_is_sent_without_a_word(run: Run, finding: Finding, endpoint: Endpoint) -> None:
    notify = Notify(endpoint.url)
    notify.act(run, finding)
    _claim_of_the_dead(run, Inbox(run.storage, "watch").new()[0].id, busy=False)
    deliveries = Deliveries(run, [notify])
    _until(lambda: _states(run) == ["done"], deliveries)
    assert deliveries.findings == []


def _claim_of_the_dead(run: Run, request: str, *, busy: bool) -> None:
    dead = multiprocessing.get_context("fork").Process(target=_claim_and_die, args=(run.path, request, busy))
    dead.start()
    dead.join()


def _claim_and_die(path: Path, request: str, busy: bool) -> None:
    run = Run.open(path)
    [asked] = [one for one in Inbox(run.storage, "watch").new() if one.id == request]
    claim = Claims(run.storage, "watch").claim(asked)
    assert claim
    if busy:
        claim.begin()
    os._exit(0)


def _send_and_record(path: Path, url: str, said: Path) -> None:
    """What a watcher does, as long as it lives; each line is a finding that it recorded."""
    signal.alarm(60)
    deliveries = Deliveries(Run.open(path), [Notify(url)])
    while True:
        deliveries.pump()
        with said.open("a") as file:
            file.writelines(f"{one.evidence['request']}\n" for one in deliveries.findings)
        deliveries.findings.clear()
        time.sleep(0.002)


def test_whatever_is_killed_every_message_comes_and_the_run_says_which_may_have_come_twice(
    run: Run, finding: Finding, endpoint: Endpoint, tmp_path: Path
) -> None:
    chance, notify, said = random.Random(11), Notify(endpoint.url), tmp_path / "said.txt"
    said.touch()
    for number in range(60):
        notify.act(run, replace(finding, id=str(number)))
    for _ in range(12):
        known = len(endpoint.posts)
        watcher = multiprocessing.get_context("fork").Process(
            target=_send_and_record, args=(run.path, endpoint.url, said)
        )
        watcher.start()
        _until(lambda known=known: len(endpoint.posts) > known or "pending" not in _states(run))
        time.sleep(chance.uniform(0, 0.02))
        watcher.kill()
        watcher.join()
    last = Deliveries(run, [notify])
    _until(lambda: _states(run) == ["done"] * 60, last)
    twice = set(said.read_text().split()) | {one.evidence["request"] for one in last.findings}
    came = Counter(post.headers["Idempotency-Key"] for post in endpoint.posts)
    assert set(came) == {request.id for request, _ in history(run.storage)}
    assert {key for key, count in came.items() if count > 1} <= twice
    assert len(twice) < 50, "most were sent once, and nothing else is said of them"


def test_two_watchers_send_a_message_once(run: Run, finding: Finding, endpoint: Endpoint) -> None:
    notify = Notify(endpoint.url)
    watchers = [Deliveries(Run.open(run.path), [notify]) for _ in range(2)]
    for number in range(20):
        notify.act(run, replace(finding, id=str(number)))

    def pump() -> bool:
        for watcher in watchers:
            watcher.pump()
        return _states(run) == ["done"] * 20

    _until(pump)
    assert len(endpoint.posts) == 20
    for watcher in watchers:
        assert watcher.close(1) == 0
    assert _claims(run) == []


def test_closing_sends_what_came_last_and_counts_what_waits(
    run: Run, finding: Finding, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    notify = Notify(endpoint.url)
    deliveries = Deliveries(run, [notify])
    notify.act(run, finding)
    assert deliveries.close(10) == 0
    assert _states(run) == ["done"]
    endpoint.statuses = [500]
    again = Deliveries(run, [notify])
    notify.act(run, replace(finding, id="second"))
    # It would wait for longer than a test may take if it waited until the next try.
    assert again.close(3600) == 1
    assert _claims(run) == []
    last = Deliveries(run, [notify])
    assert last.close(10) == 0
    assert last.findings == []


def test_what_the_folder_alone_asks_for_is_left(
    run: Run, finding: Finding, tmp_path: Path, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    """A run may come from somebody else: it must not make a watcher run programs, or send passwords away."""
    planted = [
        Notify(Command(["touch", str(tmp_path / "owned")])),
        Notify(Webhook(endpoint.url, secret_env="PATH")),
        Notify(Email("a@b", "a@b", "127.0.0.1", starttls=False, user="x", password_env="HOME")),
    ]
    for action in planted:
        action.act(run, finding)
    mine = Notify(Webhook(endpoint.url))
    deliveries = Deliveries(run, [mine])
    mine.act(run, finding)
    _until(lambda: "done" in _states(run), deliveries)
    assert deliveries.close(1) == 0
    assert not (tmp_path / "owned").exists()
    assert len(endpoint.posts) == 1
    assert sorted(_states(run)) == ["done", "pending", "pending", "pending"]
    assert "A message by command that waits in run 'mnist-7' is left there" in caplog.text


@pytest.mark.parametrize(
    "arguments",
    [{}, {"channel": 3}, {"channel": {"by": "x"}}, {"channel": {}, "finding": {"where": 3}}, {"finding": "x"}],
)
def test_requests_that_cannot_be_read_are_left(run: Run, arguments: dict[str, object]) -> None:
    ask(run.storage, Request("notify", "watch", "x", "y", arguments))
    ask(run.storage, Request("dance", "watch", "x", "y"))
    deliveries = Deliveries(run, [Notify(Command(["true"]))])
    deliveries.pump()
    assert deliveries.close(1) == 0
    assert _states(run) == ["pending", "pending"]


@dataclass(frozen=True)
class Strange:
    """A channel of somebody else."""

    outcomes: tuple[object, ...]
    seen: list[Message]

    label, caution = "strange", "Beware of strangers"

    def __hash__(self) -> int:
        return 1

    def to_dict(self) -> dict[str, object]:
        return {"by": "strange"}

    def send(self, message: Message) -> DeliveryOutcome:
        outcome = self.outcomes[min(len(self.seen), len(self.outcomes) - 1)]
        self.seen.append(message)
        if isinstance(outcome, Exception):
            raise outcome
        assert isinstance(outcome, DeliveryOutcome)
        return outcome


def test_a_channel_that_raises_is_tried_again_and_its_words_are_kept(
    run: Run, finding: Finding, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "FIRST_PAUSE", 0.01)
    strange = Strange((RuntimeError(SECRET), OSError("no network"), SENT), [])
    notify = Notify(strange)
    deliveries = Deliveries(run, [notify])
    notify.act(run, finding)
    _until(lambda: _states(run) == ["done"], deliveries)
    assert len(strange.seen) == 3
    assert "strange raised RuntimeError" in caplog.text
    assert SECRET not in caplog.text
    assert caplog.text.count("Beware of strangers") == 1


def test_a_sent_message_whose_answer_cannot_be_written_is_not_sent_again(
    run: Run, finding: Finding, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    strange = Strange((SENT,), [])
    notify = Notify(strange)
    deliveries = Deliveries(run, [notify])
    notify.act(run, finding)
    with monkeypatch.context() as patch:

        def full(*_: object) -> None:
            raise StorageError("the disk is full")

        patch.setattr(delivery, "answer", full)
        _until(lambda: strange.seen and _idle(deliveries), deliveries)
        for _ in range(3):
            deliveries.pump()
        assert caplog.text.count("the disk is full") == 1
    assert _states(run) == ["pending"]
    deliveries.pump()
    assert _states(run) == ["done"]
    assert len(strange.seen) == 1


def test_a_sent_message_that_was_never_answered_is_said_to_be_sent_twice(
    run: Run, finding: Finding, monkeypatch: pytest.MonkeyPatch
) -> None:
    notify = Notify(Strange((SENT,), []))
    notify.act(run, finding)

    def full(*_: object) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr(delivery, "answer", full)
    assert Deliveries(run, [notify]).close(5) == 1
    monkeypatch.undo()
    # As the next process sees it, in which this one no longer lives.
    monkeypatch.setattr("cutaway.run.claims.is_alive", lambda _: False)
    assert [one.code for one in Deliveries(run, [notify]).findings] == ["notify-maybe-twice"]


def test_a_folder_that_is_gone_is_said_once_and_never_raises(
    run: Run, finding: Finding, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def gone(_: str) -> list[str]:
        raise OSError("stale file handle")

    monkeypatch.setattr(run.storage, "list", gone)
    deliveries = Deliveries(run, [Notify(Command(["true"]))])
    for _ in range(3):
        deliveries.pump()
    assert deliveries.close(0.1) == 0
    assert caplog.text.count("stale file handle") == 1


def test_an_answer_by_somebody_else_ends_it(run: Run, finding: Finding, endpoint: Endpoint) -> None:
    notify = Notify(endpoint.url)
    notify.act(run, finding)
    [request] = Inbox(run.storage, "watch").new()
    run.storage.replace(f"control/{request.id}.done", b"damaged")
    deliveries = Deliveries(run, [notify])
    deliveries.pump()
    assert deliveries.close(1) == 0
    assert endpoint.posts == []


@pytest.mark.parametrize("damaged", [True, False])
def test_what_was_sent_between_two_looks_is_not_sent_again(
    run: Run, finding: Finding, endpoint: Endpoint, damaged: bool
) -> None:
    notify = Notify(endpoint.url)
    deliveries = Deliveries(run, [notify])
    claim = deliveries._claims.claim

    def late(request: Request) -> Claim | None:
        answer(run.storage, request, Reply("done", "", 1))
        if damaged:
            run.storage.replace(f"control/{request.id}.done", b"{}")
        return claim(request)

    deliveries._claims.claim = late  # type: ignore[method-assign]
    notify.act(run, finding)
    deliveries.pump()
    assert deliveries.close(1) == 0
    assert endpoint.posts == []
    assert _claims(run) == []


def test_no_secret_is_on_disk_or_in_a_log(
    run: Run,
    finding: Finding,
    endpoint: Endpoint,
    mail: MailServer,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delivery, "FIRST_PAUSE", 0.01)
    monkeypatch.setenv("MY_WEBHOOK", endpoint.url)
    endpoint.statuses = [500, 401]
    mail.answers["AUTH"] = f"535 {PASSWORD}"
    mailed = Email("a@b.c", "d@e.f", "127.0.0.1", mail.port, starttls=False, user="me")
    actions = [Notify("env:MY_WEBHOOK"), Notify(mailed)]
    with caplog.at_level("DEBUG"):
        deliveries = Deliveries(run, actions)
        for action in actions:
            action.act(run, finding)
        _until(lambda: any(one.tries > 1 for one in deliveries._mine.values()), deliveries)
        del mail.answers["AUTH"]
        _until(lambda: sorted(_states(run)) == ["done", "refused"], deliveries)
    written = b"".join(path.read_bytes() for path in run.path.rglob("*") if path.is_file()).decode()
    for secret in (SECRET, PASSWORD, "t0ken-in-the-path"):
        assert secret not in written
        assert secret not in caplog.text
    assert "CUTAWAY_WEBHOOK_SECRET" in written
    assert "CUTAWAY_SMTP_PASSWORD" in written


def test_a_finding_may_hold_what_json_cannot(run: Run, finding: Finding, endpoint: Endpoint) -> None:
    notify = Notify(endpoint.url)
    notify.act(run, replace(finding, where={"path": Path("a"), "step": None}))
    deliveries = Deliveries(run, [notify])
    assert deliveries.close(10) == 0
    [(request, _)] = history(run.storage)
    reply = answer_to(run.storage, request)
    assert reply
    assert (reply.state, reply.step) == ("done", -1)
