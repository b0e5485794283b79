"""The runs as they are known by now: which there are, what was read of each, and which are to be read again.

`look` is called again and again by one thread; everything else by anybody, at any time, without waiting for a read.
What has changed is kept for those who ask again and again. It is bounded: who asks too late is told so.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from cutaway.studio.index.facts import IndexedRun, Memory, read_facts
from cutaway.studio.index.looking import Mark, is_settled, mark_of, quick_mark
from cutaway.studio.index.places import Place, Places
from cutaway.studio.index.states import LIVE, States

__all__ = ["Change", "Changes", "Gathering"]

MOST_KEPT = 4096
What = Literal["listed", "state", "indexing"]


class Change(NamedTuple):
    """One change: runs appeared, vanished or have other values (`listed`), or a run has another state."""

    number: int
    what: What
    run: str | None
    state: str | None


class Changes:
    """The newest changes, numbered from 1; `last` is the number of the newest, 0 while there is none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: deque[Change] = deque(maxlen=MOST_KEPT)
        self.last = 0

    def note(self, what: What, run: str | None = None, state: str | None = None) -> None:
        """Note a change."""
        with self._lock:
            self.last += 1
            self._kept.append(Change(self.last, what, run, state))

    def since(self, number: int) -> list[Change]:
        """Return the changes after a number; where some of them are no longer kept, one that says to list again."""
        with self._lock:
            if number >= self.last:
                return []
            if not self._kept or self._kept[0].number > number + 1:
                return [Change(self.last, "listed", None, None)]
            return [change for change in self._kept if change.number > number]


# A live run is read again when this has passed, or this many times what reading it took.
LIVE_SECONDS, LIVE_SHARE = 1.5, 30
# Settings edited in place, and rows of those who hold no lease, are looked for this seldom.
SELDOM_SECONDS = 15.0
# What became of the others only their processes know: they may be gone, or back, the next time.
KEPT_STATES = frozenset(("finished", "failed", "ended"))
# While many runs are read for the first time, whoever watches hears of it this often.
PROGRESS_SECONDS = 0.5


@dataclass(slots=True)
class _Entry:
    """One place and what is known of it; `row` is None until it has been read."""

    place: Place
    row: IndexedRun | None = None
    mark: Mark = ()
    read_after: float = 0.0
    memory: Memory | None = None

    @property
    def is_live(self) -> bool:
        return self.row is not None and self.row.state in LIVE


class Gathering:
    """Every run under a root, by its id. `version` changes with every row, `settled_version` with those to keep."""

    def __init__(self, root: Path, changes: Changes) -> None:
        self._places = Places(root)
        self._changes = changes
        self._states = States()
        self._entries: dict[str, _Entry] = {}
        self._kept: dict[str, tuple[Mark, IndexedRun]] = {}
        self._shapes: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._lock = threading.Lock()
        self._next_seldom = 0.0
        self._told, self._untold = 0.0, 0
        self.version = 0
        self.settled_version = 0
        self.look_seconds = 0.0

    def begin(self, kept: Mapping[str, tuple[Mark, IndexedRun]]) -> None:
        """Take what an earlier process kept; each row counts as long as nothing of its run has changed."""
        self._kept = dict(kept)

    def counts(self) -> tuple[int, int]:
        """Return how many runs have been read, and how many there are."""
        with self._lock:
            return sum(entry.row is not None for entry in self._entries.values()), len(self._entries)

    def rows(self) -> list[IndexedRun]:
        """Return every run that has been read."""
        with self._lock:
            return [entry.row for entry in self._entries.values() if entry.row is not None]

    def settled(self) -> list[tuple[Mark, IndexedRun]]:
        """Return the rows that will be the same the next time, where nothing of their runs changes."""
        with self._lock:
            entries = [entry for entry in self._entries.values() if entry.mark and not entry.place.reason]
        return [(entry.mark, entry.row) for entry in entries if entry.row and entry.row.state in KEPT_STATES]

    def place(self, run: str) -> Place | None:
        """Return where the run of an id lies, also where it has not been read yet."""
        with self._lock:
            entry = self._entries.get(run)
        return entry.place if entry is not None else None

    def places(self) -> list[Place]:
        """Return where every run lies, also those that have not been read yet."""
        with self._lock:
            return [entry.place for entry in self._entries.values()]

    def is_inside(self, place: Place) -> bool:
        """Whether a place still leads to a folder of the root: it, or a folder above it, may be a link by now."""
        return self._places.is_inside(place.path)

    def row(self, run: str) -> IndexedRun | None:
        """Return the row of an id; reads it now where that has not happened yet."""
        with self._lock:
            entry = self._entries.get(run)
        if entry is None:
            return None
        return entry.row if entry.row is not None else self.read(run)

    def read(self, run: str) -> IndexedRun | None:
        """Read a run now, whoever asks; a state that takes looking twice is unknown until the background knows."""
        with self._lock:
            entry = self._entries.get(run)
        if entry is None or not (entry.place.reason or self.is_inside(entry.place)):
            return None
        known = entry.row
        facts = read_facts(
            entry.place,
            decide=lambda said: States().look(run, entry.place.path, said) if known is None else known.state,
        )
        # Without a mark: the background reads it once more, and decides.
        self._install(entry, facts, ())
        return entry.row

    def look(self, closed: threading.Event) -> None:
        """Look at the folder once: what is there, what has changed, what became of it."""
        began = time.thread_time()
        found = self._places.look()
        self._compare(found)
        now = time.monotonic()
        seldom = now >= self._next_seldom
        if seldom:
            self._next_seldom = now + SELDOM_SECONDS
        self._take_kept()
        due = [entry for entry in self._entries.values() if self._is_due(entry, now, seldom=seldom)]
        # Reading what has changed is not looking: it does not happen again.
        self.look_seconds = time.thread_time() - began
        # The newest are looked at first, by whoever asks, too.
        due.sort(key=lambda entry: quick_mark(entry.place.path)[0], reverse=True)
        for entry in due:
            if closed.is_set():
                return
            self._read_in_background(entry)
        self._tell_new(after=0)
        for run, state in self._states.look_again().items():
            self._decide(run, state)

    def _take_kept(self) -> None:
        """Take what was kept of those runs of which nothing has changed since."""
        kept, self._kept = self._kept, {}
        for run, (mark, row) in kept.items():
            entry = self._entries.get(run)
            # A copy may have the times of what it is a copy of.
            if entry is None or entry.row is not None or entry.place.folder != row.folder:
                continue
            if mark_of(entry.place.path) == mark:
                self._shapes.setdefault(row.keys, row.keys)
                entry.row, entry.mark = row, mark
        if kept:
            self.version += 1
            self._changes.note("listed")

    def _compare(self, found: dict[str, Place]) -> None:
        """Take in what appeared, and let go of what vanished."""
        gone = [run for run in self._entries if run not in found]
        new = [place for run, place in found.items() if self._entries.get(run, _NOWHERE).place != place]
        with self._lock:
            for run in gone:
                del self._entries[run]
            for place in new:
                self._entries[place.id] = _Entry(place)
        for run in [*gone, *(place.id for place in new)]:
            self._states.forget(run)
        for run in gone:
            self._changes.note("listed", run)
        if gone:
            self.version += 1
            self.settled_version += 1

    def _is_due(self, entry: _Entry, now: float, *, seldom: bool) -> bool:
        if entry.row is None or not entry.mark:
            return True
        if entry.is_live:
            return now >= entry.read_after
        if seldom:
            return mark_of(entry.place.path) != entry.mark
        return quick_mark(entry.place.path) != entry.mark[:2]

    def _read_in_background(self, entry: _Entry) -> None:
        if not entry.place.reason and not self.is_inside(entry.place):
            # The next look finds it gone, or names it a link.
            return
        mark = mark_of(entry.place.path)
        began = time.monotonic()
        memory = entry.memory or Memory()
        facts = read_facts(entry.place, memory, lambda said: self._state_of(entry, said))
        # A run that goes on is read again soon, and only what is new of it.
        entry.memory = memory if facts.state in LIVE else None
        took = time.monotonic() - began
        entry.read_after = time.monotonic() + max(LIVE_SECONDS, LIVE_SHARE * took)
        self._install(entry, facts, mark if is_settled(mark) else ())
        self._tell_new(after=PROGRESS_SECONDS)

    def _state_of(self, entry: _Entry, said: str) -> str:
        state = self._states.look(entry.place.id, entry.place.path, said)
        # Until it is decided the last word stands.
        return entry.row.state if state == "unknown" and entry.row is not None else state

    def _install(self, entry: _Entry, facts: IndexedRun, mark: Mark) -> None:
        # Runs of one kind share their keys: that is most of what a row would take.
        facts = replace(facts, keys=self._shapes.setdefault(facts.keys, facts.keys))
        old = entry.row
        if facts.state in KEPT_STATES and (old, entry.mark) != (facts, mark):
            self.settled_version += 1
        with self._lock:
            entry.row, entry.mark = facts, mark
        if old == facts:
            return
        self.version += 1
        if old is None:
            self._untold += 1
            return
        if old.state != facts.state:
            self._changes.note("state", facts.id, facts.state)
        self._changes.note("listed", facts.id)

    def _decide(self, run: str, state: str) -> None:
        entry = self._entries.get(run)
        if entry is not None and entry.row is not None:
            # Without a mark: it is read once more, for a bad end is part of how the run is.
            self._install(entry, replace(entry.row, state=state), ())

    def _tell_new(self, *, after: float) -> None:
        """Tell of runs that were read for the first time: of many at once, not of each."""
        now = time.monotonic()
        if self._untold and now - self._told >= after:
            self._told, self._untold = now, 0
            self._changes.note("indexing")
            self._changes.note("listed")


_NOWHERE = _Entry(Place("", "", ""))
