"""Looks at a run with many rules until its training ends: records what they find, and asks for what is to be done.

May be killed at any moment and started again: every finding has an id that follows from the run alone, so nothing is
told twice, and what was found but not yet acted on is acted on then. Several may watch one run.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cutaway.errors import RunLocked
from cutaway.rules.actions.action import Action, ask_for
from cutaway.rules.actions.delivery import Deliveries
from cutaway.rules.rule import Rule
from cutaway.rules.runner import RuleRunner, Watched
from cutaway.run.findings import SEVERITIES, Finding, Severity, append_findings, stamped
from cutaway.run.identity import Run
from cutaway.run.leases import BEAT_SECONDS, Lease, RunState, next_lease
from cutaway.run.schemas import FINDINGS
from cutaway.run.segments import TableWriter
from cutaway.run.watches import write_watch
from cutaway.trial import Trial

__all__ = ["POLL_SECONDS", "WatchStatus", "Watcher"]

log = logging.getLogger("cutaway.rules")

# Almost all of what a look costs is the look, not the steps that it finds: half as many take half as much of a core.
POLL_SECONDS = 1.0
ROLE = "watch"
SOURCE = "watch"
# How long messages that are on their way are waited for at the end.
DELIVERY_SECONDS = 10.0
# How far a rule may be behind before it is said.
FAR_BEHIND = 500

_BAD_ENDS = {
    RunState.CRASHED: "is gone without a word: killed, or out of memory",
    RunState.LOST: "gives no sign of life, and cannot be seen from here",
    RunState.FAILED: "ended with an exception",
}


@dataclass(frozen=True)
class WatchStatus:
    """How everything stands after one look: the training's state, its newest step, the rules, and what is new."""

    state: RunState
    newest: int
    watched: Sequence[Watched]
    findings: Sequence[Finding]
    unrecorded: str = ""  # why findings cannot be written to the run


class Watcher:
    """One process's watch over a run."""

    def __init__(
        self,
        trial: Trial,
        rules: Sequence[Rule],
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.run: Run = trial.run
        self._trial = trial
        self._runner = RuleRunner(trial, rules)
        self._sleep, self._clock = sleep, clock
        self._known = {finding.id for finding in self.run.findings()}
        self._told_behind: set[str] = set()
        self._unasked: list[tuple[Action, Run, Finding]] = []
        self.worst: Severity | None = None  # of all that was found, also of what was recorded before
        self._lease: Lease | None = None
        self._writer: TableWriter | None = None
        self._worker = ""
        self._unrecorded = ""
        self._next_beat = 0.0
        self._deliveries: Deliveries | None = None
        self._claim()

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def looks(self, *, follow: bool) -> Iterator[WatchStatus]:
        """Yield how things stand after every look: until all that is there was looked at, or with `follow` until the
        training has ended.
        """
        while True:
            # The state first: where it says that the training had ended, the look that follows sees all of it.
            state = self._trial.state()
            over = state.has_ended
            yield self.look(state)
            if not self._runner.is_behind:
                if over or not follow:
                    return
                self._sleep(POLL_SECONDS)

    def look(self, state: RunState) -> WatchStatus:
        """Let every rule look once, record what is new, and ask for what is to be done about it."""
        fresh: list[Finding] = []
        for one, bare in self._runner.look(over=state.has_ended):
            finding = self._stamped(bare)
            self.worst = _worse(self.worst, finding.severity)
            if finding.id not in self._known:
                fresh.append(finding)
                self._known.add(finding.id)
                self._record([finding])
            # Also what was known: the watcher before this one may have been killed before it could act.
            self._act(one.rule, finding, state)
        # What cannot be asked for now is asked for again after the next look.
        self._unasked = ask_for(self._unasked)
        fresh += self._say_end(state)
        self._say_behind()
        self._deliver(fresh)
        self._beat(state)
        newest = self._runner.newest
        return WatchStatus(state, newest, self._runner.watched, fresh, self._unrecorded)

    def close(self) -> None:
        """Wait a moment for messages on their way, and give the run back."""
        if self._deliveries is not None:
            pending = self._deliveries.close(DELIVERY_SECONDS)
            if pending:
                name = self.run.name
                log.warning("%d messages about %r wait to be sent: `cutaway watch %s` sends them", pending, name, name)
            self._deliveries = None
        if self._lease is not None:
            lease, self._lease = self._lease, None
            try:
                self._write_status(ended=True)
                if self._writer is not None:
                    self._writer.close()
                lease.release(RunState.FINISHED)
            except OSError as error:
                log.warning("Could not close the watch over %r: %s", self.run.name, error)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _claim(self) -> None:
        """Become one of the run's watchers; on a folder that cannot be written, watch without recording."""
        number = 0
        try:
            while self._lease is None:
                self._worker = f"watcher_{number}"
                try:
                    self._lease = next_lease(self.run.storage, str(self.run.path), ROLE, self._worker)
                except RunLocked:
                    number += 1
            self._writer = self.run.writer(FINDINGS, self._lease.writer)
            actions = [action for one in self._runner.watched for action in one.rule.actions]
            self._deliveries = Deliveries(self.run, actions)
        except OSError as error:
            self._unrecorded = str(error)
            log.warning("What is found in %r cannot be recorded there: %s", self.run.name, error)

    def _stamped(self, finding: Finding) -> Finding:
        step = finding.where.get("step", 0)
        return stamped(finding, self.run.id, self.run.attempt_of(step if isinstance(step, int) else 0), SOURCE)

    def _record(self, findings: Sequence[Finding]) -> None:
        if self._writer is None:
            return
        try:
            append_findings(self._writer, findings)
        except OSError as error:
            self._unrecorded = str(error)
            log.warning("What is found in %r cannot be recorded there: %s", self.run.name, error)

    def _act(self, rule: Rule, finding: Finding, state: RunState) -> None:
        if self._unrecorded or finding.code == "rule-broken":
            return
        newest = max((attempt.number for attempt in self.run.attempts()), default=0)
        trains = not state.has_ended and finding.where.get("attempt") == newest
        self._unasked += [(action, self.run, finding) for action in rule.actions if trains or not action.needs_training]

    def _say_end(self, state: RunState) -> list[Finding]:
        """Say once that the training came to a bad end."""
        words = _BAD_ENDS.get(state)
        if words is None:
            return []
        newest = max((attempt.number for attempt in self.run.attempts()), default=0)
        last = self._runner.newest
        key = hashlib.sha256(f"{self.run.id} {newest} training-{state}".encode()).hexdigest()[:32]
        self.worst = "error"
        if key in self._known:
            return []
        self._known.add(key)
        finding = Finding(
            f"training-{state}",
            "error",
            f"The training of {self.run.name!r} {words}. Everything up to step {last} is here.",
            where={"step": last, "attempt": newest},
            source=SOURCE,
            id=key,
        )
        self._record([finding])
        return [finding]

    def _say_behind(self) -> None:
        for one in self._runner.watched:
            name = one.rule.rule_name
            if one.behind > FAR_BEHIND and name not in self._told_behind:
                self._told_behind.add(name)
                log.warning("Rule %s is %d steps behind the training; it catches up when it can", name, one.behind)
            elif not one.behind:
                self._told_behind.discard(name)

    def _deliver(self, fresh: list[Finding]) -> None:
        if self._deliveries is None:
            return
        self._deliveries.pump()
        said = [one for one in self._deliveries.findings if one.id not in self._known]
        self._deliveries.findings.clear()
        self._known.update(one.id for one in said)
        self._record(said)
        fresh += said

    def _beat(self, state: RunState) -> None:
        if self._lease is None or self._clock() < self._next_beat:
            return
        self._next_beat = self._clock() + BEAT_SECONDS
        try:
            self._lease.beat()
            self._write_status(ended=state.has_ended)
        except OSError as error:
            self._unrecorded = str(error)

    def _write_status(self, *, ended: bool) -> None:
        """Write how each rule stands, for whoever asks about the run's health: silence alone is not health."""
        content: dict[str, Any] = {
            "watcher": self._worker,
            "ended": ended,
            "step": self._runner.newest,
            "time": time.time(),
            "rules": [one.to_dict() for one in self._runner.watched],
        }
        write_watch(self.run.storage, self._worker, content)


def _worse(one: Severity | None, other: Severity) -> Severity:
    return other if one is None else max(one, other, key=SEVERITIES.index)
