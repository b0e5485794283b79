"""A job as the page has it, without paths of the server: its names, its row, what it printed, and what changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from cutaway.analysis.population.names import command_name, name_of
from cutaway.errors import ConfigurationError
from cutaway.run.command_words import command_path, run_word, shell_word
from cutaway.run.jobs import Job, job_log
from cutaway.run.plain_text import plain_text
from cutaway.studio.answers.errors import presentable
from cutaway.studio.answers.plain import text
from cutaway.studio.jobs.listing import ListedJob
from cutaway.studio.wire.jobs import JobKind, JobLog, JobRow, JobState

__all__ = ["JobsWatch", "analysis_of", "command_of", "log_of", "row_of"]

MOST_LINES = 2000
_ANALYSIS = re.compile(r"[a-z0-9 _-]{0,60}")
_LOST = "Its process is gone, and did not say how it ended: it was killed, or the machine went down."
_LOST_WAITING = "The studio that was to start it is gone."
_AGAIN = "Start it again: what it kept so far is used."


def row_of(found: ListedJob, other: Path | None = None) -> JobRow:
    """Return a job as it is listed; `other` is where the run lies that a comparison is with."""
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
        command=command_of(job, found.path, other),
    )


def log_of(found: ListedJob, start: int) -> JobLog:
    """Return what a job printed, from a line on."""
    # Asked first: what is printed after this look is there at the next one.
    ended = found.state not in ("waiting", "running")
    lines, following = job_log(found.path, found.job.id, start, MOST_LINES)
    return JobLog(lines=[presentable(line) for line in lines], next=following, ended=ended and len(lines) < MOST_LINES)


def analysis_of(what: str) -> str:
    """Return the analysis that a word names. Raises `ConfigurationError` for other words, and for what no job makes.

    >>> analysis_of("to-label"), analysis_of("class_distances")
    ('to label', 'class distances')
    """
    from cutaway.analysis.population.applicability import analysis_named  # it takes long to import

    found = analysis_named(name_of(what))
    if found.asked_alone and not found.prepares:
        raise ConfigurationError(
            f"No job makes {what!r} of all samples: `cutaway analyze RUN {command_name(found.name)}`"
        )
    return found.name


def command_of(job: Job, run: Path, other: Path | None) -> str:
    """Return the command that does the same in a terminal; empty where none does.

    Made of the parts of a job, never what stands in a run as a command: that may come from anybody.
    """
    if job.evaluation is None or not _ANALYSIS.fullmatch(job.what):
        return ""
    if job.kind == "analyze":
        words = [command_name(job.what)] if job.what else []
    elif job.kind == "compare" and other is not None:
        words = ["compare", "--with", command_path(other, relative=True)]
    else:
        # An evaluation is started from its binding and model, which lie elsewhere.
        return ""
    asked = [*words, "--evaluation", str(job.evaluation)]
    return text(" ".join(["cutaway analyze", run_word(run, relative=True), *map(shell_word, asked)]))


class JobsWatch:
    """Looks at the same jobs again and again."""

    def __init__(self, rows: Callable[[], Sequence[JobRow]]) -> None:
        self._rows = rows
        self._seen = self._now()

    def look(self) -> list[str]:
        """Return the runs of which a job is new, gone, or not as it was at the last look."""
        before, now = self._seen, self._now()
        self._seen = now
        changed = (now.get(one) or before[one] for one in before.keys() | now.keys() if before.get(one) != now.get(one))
        return sorted({row.run for row in changed})

    def _now(self) -> dict[str, JobRow]:
        return {row.id: row for row in self._rows()}
