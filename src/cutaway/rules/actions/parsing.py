"""Actions from what a person writes: words, which must be right, and upstream's JSON, which need not be."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.rules.actions.action import Action
from cutaway.rules.actions.mail import Email
from cutaway.rules.actions.notify import Notify
from cutaway.rules.actions.training import Checkpoint, Dump, ReduceLearningRate, StopTraining

__all__ = ["parse_action_str", "parse_action_words", "parse_actions"]

log = logging.getLogger("cutaway.rules")

_PLAIN: dict[str, Callable[[], Action]] = {
    "stop": StopTraining,
    "checkpoint": Checkpoint,
    "reduce-lr": ReduceLearningRate,
    "dump": Dump,
}
_WORDS = (*_PLAIN, "notify")
# What upstream wants of each of its actions.
_KEYS = {"stoptraining": "training_job_prefix", "email": "endpoint", "sms": "endpoint"}


def parse_actions(value: str | Mapping[str, Any] | Sequence[object] | None) -> list[Action]:
    """Return the actions that a rule's `action_str` stands for: words, upstream's JSON, or actions in a list.

    >>> parse_actions(["stop", ReduceLearningRate(0.5)])
    [StopTraining(training_job_prefix=None), ReduceLearningRate(factor=0.5)]
    """
    if value is None:
        return []
    if isinstance(value, str):
        return parse_action_str(value) if value.lstrip().startswith(("{", "[")) else parse_action_words(value)
    found: list[Action] = []
    for one in [value] if isinstance(value, Mapping) else value:
        if isinstance(one, str):
            found.append(_word(one.strip()))
        elif isinstance(one, Mapping):
            found += _of_upstream(one)
        elif isinstance(one, Action) and not isinstance(one, type):
            found.append(one)
        else:
            raise ConfigurationError(
                f"An action is a word such as 'stop' or an object such as StopTraining(), not {one!r}."
            )
    return found


def parse_action_words(text: str) -> list[Action]:
    """Read actions with commas between them. Raises `ConfigurationError` with the nearest names for a wrong one.

    >>> parse_action_words("checkpoint,stop")
    [Checkpoint(), StopTraining(training_job_prefix=None)]
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise ConfigurationError("An action is missing.", hint=f"There are {', '.join(_WORDS)}.")
    return [_word(word) for word in words]


def parse_action_str(text: str) -> list[Action]:
    """Read upstream's JSON. What is wrong in it is logged and passed over, as upstream does; nothing is raised.

    >>> parse_action_str('{"name": "StopTraining", "training_job_prefix": "mnist"}')
    [StopTraining(training_job_prefix='mnist')]
    """
    try:
        value = json.loads(text)
    except ValueError as error:
        log.warning("`action_str` is passed over: it is no JSON (%s)", error)
        return []
    return [action for one in (value if isinstance(value, list) else [value]) for action in _of_upstream(one)]


def _word(word: str) -> Action:
    head, equals, rest = word.partition("=")
    name = head.strip().lower()
    if name == "notify" and rest.strip():
        return Notify(rest.strip())
    if name == "reduce-lr" and equals:
        return ReduceLearningRate(_factor(rest))
    if name in _PLAIN and not equals:
        return _PLAIN[name]()
    if name == "notify":
        raise ConfigurationError(
            "`notify` needs to know where: notify=https://..., notify=mailto:ADDRESS or notify=command:PROGRAM."
        )
    if name in _PLAIN:
        raise ConfigurationError(f"Action {name!r} takes no value: write {name!r} alone.")
    # The head only: after it may come a token.
    hint = did_you_mean(name, _WORDS) or f" There are {', '.join(_WORDS)}."
    raise ConfigurationError(f"No action {head.strip()[:40]!r}.", hint=f"{hint} (A comma inside a URL is written %2C.)")


def _factor(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigurationError(f"`reduce-lr` takes a factor such as reduce-lr=0.5, but got {text!r}.") from None


def _of_upstream(one: object) -> list[Action]:
    """Return the action of a dictionary as upstream writes it; where it is wrong, log that and return nothing."""
    try:
        return [_upstream_action(one)]
    except ConfigurationError as error:
        log.warning("An action is passed over: %s", error)
        return []


def _upstream_action(one: object) -> Action:
    if not isinstance(one, Mapping) or not isinstance(one.get("name"), str):
        raise ConfigurationError('it is no dictionary with a name, as {"name": "stoptraining", ...} is.')
    name = one["name"].strip().lower()
    if name not in _KEYS:
        hint = did_you_mean(name, _KEYS) or f" There are {', '.join(_KEYS)}."
        raise ConfigurationError(f"there is no action {name!r}.", hint=hint)
    value = one.get(_KEYS[name])
    if not isinstance(value, str) or not value:
        raise ConfigurationError(f"{name!r} lacks {_KEYS[name]!r}.")
    if name == "sms":
        raise ConfigurationError("no text messages are sent from here; use notify=https://... of a service that does.")
    return StopTraining(value) if name == "stoptraining" else Notify(Email.from_environment(value))
