"""A job as a row of the page, and what it printed; without paths of the server."""

from __future__ import annotations

import shlex
from typing import cast

from cutaway.run.jobs import job_log
from cutaway.run.plain_text import plain_text
from cutaway.studio.answers.errors import presentable
from cutaway.studio.jobs.listing import ListedJob
from cutaway.studio.wire.jobs import JobKind, JobLog, JobRow, JobState

__all__ = ["log_of", "row_of"]

MOST_LINES = 2000
_LOST = "Its process is gone, and did not say how it ended: it was killed, or the machine went down."
_LOST_WAITING = "The studio that was to start it is gone."
_AGAIN = "Start it again: what it kept so far is used."


def row_of(found: ListedJob) -> JobRow:
    """Return a job as it is listed."""
    job, progress = found.job, found.job.progress
    over = found.state not in ("waiting", "running")
    error, hint = ("", "") if job.end is None else (job.end.error, job.end.hint)
    if found.state == "lost":
        error, hint = _LOST_WAITING if job.process is None else _LOST, _AGAIN
    return JobRow(
        id=job.id,
        kind=cast("JobKind", job.kind),
        run=found.run,
        run_name=plain_text(found.path.name, 300),
        what=job.what,
        evaluation=job.evaluation,
        other=job.other,
        state=cast("JobState", found.state),
        stage="waiting for its turn" if found.state == "waiting" else progress.stage,
        done=progress.done,
        total=progress.total,
        unit=progress.unit,
        rate=progress.rate,
        eta=None if over else progress.eta,
        created=job.created,
        ended=job.end.ended if job.end is not None else progress.time if over else None,
        error=presentable(error),
        hint=presentable(hint),
        command=_own_command(job.command),
    )


def _own_command(text: str) -> str:
    """Return a command to copy into a terminal where it is one of ours, each word quoted; a run may come from anybody.

    >>> _own_command("cutaway analyze 'my run' map --evaluation 1"), _own_command("cutaway analyze a; rm -rf b")
    ("cutaway analyze 'my run' map --evaluation 1", '')
    """
    try:
        words = shlex.split(text)
    except ValueError:
        return ""
    return text if words[:2] == ["cutaway", "analyze"] and shlex.join(words) == text else ""


def log_of(found: ListedJob, start: int) -> JobLog:
    """Return what a job printed, from a line on."""
    # Asked first: what is printed after this look is there at the next one.
    ended = found.state not in ("waiting", "running")
    lines, following = job_log(found.path, found.job.id, start, MOST_LINES)
    return JobLog(lines=[presentable(line) for line in lines], next=following, ended=ended and len(lines) < MOST_LINES)
