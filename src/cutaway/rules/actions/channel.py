"""How a message reaches people: the protocol of channels, the message, and what became of a try to send it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

__all__ = ["SENT", "Channel", "DeliveryOutcome", "Message"]


@dataclass(frozen=True)
class DeliveryOutcome:
    """What became of a try: sent, failed (try again), or refused (it can never be sent so)."""

    state: Literal["sent", "failed", "refused"]
    reason: str = ""


SENT = DeliveryOutcome("sent")


@dataclass(frozen=True)
class Message:
    """A finding on its way to somebody. `key` stays the same however often it is sent."""

    key: str
    run: str
    path: str  # for commands on this machine; never sent elsewhere
    time: float
    finding: Mapping[str, Any]  # id, code, severity, message, where

    @property
    def title(self) -> str:
        """One line that says what it is about."""
        step = self.finding["where"].get("step")
        return f"{self.finding['code']} in run {self.run}" + ("" if step is None else f" at step {step}")

    @property
    def text(self) -> str:
        """The message in words."""
        return f"{self.title}: {self.finding['message']}"

    def to_json(self) -> bytes:
        """Return it as the body that is sent: the same bytes every time."""
        content = {
            "key": self.key,
            "run": self.run,
            "time": self.time,
            "text": self.text,
            "finding": dict(self.finding),
        }
        return json.dumps(content, sort_keys=True).encode()


class Channel(Protocol):
    """One way to reach somebody.

    A channel is a frozen value without secrets: where it needs one it knows the environment variable that has it.
    `send` is called on a thread of its own, may take as long as its time limit, and says what became of it rather than
    raise.
    """

    @property
    def label(self) -> str:
        """What may be shown of it in a log: no paths, queries or arguments, which may hold tokens."""

    @property
    def caution(self) -> str:
        """What the user should know before something is sent; empty where all is well."""

    def to_dict(self) -> dict[str, Any]:
        """Return how and where it sends, as JSON values."""

    def send(self, message: Message) -> DeliveryOutcome:
        """Try once."""
