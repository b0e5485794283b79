"""What is done about a finding: the protocol of actions, and the ids that let each happen once.

An action only asks, through the run folder; whoever is asked carries it out.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from cutaway.run.findings import Finding
from cutaway.run.identity import Run

__all__ = ["Action", "ask_for", "request_id"]

log = logging.getLogger("cutaway.rules")


@runtime_checkable
class Action(Protocol):
    """Something to do about a finding.

    `act` leaves a request in the run folder and returns; it waits for nobody. Its id follows from the finding and from
    what is asked, so asking again, by this process or another, does nothing. `OSError` says that the folder cannot be
    written; the caller asks again later.
    """

    @property
    def name(self) -> str:
        """What it is called on the command line and in logs."""

    @property
    def needs_training(self) -> bool:
        """Whether only a training that runs can carry it out."""

    def act(self, run: Run, finding: Finding) -> bool:
        """Ask for it; return whether that was new."""


def request_id(finding: Finding, action: str, arguments: Mapping[str, Any]) -> str:
    """Return the id of what one action asks for about one finding, the same whoever asks.

    >>> finding = Finding("NaN", "error", "The loss is NaN.", id="f1")
    >>> request_id(finding, "stop", {}) == request_id(finding, "stop", {})
    True
    """
    text = json.dumps([finding.id, action, dict(arguments)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def ask_for(wanted: Iterable[tuple[Action, Run, Finding]]) -> list[tuple[Action, Run, Finding]]:
    """Let actions ask; return those that could not, to be tried again. What failed is logged and never raised."""
    left = []
    for action, run, finding in wanted:
        try:
            action.act(run, finding)
        except OSError as error:
            log.warning("%s about %s could not be asked for, and is tried again: %s", action.name, finding.code, error)
            left.append((action, run, finding))
        except Exception as error:  # noqa: BLE001  # an action of somebody else must not end a watch or a training
            log.warning("%s about %s failed: %s: %s", action.name, finding.code, type(error).__name__, error)
    return left
