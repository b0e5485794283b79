"""`RunIndex`: every run under a folder, looked up by id, listed at once, and looked at again in the background.

One thread reads runs; whoever asks gets what is known by now. Nothing is opened by a path that somebody sent: an id is
looked up among the places that were found.
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from cutaway.errors import CutawayError, RunFormatError, RunNotFound, StorageError
from cutaway.run.annotations import Annotations, annotate, read_annotations
from cutaway.run.identity import Run
from cutaway.studio.index.cache import cache_file, read_cache, write_cache
from cutaway.studio.index.facts import IndexedRun, annotated
from cutaway.studio.index.gathering import Change, Changes, Gathering
from cutaway.studio.index.run_table import RunTable
from cutaway.studio.wire.live import Indexing
from cutaway.studio.wire.runs import AnnotationsChange

__all__ = ["RunIndex"]

log = logging.getLogger("cutaway.studio")

# How often the folder is looked at while somebody asks.
LOOK_SECONDS = 1.0
# A look may take this share of a core, as long as something new is still seen soon.
LOOK_SHARE, MOST_LOOK_SECONDS = 25, 10.0
# Nobody has asked for this long: nothing is looked at until somebody does.
IDLE_SECONDS = 30.0
# How long the very first who asks may wait for a small folder to be read whole.
PATIENCE_SECONDS = 1.0
# How often what changed is kept for the next start.
KEEP_SECONDS = 30.0
# Fewer runs are read again as quickly as a file of them.
WORTH_KEEPING = 50


class RunIndex:
    """The runs under a folder, or the one run that it is.

    `cache` is the file to keep what was read in, by default one in the user's cache folder; False keeps nothing.
    """

    def __init__(self, root: Path | str, *, cache: Path | bool = True) -> None:
        self.root = Path(root).expanduser().absolute()
        self._cache = cache_file(self.root) if cache is True else cache or None
        self._changes = Changes()
        self._runs = Gathering(self.root, self._changes)
        self._table: tuple[int, RunTable] = (-1, RunTable([]))
        self._table_lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._start_lock = threading.Lock()
        self._first_done = threading.Event()
        self._patience_spent = False
        self._asked = time.monotonic()
        self._wake = threading.Event()
        self._closed = threading.Event()
        self._kept_at, self._kept_version = 0.0, -1

    def start(self) -> RunIndex:
        """Begin to look at the folder in the background; asking begins it too."""
        with self._start_lock:
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._work, name="cutaway-index", daemon=True)
                self._thread.start()
        return self

    def close(self) -> None:
        """Stop looking, and keep what was read for the next start. Closing twice is allowed."""
        self._closed.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=10)

    @property
    def progress(self) -> Indexing:
        """How far the first look is; `done` equals `total` once every run is listed."""
        done, total = self._runs.counts()
        return Indexing(done=done, total=total)

    def table(self) -> RunTable:
        """Return all runs as they are known by now."""
        self._be_asked()
        version = self._runs.version
        if self._table[0] != version:
            with self._table_lock:
                if self._table[0] != version:
                    self._table = (version, RunTable(self._runs.rows()))
        return self._table[1]

    def run_of(self, run: str) -> Run:
        """Open the run of an id. Raises `RunNotFound` where there is none, `RunFormatError` where it is unreadable."""
        self._be_asked()
        place = self._runs.place(run)
        if place is None or not (place.reason or self._runs.is_inside(place)):
            raise RunNotFound(run, self.root.name)
        if place.reason:
            raise RunFormatError(
                f"Run {place.name!r} cannot be opened: {place.reason}.", hint="Mend or remove its folder."
            )
        try:
            return Run.open(place.path, mapped=False)
        except RunNotFound:
            raise RunNotFound(run, self.root.name) from None

    def folders(self) -> dict[str, Path]:
        """Return where each run that can be opened lies, by its id."""
        self._be_asked()
        return {place.id: Path(place.path) for place in self._runs.places() if not place.reason}

    def row_of(self, run: str) -> IndexedRun:
        """Return one run as the table has it, with its whole note; read now where it has not been."""
        self._be_asked()
        row = self._runs.row(run)
        if row is None:
            raise RunNotFound(run, self.root.name)
        place = self._runs.place(run)
        if place is None or place.reason or not row.note.endswith("…"):
            return row
        try:
            return annotated(row, read_annotations(Run.open(place.path)))
        except (OSError, RunNotFound, RunFormatError):
            return row

    def annotate(self, run: str, change: AnnotationsChange) -> Annotations:
        """Change what is written about a run, and return all of it; a new baseline takes the place of the last.

        Of all runs under the folder at most one is the baseline.
        """
        written = annotate(self.run_of(run), tags=change.tags, note=change.note, baseline=change.baseline)
        self._read_again(run)
        for row in self.table().rows if change.baseline else ():
            if row.baseline and row.id != run:
                self._release(row.id)
        return written

    def _release(self, run: str) -> None:
        """Make a run no longer the baseline. One that cannot be written stays marked, which is said and not hidden."""
        try:
            annotate(self.run_of(run), baseline=False)
            self._read_again(run)
        except (CutawayError, OSError) as error:
            log.warning("Run %r is still marked as a baseline: %s", run, error)

    def _read_again(self, run: str) -> None:
        """Read a run again at once that has just been changed."""
        if self._runs.read(run) is None:
            raise RunNotFound(run, self.root.name)

    def changes_since(self, number: int) -> list[Change]:
        """Return what has changed after the change of a number; asking keeps the folder looked at."""
        self._be_asked()
        return self._changes.since(number)

    @property
    def last_change(self) -> int:
        """The number of the newest change."""
        return self._changes.last

    def _be_asked(self) -> None:
        self._asked = time.monotonic()
        self.start()
        self._wake.set()
        if not self._patience_spent and not self._closed.is_set():
            self._first_done.wait(PATIENCE_SECONDS)
            self._patience_spent = True

    def _work(self) -> None:
        known = read_cache(self._cache) if self._cache is not None else {}
        self._runs.begin(known)
        while not self._closed.is_set():
            try:
                self._runs.look(self._closed)
            except Exception:
                # A look that fails must not be the last: what is listed stays, and the log says why.
                log.exception("Looking at the runs failed; it is tried again.")
            if not self._first_done.is_set():
                self._first_done.set()
                # The first condition of all loads what takes half a second; nobody should wait for it.
                self.table().select("", ["name = nothing"], "name")
            self._keep(after=KEEP_SECONDS)
            self._closed.wait(max(LOOK_SECONDS, min(LOOK_SHARE * self._runs.look_seconds, MOST_LOOK_SECONDS)))
            if time.monotonic() - self._asked > IDLE_SECONDS:
                self._keep(after=0)
                self._wake.clear()
                self._wake.wait()
        self._keep(after=0)

    def _keep(self, *, after: float) -> None:
        version = self._runs.settled_version
        now = time.monotonic()
        if self._cache is None or version == self._kept_version or now - self._kept_at < after:
            return
        self._kept_at, self._kept_version = now, version
        rows = self._runs.settled()
        if len(rows) < WORTH_KEEPING:
            return
        try:
            write_cache(self._cache, rows)
        except StorageError as error:
            log.warning("What was read of the runs is not kept for the next start: %s", error)
            self._cache = None
