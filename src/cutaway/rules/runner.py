"""Several rules over one run while it grows: each looks at what is new to it, and none can stop the others.

Decides neither when to look again nor what to do about what was found.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cutaway.errors import InsufficientInformationForRuleInvocation, place_of
from cutaway.rules.documentation import sections
from cutaway.rules.rule import Rule
from cutaway.run.findings import Finding
from cutaway.run.watches import Status
from cutaway.trial import Trial, no_refresh

__all__ = ["RuleRunner", "Watched"]

log = logging.getLogger("cutaway.rules")

# A rule is given so many steps at once, fewer where that takes longer than its share of a look.
MOST_STEPS = 2_000
FIRST_STEPS = 256
SHARE_SECONDS = 0.2
# A rule that lacks something is asked again after so many times as long as it took to say so, for in a long run that
# takes long; but at least every few seconds, for it may have what it needs by then.
REFUSAL_REST = 200
MOST_REST_SECONDS = 5.0


@dataclass
class Watched:
    """A rule and how it stands: the last step that it looked at, and in words what it found or lacks."""

    rule: Rule
    status: Status = Status.WAITING
    step: int = -1
    behind: int = 0
    findings: int = 0
    message: str = ""
    span: int = FIRST_STEPS
    asked_from: float = 0.0  # by the clock: not before then, where it lacked something

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The rule's parameters as JSON values; they do not change, and are asked for every second."""
        return {name: _as_list_if_collection(value) for name, value in self.rule.parameters.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "rule": self.rule.rule_name,
            "parameters": self.parameters,
            "status": str(self.status),
            "step": self.step,
            "behind": self.behind,
            "findings": self.findings,
            "message": self.message,
        }


class RuleRunner:
    """Runs rules over a trial, look after look."""

    def __init__(self, trial: Trial, rules: Sequence[Rule], clock: Callable[[], float] = time.perf_counter) -> None:
        self.trial = trial
        self.watched = [Watched(rule, span=1 if rule.is_stepwise else FIRST_STEPS) for rule in rules]
        self._clock = clock
        self._attempts = list(trial.run.attempts())
        self.newest = -1

    @property
    def is_behind(self) -> bool:
        """Whether a rule has steps left to look at."""
        return any(one.behind for one in self.watched)

    def look(self, *, over: bool = False) -> list[tuple[Watched, Finding]]:
        """Let every rule look at what is new, as much of it as fits its share of a look; return what they found.

        `over` says that nothing more will come: also those that lacked something are asked.
        """
        newest = self.trial.newest_step()
        attempts = list(self.trial.run.attempts())
        if attempts != self._attempts:
            # Steps were replaced: what rules have kept of them is no longer true.
            self._attempts = attempts
            for one in self.watched:
                one.rule.start_over()
        self.newest = newest
        found = []
        others = {other for one in self.watched for other in one.rule.other_trials}
        with no_refresh([self.trial, *others]):
            for one in self.watched:
                resting = one.status is Status.SKIPPED and not over and self._clock() < one.asked_from
                if one.status is not Status.BROKEN and not resting:
                    found += [(one, finding) for finding in self._advance(one, newest + 1)]
        return found

    def _advance(self, one: Watched, stop: int) -> list[Finding]:
        found: list[Finding] = []
        began = self._clock()
        while one.rule.next_step < stop or one.rule.watches_clock:
            first = one.rule.next_step
            before = self._clock()
            try:
                fresh = one.rule.look(self.trial, min(stop, first + one.span))
            except InsufficientInformationForRuleInvocation as error:
                if first + one.span < stop:
                    # What it needs may begin later than in the steps that it was given.
                    one.span *= 2
                    continue
                if not one.findings:
                    one.status, one.message = Status.SKIPPED, str(error)
                now = self._clock()
                one.asked_from = now + min(REFUSAL_REST * (now - before), MOST_REST_SECONDS)
                break
            except Exception as error:  # noqa: BLE001  # a rule of somebody else may raise anything; the others go on
                found.append(self._broken(one, error))
                break
            self._note_status(one, fresh)
            found += fresh
            now = self._clock()
            one.span = _next_span(one.span, now - before)
            if one.rule.next_step == first or now - began > SHARE_SECONDS:
                break
        one.behind = 0 if one.status in (Status.BROKEN, Status.SKIPPED) else max(stop - one.rule.next_step, 0)
        return found

    def _note_status(self, one: Watched, fresh: Sequence[Finding]) -> None:
        one.step = one.rule.next_step - 1
        one.findings += len(fresh)
        if fresh:
            one.status, one.message = Status.FIRED, fresh[-1].message
        elif not one.findings and one.step >= 0:
            one.status = Status.SILENT if one.rule.has_judged else Status.SKIPPED
            one.message = "" if one.rule.has_judged else one.rule.unavailable or _nothing_judged(one)

    def _broken(self, one: Watched, error: Exception) -> Finding:
        where = place_of(error)
        one.status = Status.BROKEN
        one.message = f"{type(error).__name__}: {error} ({where})"
        log.warning("Rule %s is broken: %s", one.rule.rule_name, one.message)
        log.debug("Rule %s", one.rule.rule_name, exc_info=error)
        step = one.rule.next_step
        name = f"rule-broken {one.rule!r} {type(error).__name__} {where} {step}"
        return Finding(
            "rule-broken",
            "warning",
            f"Rule {one.rule.rule_name} is broken and looks no further: {one.message}.",
            where={"step": step, "rule": one.rule.rule_name},
            evidence={"error": type(error).__name__, "place": where},
            id=hashlib.sha256(name.encode()).hexdigest()[:32],
        )


def _nothing_judged(one: Watched) -> str:
    """Say that a rule had nothing to judge, and what it needs."""
    needs = " ".join(sections(type(one.rule))["Needs"])
    return f"could judge none of the steps up to {one.step}.{' Needs: ' if needs else ''}{needs}"


def _next_span(span: int, seconds: float) -> int:
    """Return how many steps to give a rule next: as many as take its share of a look."""
    if seconds <= 0:
        return MOST_STEPS
    return max(1, min(MOST_STEPS, int(span * min(SHARE_SECONDS / seconds, 4.0))))


def _as_list_if_collection(value: Any) -> Any:
    return list(value) if isinstance(value, (tuple, set, frozenset)) else value
