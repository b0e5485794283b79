"""Jobs of a run, `jobs/<id>/`: work that a process of its own does, and all that is known of it.

    job.json       what was asked for, by whom and when; written once
    process.json   which process does it
    progress.json  how far it is; replaced while it goes on
    end.json       how it ended
    cancel         somebody wants it to end
    log.txt        what it printed

Knows the files, and what they say of a job. Starts nothing: no word in them chooses what is run, and a folder that
comes from somebody else is only read, in bounded pieces and through no link.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cutaway.errors import RunDamaged, StorageError
from cutaway.run.documents import read_document, write_document
from cutaway.run.identity import Run
from cutaway.run.layout import JOBS
from cutaway.run.plain_text import plain_text
from cutaway.run.process import is_alive, is_here, this_process
from cutaway.run.storage import Storage

__all__ = [
    "KEPT_JOBS",
    "KILL_SECONDS",
    "MOST_LOG_BYTES",
    "Job",
    "JobEnd",
    "JobProgress",
    "ask_to_end",
    "end_job",
    "job_ids",
    "job_log",
    "log_path",
    "new_job",
    "prune_jobs",
    "read_job",
    "write_process",
    "write_progress",
]

KEPT_JOBS = 50
# So long a job that is to end may take to put things in order.
KILL_SECONDS = 5.0
MOST_LOG_BYTES = 10 << 20
# Of a folder of jobs, which may be somebody else's, so many names are looked at.
MOST_NAMES = 20_000
_LARGEST = 64 << 10
_DAY = 86_400.0
_MOST_TEXT, _MOST_WORDS = 300, 4000
_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")
_KINDS = ("analyze", "evaluate", "compare")
_ENDS = ("finished", "failed", "cancelled")


@dataclass(frozen=True)
class JobProgress:
    """How far a job is: `done` of `total` of a stage, how many a second, and the seconds that are left.

    `beat` moves as long as its process lives, for those who cannot look that up.
    """

    stage: str = ""
    done: int = 0
    total: int | None = None
    unit: str = ""
    rate: float | None = None
    eta: float | None = None
    time: float | None = None
    beat: int = 0


@dataclass(frozen=True)
class JobEnd:
    """How a job ended: finished, failed or cancelled, and why."""

    state: str
    error: str = ""
    hint: str = ""
    ended: float | None = None


@dataclass(frozen=True)
class Job:
    """A job as its files tell it. `by` is the process that was to start it, `process` the one that does it."""

    id: str
    kind: str
    what: str = ""
    evaluation: int | None = None
    other: str = ""
    who: str = ""
    created: float = 0.0
    by: Mapping[str, Any] = field(default_factory=dict)
    process: Mapping[str, Any] | None = None
    progress: JobProgress = field(default_factory=JobProgress)
    end: JobEnd | None = None

    @property
    def asked(self) -> tuple[str, str, int | None, str]:
        """What it does; two jobs of a run that do the same are one job."""
        return self.kind, self.what, self.evaluation, self.other

    def state(self) -> str | None:
        """Return waiting, running, finished, failed, cancelled or lost; None where another machine has to tell."""
        if self.end is not None:
            return self.end.state
        process = self.by if self.process is None else self.process
        if not is_here(dict(process)):
            return None
        return ("waiting" if self.process is None else "running") if _lives(process) else "lost"


def new_job(run: Run, kind: str, *, what: str = "", evaluation: int | None = None, other: str = "", who: str) -> Job:
    """Write down what is to be done, and return it; this process is the one that starts it."""
    folder = run.path / JOBS
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        message = f"Cannot start a job of run {run.name!r}: its `{JOBS}` is no folder."
        raise StorageError(message, hint="Remove it.")
    now = time.time()
    job_id = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{secrets.token_hex(4)}"
    job = Job(job_id, kind, what, evaluation, other, who, now, by=this_process())
    asked = ("kind", "what", "evaluation", "other", "who", "created", "by")
    content = {name: getattr(job, name) for name in asked}
    write_document(run.storage, _key(job_id, "job.json"), content, exclusive=True)
    return job


def job_ids(path: Path) -> list[str]:
    """Return the ids of the newest jobs of a run's folder, the newest first."""
    names = []
    try:
        if (path / JOBS).is_symlink():
            return []
        with os.scandir(path / JOBS) as entries:
            for number, entry in enumerate(entries):
                if number >= MOST_NAMES:
                    break
                if _ID.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                    names.append(entry.name)
    except OSError:
        return []
    return sorted(names, reverse=True)[: 2 * KEPT_JOBS]


def read_job(storage: Storage, job_id: str) -> Job | None:
    """Return a job; None where there is none, or none that this release can read."""
    if not _ID.fullmatch(job_id):
        return None
    asked = _document(storage, job_id, "job.json")
    if not asked or asked.get("kind") not in _KINDS:
        return None
    process = _document(storage, job_id, "process.json")
    progress = _progress(_document(storage, job_id, "progress.json") or {})
    # Last, so that one who ends between our looks is not taken for lost.
    end = _document(storage, job_id, "end.json")
    by = asked.get("by")
    return Job(
        id=job_id,
        kind=str(asked["kind"]),
        what=_bounded_text(asked.get("what")),
        evaluation=_whole_number(asked.get("evaluation")),
        other=_bounded_text(asked.get("other")),
        who=_bounded_text(asked.get("who")),
        created=_bounded_number(asked.get("created")) or 0.0,
        by=by if isinstance(by, dict) else {},
        process=process,
        progress=progress,
        end=None if end is None else _end(end),
    )


def write_process(run: Run, job_id: str) -> None:
    """Say that this process does a job."""
    write_document(run.storage, _key(job_id, "process.json"), this_process(), durable=False)


def write_progress(run: Run, job_id: str, progress: JobProgress) -> None:
    """Say how far a job is."""
    write_document(run.storage, _key(job_id, "progress.json"), dict(vars(progress)), durable=False)


def end_job(run: Run, job_id: str, state: str, error: str = "", hint: str = "") -> None:
    """Say how a job ended; the first word stands."""
    content = {"state": state, "error": error, "hint": hint, "ended": time.time()}
    with contextlib.suppress(FileExistsError):
        write_document(run.storage, _key(job_id, "end.json"), content, durable=False, exclusive=True)


def ask_to_end(run: Run, job_id: str) -> None:
    """Leave word that a job is to end; its process looks for it twice a second."""
    run.storage.replace(_key(job_id, "cancel"), b"", durable=False)


def log_path(path: Path, job_id: str) -> Path:
    """Return where a job of the run in a folder prints to."""
    return path / JOBS / job_id / "log.txt"


def job_log(path: Path, job_id: str, start: int, most: int) -> tuple[list[str], int]:
    """Return at most so many lines of what a job printed, from a line on, and the number of the next line."""
    folder = path / JOBS
    if not _ID.fullmatch(job_id) or folder.is_symlink() or (folder / job_id).is_symlink():
        return [], start
    lines = _bytes(log_path(path, job_id)).decode("utf-8", "replace").split("\n")
    # What follows the last line's end is not a line yet.
    found = lines[:-1][start : start + most]
    # A bar that was drawn again and again over itself is what it was last.
    return [plain_text(line.rstrip("\r").rpartition("\r")[2], 2000) for line in found], start + len(found)


def prune_jobs(run: Run) -> None:
    """Remove the oldest jobs that have ended, but for the newest `KEPT_JOBS` of all."""
    for job_id in job_ids(run.path)[KEPT_JOBS:]:
        job = read_job(run.storage, job_id)
        if job is None or _is_over(job):
            with contextlib.suppress(OSError):
                run.storage.remove(f"{JOBS}/{job_id}")


def _is_over(job: Job) -> bool:
    state = job.state()
    # One of another machine, or of an earlier boot of this one, is not waited for longer than a day.
    return time.time() - job.created > _DAY if state is None else state not in ("waiting", "running")


def _key(job_id: str, name: str) -> str:
    return f"{JOBS}/{job_id}/{name}"


def _document(storage: Storage, job_id: str, name: str) -> dict[str, Any] | None:
    """Return a document of a job: None where there is none, and an empty one where it cannot be read."""
    key = _key(job_id, name)
    try:
        return read_document(storage, key) if 0 < storage.size(key) <= _LARGEST else {}
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, RunDamaged):
        return {}


def _lives(process: Mapping[str, Any]) -> bool:
    pid = process.get("pid")
    return isinstance(pid, int) and 0 < pid < 1 << 31 and is_alive(dict(process))


def _progress(told: Mapping[str, Any]) -> JobProgress:
    return JobProgress(
        stage=_bounded_text(told.get("stage")),
        done=_whole_number(told.get("done")) or 0,
        total=_whole_number(told.get("total")),
        unit=_bounded_text(told.get("unit")),
        rate=_bounded_number(told.get("rate")),
        eta=_bounded_number(told.get("eta")),
        time=_bounded_number(told.get("time")),
        beat=_whole_number(told.get("beat")) or 0,
    )


def _end(told: Mapping[str, Any]) -> JobEnd:
    if told.get("state") not in _ENDS:
        return JobEnd("failed", "How it ended cannot be read.", "Start it again.")
    error, hint = (_bounded_text(told.get(name), _MOST_WORDS) for name in ("error", "hint"))
    return JobEnd(str(told["state"]), error, hint, _bounded_number(told.get("ended")))


def _bounded_text(value: Any, most: int = _MOST_TEXT) -> str:
    return plain_text(value, most) if isinstance(value, str) else ""


def _whole_number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None


def _bounded_number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e15 else None


def _bytes(path: Path) -> bytes:
    """Read the beginning of a plain file; a link, which may lead anywhere, and a pipe hold nothing."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return b""
    with open(handle, "rb") as file:  # noqa: PTH123 - a descriptor
        return file.read(MOST_LOG_BYTES) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
