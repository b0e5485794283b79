"""`Jobs`: starts jobs of a studio's runs, two at a time, lists them, and ends them.

A job is a process in a session of its own, so it lives on when the server ends; all that is known of it lies in files.
Only what was asked for through `start` is ever started: a folder that says it waits is believed, and left alone. For
the same reason no process is signalled but our own children; others are asked through a file.
"""

from __future__ import annotations

import contextlib
import logging
import subprocess
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path

from cutaway.engine.supervised import kill_group
from cutaway.errors import ConfigurationError, StorageError
from cutaway.run.identity import Run
from cutaway.run.jobs import KILL_SECONDS, Job, ask_to_end, end_job, log_path, new_job, prune_jobs, read_job
from cutaway.run.layout import JOBS
from cutaway.run.process import is_here
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.index import RunIndex
from cutaway.studio.jobs.listing import ListedJob, Listing
from cutaway.studio.jobs.rows import JobsWatch, analysis_of, log_of, row_of
from cutaway.studio.wire.jobs import JobLog, JobRow, NewJob

__all__ = ["MOST_RUNNING", "Jobs"]

log = logging.getLogger("cutaway.studio")

MOST_RUNNING = 2
MOST_WAITING = 50
WHO = "studio"
LOOK_SECONDS = 0.2


@dataclass
class _Ours:
    """A job that this studio was asked for: waiting until it has a process."""

    run_id: str
    run: Run
    job: Job
    other: Path | None
    process: subprocess.Popen[bytes] | None = None
    kill_at: float | None = None


class Jobs:
    """The jobs of the runs of an index. Safe to use from any thread; looks after its jobs from one of its own."""

    def __init__(self, index: RunIndex) -> None:
        self._index = index
        self._listing = Listing(index)
        self._lock = threading.RLock()
        self._waiting: deque[_Ours] = deque()
        self._running: dict[str, _Ours] = {}
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    def rows(self, run: str = "") -> list[JobRow]:
        """Return the jobs of a run, or of all, the newest first."""
        if run:
            self._index.run_of(run)
        return [self._row(one) for one in self._listing.jobs(run or None)]

    def watch(self, run: str = "") -> JobsWatch:
        """Return one who looks at the jobs of a run, or of all, again and again."""
        return JobsWatch(lambda: [self._row(one) for one in self._listing.jobs(run or None)])

    def row(self, job_id: str) -> JobRow:
        """Return one job. Raises a `Refusal` where there is none."""
        return self._row(self._job_of(job_id))

    def log(self, job_id: str, start: int) -> JobLog:
        """Return what a job printed, from a line on."""
        return log_of(self._job_of(job_id), start)

    def start(self, wanted: NewJob) -> JobRow:
        """Start a job, or put it in line; where the same waits or runs already, return that one."""
        run = self._index.run_of(wanted.run)
        asked, other = self._checked_job(run, wanted)
        with self._lock:
            same = self._unfinished_twin(wanted.run, asked)
            if same is not None:
                return self._row(same)
            if len(self._waiting) >= MOST_WAITING:
                said = f"{MOST_WAITING} jobs wait already, which is as many as may."
                raise Refusal(503, "too-many-jobs", said, "Wait until some have ended, or cancel them.")
            job = new_job(run, asked.kind, what=asked.what, evaluation=asked.evaluation, other=asked.other, who=WHO)
            prune_jobs(run)
            self._waiting.append(_Ours(wanted.run, run, job, other))
            self._start_waiting()
            self._listing.look_again(wanted.run)
            self._look_after()
        return self.row(job.id)

    def cancel(self, job_id: str) -> JobRow:
        """End a job; what it kept so far stays. One that has ended is left as it is."""
        found = self._job_of(job_id)
        with self._lock:
            if found.state in ("waiting", "running"):
                self._cancel(found)
        return self.row(job_id)

    def close(self) -> None:
        """Look after jobs no longer: those that run go on by themselves, those that wait are given up."""
        self._closed.set()
        with self._lock:
            for one in self._waiting:
                _end(one, "cancelled", "The studio ended before it was its turn.", "Start it again.")
            self._waiting.clear()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _checked_job(self, run: Run, wanted: NewJob) -> tuple[Job, Path | None]:
        """Return what is to be done, each part checked; as a job that is not written yet."""
        from cutaway.run.evaluated import chosen_evaluation  # it takes long to import

        if wanted.kind != "analyze" and wanted.what:
            raise ConfigurationError(f"`what` is for analyze, but got {wanted.what!r} with {wanted.kind!r}.")
        if (wanted.kind == "compare") != bool(wanted.other):
            raise ConfigurationError(
                "`other` names the run that `compare` compares with.", hint="Give it there, and only there."
            )
        evaluation = chosen_evaluation(run, wanted.evaluation).number
        other = self._index.run_of(wanted.other) if wanted.other else None
        if other is not None:
            chosen_evaluation(other)
        what = analysis_of(wanted.what) if wanted.what else ""
        job = Job("", wanted.kind, what, evaluation, wanted.other)
        return job, None if other is None else other.path

    def _row(self, found: ListedJob) -> JobRow:
        other = self._index.folders().get(found.job.other) if found.job.other else None
        return row_of(self._with_own_state(found), other)

    def _unfinished_twin(self, run: str, asked: Job) -> ListedJob | None:
        there = map(self._with_own_state, self._listing.jobs(run))
        return next(
            (one for one in there if one.state in ("waiting", "running") and one.job.asked == asked.asked), None
        )

    def _job_of(self, job_id: str) -> ListedJob:
        found = self._listing.job(job_id)
        if found is None:
            raise Refusal(404, "no-such-job", f"There is no job {job_id[:100]!r}.", "`GET api/jobs` lists them.")
        return self._with_own_state(found)

    def _with_own_state(self, found: ListedJob) -> ListedJob:
        """Say of a job that was started just now that it runs, before its own process says so."""
        ours = self._running.get(found.job.id)
        if found.state != "waiting" or ours is None or ours.process is None:
            return found
        progress = replace(found.job.progress, stage="starting")
        return replace(found, state="running", job=replace(found.job, progress=progress))

    def _cancel(self, found: ListedJob) -> None:
        job_id = found.job.id
        ours = next((one for one in self._waiting if one.job.id == job_id), None)
        if ours is not None:
            self._waiting.remove(ours)
            _end(ours, "cancelled")
            return
        run = Run.open(found.path, mapped=False)
        ask_to_end(run, job_id)
        if found.state == "waiting" and not is_here(dict(found.job.by)):
            # The studio of another machine was to start it, and may never look here again; where it does, it obeys.
            end_job(run, job_id, "cancelled")
            return
        running = self._running.get(job_id)
        if running is not None and running.process is not None and running.kill_at is None:
            running.kill_at = time.monotonic() + KILL_SECONDS
            with contextlib.suppress(ProcessLookupError):
                running.process.terminate()

    def _look_after(self) -> None:
        if (self._thread is None or not self._thread.is_alive()) and not self._closed.is_set():
            self._thread = threading.Thread(target=self._work, name="cutaway-studio-jobs", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while not self._closed.wait(LOOK_SECONDS):
            with self._lock:
                for one in list(self._running.values()):
                    self._look_at(one)
                self._start_waiting()
                if not self._running and not self._waiting:
                    self._thread = None
                    return

    def _look_at(self, one: _Ours) -> None:
        process = one.process
        if process is None:
            return
        status = process.poll()
        if status is None:
            if one.kill_at is not None and time.monotonic() > one.kill_at:
                kill_group(process)
            return
        del self._running[one.job.id]
        held = read_job(one.run.storage, one.job.id)
        if held is None or held.end is not None:
            return
        if one.kill_at is not None:
            _end(one, "cancelled")
        elif status > 0:
            # It did not come as far as to say so itself. One that a signal ended is lost, as its files say.
            _end(one, "failed", f"Its process ended with {status}.", "Its log says why.")

    def _start_waiting(self) -> None:
        while self._waiting and self._count() < MOST_RUNNING:
            one = self._waiting.popleft()
            if (one.run.path / JOBS / one.job.id / "cancel").exists():
                _end(one, "cancelled")  # another studio was asked to
                continue
            try:
                one.process = _process(one)
            except OSError as error:
                _end(one, "failed", f"Its process could not be started: {error.strerror or error}.", "Start it again.")
                continue
            self._running[one.job.id] = one

    def _count(self) -> int:
        """Return how many jobs run on this machine: ours, and those that a studio before this one started."""
        if len(self._running) >= MOST_RUNNING:
            return len(self._running)
        running = (one for one in self._listing.jobs() if one.job.id not in self._running)
        others = (one for one in running if one.state == "running" and one.job.state() is not None)
        return len(self._running) + sum(1 for _ in others)


def _process(one: _Ours) -> subprocess.Popen[bytes]:
    """Start the process of a job: in a session of its own, with nothing of the server's but its environment."""
    # -P: what lies in the current folder is not imported by accident.
    command = [sys.executable, "-P", "-m", "cutaway.studio.jobs.work", str(one.run.path.absolute()), one.job.id]
    with log_path(one.run.path, one.job.id).open("xb") as output:
        return subprocess.Popen(
            [*command, *([] if one.other is None else [str(one.other.absolute())])],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _end(one: _Ours, state: str, error: str = "", hint: str = "") -> None:
    """Write how a job ended; where its run is gone or full there is nobody to tell but the log."""
    try:
        end_job(one.run, one.job.id, state, error, hint)
    except StorageError as failure:
        log.warning("How job %s ended cannot be written: %s", one.job.id, failure)
