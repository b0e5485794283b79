"""The runs that the studio holds open: one `Trial` each, lent to one thread at a time, the least used given up first.

Opens nothing by a path: ids become runs through the index. A run folder that was replaced is opened anew.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from cutaway.errors import RunNotFound
from cutaway.run.identity import Run
from cutaway.trial.step_queries import no_refresh
from cutaway.trial.trial import Trial

__all__ = ["OpenedRuns"]

MOST_OPEN = 8

# What tells one folder from another that came to the same place: the folder itself, and the run's own id.
_Stamp = tuple[int, int, str]


@dataclass
class _OpenRun:
    """A run, its trial once somebody asked for it, and the lock of whoever asks."""

    run: Run
    stamp: _Stamp
    lock: threading.Lock = field(default_factory=threading.Lock)
    trial: Trial | None = None


class OpenedRuns:
    """Lends trials of runs by their ids."""

    def __init__(self, run_of: Callable[[str], Run], *, most: int = MOST_OPEN) -> None:
        self._run_of = run_of
        self._most = most
        self._guard = threading.Lock()
        self._opened: OrderedDict[str, _OpenRun] = OrderedDict()

    @contextmanager
    def trial(self, run_id: str) -> Iterator[Trial]:
        """Lend the trial of a run, up to date; within the block it speaks of one moment and is nobody else's.

        Raises `RunNotFound` where there is no such run, or no longer.
        """
        opened = self._find(run_id)
        with opened.lock:
            try:
                if opened.trial is None:
                    opened.trial = Trial(opened.run)
                opened.trial.newest_step()  # looks for what is new, once for the whole block
                with no_refresh(opened.trial):
                    yield opened.trial
            except FileNotFoundError:
                self._forget(run_id)
                if opened.run.path.is_dir():
                    raise
                raise _gone(opened.run) from None

    def close(self) -> None:
        """Give all of them up."""
        with self._guard:
            self._opened.clear()

    def _find(self, run_id: str) -> _OpenRun:
        try:
            run = self._run_of(run_id)
        except RunNotFound:
            self._forget(run_id)
            raise
        try:
            stamp = _stamp(run)
        except OSError:
            self._forget(run_id)
            raise _gone(run) from None
        with self._guard:
            found = self._opened.get(run_id)
            if found is None or found.stamp != stamp or found.run.path != run.path:
                found = self._opened[run_id] = _OpenRun(run, stamp)
            self._opened.move_to_end(run_id)
            while len(self._opened) > self._most:
                # Whoever is still in its block keeps it until the end of that.
                self._opened.popitem(last=False)
        return found

    def _forget(self, run_id: str) -> None:
        with self._guard:
            self._opened.pop(run_id, None)


def _stamp(run: Run) -> _Stamp:
    there = run.path.stat()
    return there.st_dev, there.st_ino, Run.open(run.path).id


def _gone(run: Run) -> RunNotFound:
    # The name alone: where the folder was is nobody's business over the network.
    return RunNotFound(run.name, "the studio's folder: it was removed or moved away")
