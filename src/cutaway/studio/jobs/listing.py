"""The jobs of all runs of a studio, as their files tell: read again only where something can have changed.

A job that has ended is read once. Runs without jobs cost a look at one name each, and that only every few seconds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cutaway.run.jobs import Job, job_ids, read_job
from cutaway.run.layout import JOBS
from cutaway.run.leases import LEASE_SECONDS
from cutaway.run.storage import UnmappedStorage
from cutaway.studio.index import RunIndex

__all__ = ["MOST_JOBS", "ListedJob", "Listing"]

# Over all runs, the newest.
MOST_JOBS = 2000
# Runs that have no jobs yet are looked at so often; what this studio starts is known at once.
ALL_SECONDS = 3.0
# A job that waits on another machine cannot be asked whether it still does.
WAITING_SECONDS = 86_400.0


@dataclass(frozen=True)
class ListedJob:
    """A job, of which run, and what became of it."""

    run: str
    path: Path
    job: Job
    state: str


@dataclass
class _JobsFolder:
    mark: int = -1
    ids: list[str] = field(default_factory=list)
    ended: dict[str, ListedJob | None] = field(default_factory=dict)


class Listing:
    """Reads jobs of the runs of an index. Safe to use from any thread."""

    def __init__(self, index: RunIndex, clock: Callable[[], float] = time.monotonic) -> None:
        self._index = index
        self._clock = clock
        self._lock = threading.Lock()
        self._folders: dict[str, _JobsFolder] = {}
        self._with_jobs: set[str] = set()
        self._all_at = -ALL_SECONDS
        self._beats: dict[str, tuple[int, float]] = {}

    def jobs(self, run: str | None = None) -> list[ListedJob]:
        """Return the jobs of a run, or the newest of all runs, the newest first."""
        with self._lock:
            places = self._places(run)
            newest = sorted(
                ((job, one) for one in places for job in self._ids(one, places[one])), key=lambda pair: pair[0]
            )
            found = [self._read_job(one, places[one], job) for job, one in newest[: -MOST_JOBS - 1 : -1]]
            if run is None:
                # Only whoever looked at all of them knows which are gone.
                there = {one.job.id for one in found if one is not None}
                self._beats = {job: seen for job, seen in self._beats.items() if job in there}
        return [one for one in found if one is not None]

    def job(self, job_id: str) -> ListedJob | None:
        """Return the job of an id."""
        return next((one for one in self.jobs() if one.job.id == job_id), None)

    def look_again(self, run: str) -> None:
        """Look at the jobs of a run now, since one was started."""
        with self._lock:
            self._with_jobs.add(run)
            self._folders.pop(run, None)

    def _places(self, run: str | None) -> dict[str, Path]:
        folders = self._index.folders()
        if run is not None:
            return {run: folders[run]} if run in folders else {}
        if self._clock() - self._all_at >= ALL_SECONDS:
            self._all_at = self._clock()
            self._with_jobs |= {one for one, path in folders.items() if (path / JOBS).is_dir()}
            self._folders = {one: held for one, held in self._folders.items() if one in folders}
        return {one: folders[one] for one in self._with_jobs if one in folders}

    def _ids(self, run: str, path: Path) -> list[str]:
        folder = self._folders.setdefault(run, _JobsFolder())
        try:
            mark = (path / JOBS).stat().st_mtime_ns
        except OSError:
            mark = -1
        # Within a tick of the clock of its file system a folder changes without another time.
        if mark != folder.mark or abs(time.time_ns() - mark) < 2_000_000_000:
            folder.mark, folder.ids = mark, job_ids(path)
            folder.ended = {job: one for job, one in folder.ended.items() if job in folder.ids}
        return folder.ids

    def _read_job(self, run: str, path: Path, job_id: str) -> ListedJob | None:
        ended = self._folders[run].ended
        if job_id in ended:
            return ended[job_id]
        job = read_job(UnmappedStorage(path), job_id)
        if job is None:
            # Not whole yet, or nothing of ours.
            return None
        found = ListedJob(run, path, job, job.state() or self._state_elsewhere(job))
        if job.end is not None:
            ended[job_id] = found
        return found

    def _state_elsewhere(self, job: Job) -> str:
        """Say what became of a job of another machine: it lives as long as we see its counter move."""
        if job.process is None:
            # One from the future would wait for ever, and keep everybody from starting the same.
            return "waiting" if abs(time.time() - job.created) < WAITING_SECONDS else "lost"
        beat, since = self._beats.get(job.id, (-1, 0.0))
        if beat != job.progress.beat:
            since = self._clock()
            self._beats[job.id] = (job.progress.beat, since)
        return "running" if self._clock() - since < 2 * LEASE_SECONDS else "lost"
