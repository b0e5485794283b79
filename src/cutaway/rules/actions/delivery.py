"""Sends the messages that wait in a run folder: each at least once, with the same key however often.

Works on threads of its own, so that whoever calls `pump` never waits for an endpoint. Sends only where this process was
told to: a run folder may come from somebody else, and must not make a watcher run a program or spell out a password.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from cutaway.errors import RunDamaged
from cutaway.rules.actions.action import Action
from cutaway.rules.actions.channel import Channel, DeliveryOutcome, Message
from cutaway.rules.actions.notify import Notify
from cutaway.run.claims import Claim, Claims
from cutaway.run.control import Inbox, Reply, Request, answer, answer_to
from cutaway.run.findings import Finding
from cutaway.run.identity import Run

__all__ = ["Deliveries"]

log = logging.getLogger("cutaway.rules")

ROLE = "watch"
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
# Some slow endpoints must not hold up the messages to others.
MOST_AT_ONCE = 4


@dataclass
class _Delivery:
    """One message that this process has taken on. While its thread runs, only that thread changes it."""

    request: Request
    channel: Channel
    message: Message
    claim: Claim
    tries: int = 0
    due: float = 0.0
    is_held: bool = False  # until the caller has had a chance to record that it may be sent twice
    reply: Reply | None = None  # what became of it, from when that is known
    is_over: bool = False  # the reply is in the run folder
    thread: threading.Thread | None = field(default=None, repr=False)

    @property
    def is_on_its_way(self) -> bool:
        return self.thread is not None and self.thread.is_alive()

    @property
    def step(self) -> int:
        step = self.message.finding["where"].get("step")
        return step if isinstance(step, int) else -1


class Deliveries:
    """The messages of one run, sent by one process. Never raises; what fails is logged and tried again.

    `findings` collects what is to be recorded; the caller takes it from there after each `pump`. A message that a
    process was sending when it was killed is sent again by the next, which finds `notify-maybe-twice` and sends it one
    `pump` later, so that a second kill cannot hide that. Several may work on one run: each message is claimed by one.
    """

    def __init__(self, run: Run, actions: Iterable[Action], clock: Callable[[], float] = time.monotonic) -> None:
        self.findings: list[Finding] = []
        self._run = run
        self._clock = clock
        # By what stands in a request, which is so never taken for more than a name.
        self._channels = {_channel_key(a.channel.to_dict()): a.channel for a in actions if isinstance(a, Notify)}
        self._inbox = Inbox(run.storage, ROLE)
        self._claims = Claims(run.storage, ROLE, clock)
        self._unclaimed: dict[str, Request] = {}
        self._mine: dict[str, _Delivery] = {}
        self._said: set[str] = set()
        self._take_on()

    def pump(self) -> None:
        """Take on what has come, send what is due, and return at once."""
        self._take_on()
        for key, delivery in list(self._mine.items()):
            if delivery.is_on_its_way:
                continue
            if delivery.reply is not None and not delivery.is_over:
                self._answer(delivery, delivery.reply)
            if delivery.is_over:
                del self._mine[key]
        free = MOST_AT_ONCE - sum(one.is_on_its_way for one in self._mine.values())
        for delivery in [one for one in self._mine.values() if self._is_due(one)][: max(free, 0)]:
            self._say_once(delivery.channel.caution)
            # A daemon: a watcher that ends does not wait for an endpoint, and the next one sends again.
            delivery.thread = threading.Thread(target=self._send, args=(delivery,), name="cutaway-notify", daemon=True)
            delivery.thread.start()
        for delivery in self._mine.values():
            delivery.is_held = False

    def close(self, timeout: float = 10.0) -> int:
        """Give what is on its way, or due, a moment; return how many messages are left for the next watcher."""
        deadline = time.monotonic() + timeout
        self.pump()
        while True:
            self.pump()
            busy = [one.thread for one in self._mine.values() if one.thread is not None and one.is_on_its_way]
            seconds = deadline - time.monotonic()
            if not busy or seconds <= 0:
                break
            busy[0].join(min(seconds, 0.1))
        for delivery in self._mine.values():
            # What was sent but could not be answered stays claimed: the next watcher then says that it sends again.
            if not delivery.is_on_its_way and delivery.reply is None:
                delivery.claim.release()
        left, self._mine = len(self._mine), {}
        return left

    # -- inside ------------------------------------------------------------------------------------------------------

    def _is_due(self, delivery: _Delivery) -> bool:
        waits = delivery.reply is None and not delivery.is_held and not delivery.is_on_its_way
        return waits and self._clock() >= delivery.due

    def _take_on(self) -> None:
        try:
            for request in self._inbox.new():
                if request.action == "notify" and self._is_for_us(request):
                    self._unclaimed[request.id] = request
            for key, request in list(self._unclaimed.items()):
                if self._claim(request):
                    del self._unclaimed[key]
        except OSError as error:
            self._say_once(f"Messages of run {self._run.name!r} cannot be looked for, which is tried again: {error}")

    def _is_for_us(self, request: Request) -> bool:
        """Whether this process was told to send there; what is in the folder alone moves nobody."""
        try:
            known = _channel_key(request.arguments["channel"]) in self._channels
            _message(self._run, request).to_json()
        except (KeyError, TypeError, AttributeError):
            self._say_once(f"Message {request.id} of run {self._run.name!r} cannot be read, and is left")
            return False
        if not known:
            kind = request.arguments["channel"].get("by", "?")
            self._say_once(
                f"A message by {kind} that waits in run {self._run.name!r} is left there: no rule of this watcher "
                "has that action. Watch with the same `--action notify=...` to send it"
            )
        return known

    def _claim(self, request: Request) -> bool:
        """Take a message on; return whether it need not be looked at again, also since somebody else sent it."""
        if _is_answered(self._run, request):
            return True
        claim = self._claims.claim(request)
        if claim is None:
            return False
        if _is_answered(self._run, request):
            # It was sent, and given back, between our two looks.
            claim.release()
            return True
        channel = self._channels[_channel_key(request.arguments["channel"])]
        delivery = _Delivery(request, channel, _message(self._run, request), claim, is_held=claim.interrupted)
        self._mine[request.id] = delivery
        if claim.interrupted:
            self.findings.append(_maybe_twice(delivery))
        return True

    def _send(self, delivery: _Delivery) -> None:
        """Try once, on a thread of its own."""
        outcome = self._tried(delivery)
        if outcome.state == "failed":
            delivery.tries += 1
            pause = min(FIRST_PAUSE * 2 ** (delivery.tries - 1), LONGEST_PAUSE)
            delivery.due = self._clock() + pause
            level = logging.WARNING if delivery.tries == 1 else logging.INFO
            code, reason = delivery.message.finding["code"], outcome.reason
            log.log(level, "The message about %s was not sent: %s. Tried again in %g s", code, reason, pause)
            return
        if outcome.state == "refused":
            log.warning("The message about %s cannot be sent: %s", delivery.message.finding["code"], outcome.reason)
        delivery.reply = Reply("done" if outcome.state == "sent" else "refused", outcome.reason, delivery.step)
        self._answer(delivery, delivery.reply)

    def _tried(self, delivery: _Delivery) -> DeliveryOutcome:
        try:
            delivery.claim.begin()
            outcome = delivery.channel.send(delivery.message)
            if outcome.state == "failed":
                delivery.claim.pause()
        except OSError as error:
            return DeliveryOutcome("failed", str(error))
        except Exception as error:  # noqa: BLE001  # a thread that dies would look like one that waits
            # Its words may hold what the channel keeps to itself.
            return DeliveryOutcome("failed", f"{delivery.channel.label} raised {type(error).__name__}")
        return outcome

    def _answer(self, delivery: _Delivery, reply: Reply) -> None:
        """Write what became of a message; where that fails, the next `pump` writes it and nothing is sent again."""
        try:
            answer(self._run.storage, delivery.request, reply)
        except OSError as error:
            self._say_once(f"That messages of run {self._run.name!r} were sent cannot be written down: {error}")
            return
        delivery.claim.release()
        delivery.is_over = True

    def _say_once(self, text: str) -> None:
        if text and text not in self._said:
            self._said.add(text)
            log.warning("%s", text)


def _channel_key(channel: dict[str, Any]) -> str:
    return json.dumps(channel, sort_keys=True)


def _message(run: Run, request: Request) -> Message:
    finding = request.arguments["finding"]
    told = {name: finding[name] for name in ("id", "code", "severity", "message")}
    where = dict(finding["where"].items())
    return Message(request.id, run.name, str(run.path.absolute()), request.time, {**told, "where": where})


def _is_answered(run: Run, request: Request) -> bool:
    try:
        return answer_to(run.storage, request) is not None
    except (RunDamaged, TypeError):
        return True  # somebody answered; what they said does not matter here


def _maybe_twice(delivery: _Delivery) -> Finding:
    finding = delivery.message.finding
    where = {name: finding["where"][name] for name in ("step", "attempt") if name in finding["where"]}
    at = f" at step {where['step']}" if "step" in where else ""
    return Finding(
        "notify-maybe-twice",
        "info",
        f"The message about {finding['code']}{at} may have been sent twice: "
        "the watcher before this one ended in between.",
        where=where,
        evidence={"request": delivery.request.id, "finding": finding["id"]},
        source=ROLE,
        id=hashlib.sha256(f"notify-maybe-twice {delivery.request.id}".encode()).hexdigest()[:32],
    )
