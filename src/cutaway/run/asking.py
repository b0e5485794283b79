"""Asking a running training for something, for people: checks what is wanted, and says at once why it cannot be.

`control` carries the words; who asks on a person's behalf does it through here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.run.control import ACTIONS, SETTINGS, Request, ask
from cutaway.run.identity import Run
from cutaway.run.leases import RunState, read_leases

__all__ = ["TrainingHolder", "ask_training", "checked_arguments", "look_at_training"]


class TrainingHolder(NamedTuple):
    """Who trains a run now: its state, and the lease of its chief, empty where there is none."""

    state: RunState
    chief: Mapping[str, Any]

    @property
    def runs(self) -> bool:
        """Whether somebody is there who could carry a request out."""
        return not self.state.has_ended and "attempt" in self.chief

    @property
    def paused(self) -> bool:
        """Whether it waits to be let go on."""
        return self.state is RunState.RUNNING and bool(self.chief.get("paused"))


def look_at_training(run: Run) -> TrainingHolder:
    """Return who trains a run now; where that is another machine, this waits for a sign of life from it."""
    return TrainingHolder(run.state(), next(iter(read_leases(run.storage, "train")), {}))


def checked_arguments(action: str, arguments: Mapping[str, float | str]) -> dict[str, float]:
    """Return the arguments of an action, which may be as a person wrote them.

    Raises `ConfigurationError` where they or the action make no sense.
    """
    if action not in ACTIONS:
        hint = did_you_mean(action, ACTIONS) or f" There are {', '.join(ACTIONS)}."
        raise ConfigurationError(f"No action {action!r}.", hint=f"{hint} `cutaway control --help` says what each does.")
    given = " ".join(f"{name}={value}" if value != "" else name for name, value in arguments.items())
    if action != "set":
        if arguments:
            raise ConfigurationError(f"`{action}` takes nothing else, but got {given!r}.")
        return {}
    if len(arguments) != 1:
        raise ConfigurationError(f"`set` takes one of lr=VALUE and lr_factor=VALUE, but got {given or 'nothing'}.")
    name, text = next(iter(arguments.items()))
    if name not in SETTINGS:
        hint = did_you_mean(name, SETTINGS) or f" There are {' and '.join(SETTINGS)}."
        raise ConfigurationError(f"Nothing called {name!r} can be set.", hint=hint)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ConfigurationError(f"`{name}` must be a number that is not negative, but got {given!r}.")
    return {name: value}


def ask_training(run: Run, training: TrainingHolder, wanted: Request) -> tuple[Request, bool]:
    """Leave a request for the attempt that runs now; return it, and whether one of that id was not there before."""
    request = replace(wanted, attempt=int(training.chief["attempt"]))
    return request, ask(run.storage, request)
