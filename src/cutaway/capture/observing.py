"""Lets rules look on from inside a training: at the steps that were just written, without reading files.

Runs on the writer thread. Whatever an observer does, training and writing go on: one that raises is ended, one that is
slow is asked less often, and the run says so.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from cutaway import registry
from cutaway.capture.records import StepRecord
from cutaway.capture.statistics_batch import Part
from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation, place_of
from cutaway.run.findings import Finding, Severity, stamped
from cutaway.run.identity import Run
from cutaway.run.segments import WriterId
from cutaway.run.watches import Status, write_watch
from cutaway.tensors.collections import Collections
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.recent_steps import HeldStep, RecentSteps, TensorRows
from cutaway.tensors.statistic_names import STATISTIC_COLUMNS

__all__ = ["ActingObserver", "Logbook", "Observer", "Observing", "observers_of"]

log = logging.getLogger("cutaway.capture")

SOURCE = "hook"
# What observers can look back at: so many steps, fewer where these would take more memory than this.
MOST_STEPS = 500
FEWEST_STEPS = 50
MOST_BYTES = 64 << 20
# How long an observer is left alone, in seconds; one that takes more than half of it is left alone for longer.
PAUSE = 0.2
LONGEST_PAUSE = 5.0
# The loop may still add to the step that it has just ended: a loss, a metric.
SETTLES = 0.2
# How long one look may keep the writer from what waits for it; whoever was not asked is asked at the next.
SHARE = 0.02
# How often, in seconds, it is written down how the observers stand.
TOLD_EVERY = 5.0
# After so many steps a rule that lacks something is said to be skipped: what it needs may come with the first few.
GRACE_STEPS = 100
# Names of tensors as texts, for as many sets of them as a training has at a time.
MOST_NAMES = 64


@runtime_checkable
class Observer(Protocol):
    """Looks at the steps of a training and says what it concludes; it never acts.

    `observe` is called after the statistics of some steps have become readable, with the newest of them: what has come
    since the last call is new to the observer. Steps only ascend. It is called on the thread that writes, or on the
    one that flushes or closes the hook, never on two at once. It must not keep the reader, nor wait for later steps.
    What it raises ends its own observing and is recorded; it never reaches the training. Where it may find nothing
    to judge, it has an attribute `has_judged`: while that is False its silence is not taken for health.
    """

    def observe(self, reader: TensorReader, step: int) -> Iterable[Finding]:
        """Return the findings of the steps since the last call, up to and with `step`; none for healthy ones."""


@runtime_checkable
class ActingObserver(Observer, Protocol):
    """An observer whose findings ask for something: a stop, a checkpoint, a message to somebody."""

    def act(self, run: Run, finding: Finding) -> None:
        """Ask for what is to be done about one of its findings, once however often it is called."""


class Logbook(Protocol):
    """Where it is written what observers find, and what became of them."""

    def say(self, code: str, severity: Severity, message: str, *, once: bool = True, **where: Any) -> None:
        """Record a finding about the capture itself and log it."""

    def record(self, finding: Finding) -> None:
        """Record a finding about the training and log it."""


def observers_of(rules: Iterable[Observer | str]) -> tuple[Observer, ...]:
    """Return the observers that `Hook(rules=...)` names or holds. Raises `ConfigurationError` for anything else.

    >>> observers_of(["VanishingGradient"])
    (VanishingGradient(threshold=1e-07),)
    """
    if isinstance(rules, str):
        raise ConfigurationError(f"`rules` takes a list of rules: write [{rules!r}].")
    if not isinstance(rules, Iterable):
        raise ConfigurationError(f"`rules` takes a list of rules, but got {rules!r}.")
    return tuple(_observer(one) for one in rules)


def _observer(one: object) -> Observer:
    if isinstance(one, str):
        return _named(one)
    if isinstance(one, type):
        raise ConfigurationError(f"`rules` takes objects, but got the class {one.__name__}: write {one.__name__}().")
    if not isinstance(one, Observer):
        raise ConfigurationError(
            f"`rules` takes names of rules and objects with `observe(reader, step)`, but got {one!r}."
        )
    return one


def _named(name: str) -> Observer:
    kind = registry.load("rules", name)
    try:
        return _observer(kind())
    except TypeError as error:
        raise ConfigurationError(
            f"Rule {name!r} needs arguments: {error}.", hint=f"Give the rule itself: `rules=[{kind.__name__}(...)]`."
        ) from error


@dataclass
class _Watching:
    """An observer, and how it fares."""

    observer: Observer
    name: str
    acts: bool
    seen: int = -1  # the newest step that it was shown
    judged: int = -1  # the newest step that it had all for that it needs
    findings: int = 0
    message: str = ""  # what it lacks, or why it has ended
    shown: int = 0  # how many steps there had been by then
    began: float = -math.inf  # when it was last asked
    ended: float = -math.inf  # and when it had answered
    pause: float = PAUSE
    slow: int = 0  # how often in a row it has taken too long
    is_slow: bool = False
    is_lacking: bool = False
    has_ended: bool = False

    @property
    def status(self) -> Status:
        if self.has_ended:
            return Status.BROKEN
        if self.findings:
            return Status.FIRED
        if self.judged >= 0:
            return Status.SILENT
        return Status.WAITING if self.seen < 0 else Status.SKIPPED

    def to_dict(self, newest: int) -> dict[str, Any]:
        """Return how it stands as watchers beside the training say it."""
        return {
            "rule": self.name,
            "parameters": {},
            "status": str(self.status),
            "step": self.judged,
            "behind": newest - self.seen,
            "findings": self.findings,
            "message": self.message,
        }


class Observing:
    """Holds the last steps, lets each observer look at what is new to it, and records what it finds.

    The writer thread takes and looks; whoever flushes or closes looks at what is left. Scalars come from any thread.
    """

    def __init__(
        self,
        observers: Sequence[Observer],
        collections: Collections,
        run: Run,
        who: WriterId,
        logbook: Logbook,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._watching = [
            _Watching(one, str(getattr(one, "rule_name", type(one).__name__)), isinstance(one, ActingObserver))
            for one in observers
        ]
        self._collections = collections
        self._run = run
        self._who = who
        self._logbook = logbook
        self._clock = clock
        self._looking = threading.Lock()
        self._reader: RecentSteps | None = None
        self._most = MOST_STEPS
        self._shown = 0
        self._told = -math.inf
        self._coming: list[HeldStep] = []
        self._came = 0.0
        self._scalars: deque[tuple[int, ModeKeys, str, float]] = deque()
        self._names: dict[int, tuple[pa.Array, tuple[str, ...]]] = {}

    def take(self, record: StepRecord, parts: Sequence[Part]) -> None:
        """Take in a step that was written, or more of the last one."""
        rows = [TensorRows(self._texts(part.names), part.columns, part.active) for part in parts]
        held = HeldStep(
            record.step,
            record.mode,
            record.mode_step,
            record.epoch,
            record.time,
            record.seconds,
            record.samples,
            rows,
            record.scalars,
        )
        with self._looking:
            self._came = self._clock()
            if self._coming and self._coming[-1].step == held.step:
                self._coming[-1] = self._coming[-1].joined(held)
            else:
                self._coming.append(held)

    def take_scalar(self, name: str, value: float, step: int, mode: str) -> None:
        """Take in a number that the loop saved itself."""
        self._scalars.append((step, ModeKeys[mode], name, value))

    def look(self, *, settled: bool) -> None:
        """Let observers look at what is new to them, each at most once in its pause.

        `settled` says that nothing more comes for now: then everything is looked at by all, at once.
        """
        # An observer that never returns keeps the writer, not the thread that closes the run.
        if self._looking.acquire(timeout=LONGEST_PAUSE if settled else 0.0):
            try:
                self._look(settled=settled)
            finally:
                self._looking.release()

    def _look(self, *, settled: bool) -> None:
        reader = self._show(everything=settled)
        if reader is None:
            return
        newest, began = reader.newest_step(), self._clock()
        waiting = [one for one in self._watching if one.seen < newest and not one.has_ended]
        for one in sorted(waiting, key=lambda one: one.began):
            now = self._clock()
            if not settled and now - began > SHARE:
                break
            if settled or self._is_due(one, now):
                self._ask(one, reader, newest, settled=settled)
        if waiting and (settled or self._clock() - self._told >= TOLD_EVERY):
            self._tell(newest)

    def _tell(self, newest: int) -> None:
        """Write how each observer stands, for whoever asks about the run's health: silence alone is not health."""
        self._told = self._clock()
        rules = [one.to_dict(newest) for one in self._watching]
        content = {"watcher": self._who.stem, "ended": False, "step": newest, "time": time.time(), "rules": rules}
        try:
            write_watch(self._run.storage, self._who.stem, content)
        except OSError as error:
            # The next time says it again; what they find is recorded all the same.
            log.debug("Could not write how the rules stand: %s", error)

    def _is_due(self, one: _Watching, now: float) -> bool:
        # Steps that come so fast that some would be gone by then are not waited for, unless the observer is slow.
        crowded = one.pause <= PAUSE and self._shown - one.shown >= self._most // 2
        return crowded or now - one.ended >= one.pause

    def _show(self, *, everything: bool) -> RecentSteps | None:
        """Let the reader have what has come; the newest step only when the loop is done with it."""
        if self._coming:
            reader = self._reader = self._reader or self._new_reader(self._coming[0])
            settled = everything or self._clock() - self._came >= SETTLES
            cut = len(self._coming) if settled else len(self._coming) - 1
            for held in self._coming[:cut]:
                reader.add(held)
            del self._coming[:cut]
            self._shown += cut
        if self._reader is not None:
            self._show_scalars(self._reader, everything=everything)
        return self._reader

    def _show_scalars(self, reader: RecentSteps, *, everything: bool) -> None:
        # They come in the order of steps; those of the step that runs now wait with it.
        newest = reader.newest_step()
        while self._scalars and (everything or self._scalars[0][0] <= newest):
            step, mode, name, value = self._scalars.popleft()
            reader.add_scalars(step, mode, [(name, value)])

    def _new_reader(self, first: HeldStep) -> RecentSteps:
        size = 8 * len(STATISTIC_COLUMNS) * sum(len(rows.names) for rows in first.statistics)
        self._most = max(FEWEST_STEPS, min(MOST_STEPS, MOST_BYTES // max(size, 1)))
        return RecentSteps(self._most, self._collections)

    def _ask(self, one: _Watching, reader: RecentSteps, newest: int, *, settled: bool) -> None:
        began, found = self._clock(), list[Finding]()
        try:
            found.extend(_checked(one.observer.observe(reader, newest)))
            if getattr(one.observer, "has_judged", True):
                one.judged = newest
        except InsufficientInformationForRuleInvocation as error:
            self._say_lacking(one, newest, str(error), settled=settled)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - somebody else's code, and the training must go on
            self._end(one, newest, error)
        for finding in found:
            self._record(one, finding)
        one.ended = self._clock()
        if not settled:
            self._pace(one, newest, one.ended - began, began - one.began)
        one.seen, one.shown, one.began = newest, self._shown, began

    def _record(self, one: _Watching, bare: Finding) -> None:
        one.findings, one.message = one.findings + 1, bare.message
        finding = stamped(bare, self._run.id, self._who.attempt, SOURCE)
        self._logbook.record(finding)
        if one.acts and isinstance(one.observer, ActingObserver):
            try:
                one.observer.act(self._run, finding)
            except (Exception, SystemExit) as error:
                # Somebody else's code again.
                log.warning("What %s asks for failed: %s: %s", one.name, type(error).__name__, error)
                log.debug("Acting failed", exc_info=error)

    def _say_lacking(self, one: _Watching, newest: int, needs: str, *, settled: bool) -> None:
        one.message = needs
        if one.is_lacking or not (settled or self._shown >= GRACE_STEPS):
            return
        one.is_lacking = True
        self._logbook.say(
            "rule-skipped",
            "info",
            f"Rule {one.name} is skipped: it {needs} Rules in the hook see statistics and scalars; those that need "
            f"full tensors run beside the training: `cutaway watch {self._run.name}`.",
            once=False,
            step=newest,
            rule=one.name,
        )

    def _end(self, one: _Watching, newest: int, error: BaseException) -> None:
        one.has_ended = True
        place, kind = place_of(error), type(error).__name__
        one.message = f"{kind}: {error} ({place})"
        log.debug("Rule %s failed", one.name, exc_info=error)
        self._logbook.record(
            Finding(
                "rule-broken",
                "warning",
                f"Rule {one.name} is broken and looks no further: {kind}: {error} ({place}).",
                where={"step": newest, "rule": one.name, "attempt": self._who.attempt},
                evidence={"error": kind, "place": place},
                source=SOURCE,
            )
        )

    def _pace(self, one: _Watching, newest: int, took: float, since: float) -> None:
        """Ask an observer less often that takes more than half of the time there is, until it no longer does.

        Once may be chance: on a busy machine a moment becomes a second.
        """
        one.slow = one.slow + 1 if took > since / 2 else 0
        if one.slow > 1:
            one.pause = min(2 * one.pause, LONGEST_PAUSE)
        elif took < since / 8:
            one.pause = max(one.pause / 2, PAUSE)
        if one.slow > 1 and not one.is_slow:
            one.is_slow = True
            self._logbook.say(
                "rule-slow",
                "info",
                f"Rule {one.name} took {took:.2g} s for {self._shown - one.shown} steps, more than half of the time "
                f"since it was last asked. It is asked less often from step {newest} on, and sees at most the last "
                f"{self._most} steps each time. `cutaway watch {self._run.name}` runs it beside the training.",
                once=False,
                step=newest,
                rule=one.name,
            )

    def _texts(self, names: pa.Array) -> tuple[str, ...]:
        """Return names as texts; those of parameters come as the same array at every step."""
        known = self._names.get(id(names))
        if known is None:
            if len(self._names) >= MOST_NAMES:
                self._names.clear()
            # Held with its array: the id of one that is gone would be given to another.
            known = self._names[id(names)] = (names, tuple(names.to_pylist()))
        return known[1]


def _checked(found: Iterable[Finding]) -> Iterable[Finding]:
    for one in found:
        if not isinstance(one, Finding):
            raise TypeError(f"`observe` must return findings, but got {one!r}")
        yield one
