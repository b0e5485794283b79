"""`Notify`: a message to people about a finding. Leaves it in the run folder; `delivery` sends it."""

from __future__ import annotations

import json
import os
import shlex

from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.rules.actions.action import request_id
from cutaway.rules.actions.channel import Channel
from cutaway.rules.actions.command import Command
from cutaway.rules.actions.mail import Email
from cutaway.rules.actions.webhook import Webhook
from cutaway.run.control import Request, ask
from cutaway.run.findings import Finding
from cutaway.run.identity import Run

__all__ = ["Notify", "channel_from_text"]

_SCHEMES = ("http", "https", "mailto", "command", "env")


class Notify:
    """Tell people about a finding: at least once, with a key by which they know a message that came twice.

    `where` is a `Webhook`, `Email` or `Command`, or a text: `https://...`, `env:NAME` (the URL is in that variable),
    `mailto:ada@example.org`, `command:./page.sh --urgent`. `cutaway watch` sends what was asked for.

    >>> Notify("https://example.org/hooks/t0ken")
    Notify(https://example.org)
    """

    name = "notify"
    needs_training = False

    def __init__(self, where: str | Channel) -> None:
        self.channel: Channel = channel_from_text(where) if isinstance(where, str) else where

    def __repr__(self) -> str:
        return f"Notify({self.channel.label})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Notify) and other.channel == self.channel

    def __hash__(self) -> int:
        return hash(self.channel)

    def act(self, run: Run, finding: Finding) -> bool:
        """Leave the message in the run folder for a watcher to send."""
        channel = self.channel.to_dict()
        told = {
            "id": finding.id,
            "code": finding.code,
            "severity": finding.severity,
            "message": finding.message,
            # What JSON cannot hold goes as words, as in the table of findings.
            "where": json.loads(json.dumps(dict(finding.where), default=str)),
        }
        request = Request(
            "notify",
            "watch",
            who=f"rule {finding.code}",
            why=finding.message,
            arguments={"channel": channel, "finding": told},
            id=request_id(finding, "notify", channel),
        )
        return ask(run.storage, request)


def channel_from_text(text: str) -> Channel:
    """Return the channel that a text names. Raises `ConfigurationError` without showing what may be a token."""
    scheme, colon, rest = text.partition(":")
    kind = scheme.strip().lower()
    if not colon or kind not in _SCHEMES:
        hint = did_you_mean(kind, _SCHEMES) if colon else ""
        shown = f"{scheme[:20]!r}" if colon else "no such beginning"
        raise ConfigurationError(
            f"`notify=` takes https://..., mailto:ADDRESS, command:PROGRAM or env:VARIABLE, but got {shown}.", hint=hint
        )
    if kind == "mailto":
        return Email.from_environment(rest.strip())
    if kind == "command":
        return Command(tuple(_words(rest)))
    if kind == "env" and not os.environ.get(rest):
        raise ConfigurationError(
            f"`notify=env:{rest}` takes the URL from {rest}, which is not set.", hint=f"Run: export {rest}=..."
        )
    return Webhook(f"env:{rest}" if kind == "env" else text.strip())


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ConfigurationError(f"The command of `notify=command:` cannot be read: {error}.") from error
