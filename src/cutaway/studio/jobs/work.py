"""The process of one job: `python -m cutaway.studio.jobs.work RUN JOB [OTHER]`. Does it, and says how it ended.

Started by the studio for a job that was asked for, and for no other: one that has begun or ended already is left alone.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cutaway.errors import CutawayError, StorageError
from cutaway.run.identity import Run
from cutaway.run.jobs import Job, end_job, read_job, write_process
from cutaway.studio.jobs.telling import Cancelled, Teller

__all__ = ["main"]

log = logging.getLogger("cutaway.jobs")

# The page and a training on the same machine come first.
NICENESS = 5


def main(arguments: Sequence[str]) -> int:
    """Do one job; 0 where it finished."""
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    logging.getLogger("cutaway").setLevel(logging.INFO)
    path, job_id, *others = arguments
    run = Run.open(path)
    job = read_job(run.storage, job_id)
    if job is None or job.process is not None or job.end is not None:
        log.error("There is no job %s to be done.", job_id)
        return 2
    write_process(run, job_id)
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    state, error, hint = _done(run, job, Path(others[0]) if others else None)
    if error:
        log.error("%s %s", error, hint)
    try:
        end_job(run, job_id, state, error, hint)
    except StorageError as failure:
        # Whoever looks sees that the process is gone; the log, if it has room, says why.
        log.warning("%s", failure)
    return 0 if state == "finished" else 1


def _done(run: Run, job: Job, other: Path | None) -> tuple[str, str, str]:
    """Do it, and return how it ended."""
    try:
        with Teller(run, job.id) as teller:
            # Loading what analyses take costs seconds, in which the page has to show that something goes on.
            from cutaway.studio.jobs.doing import do

            do(run, job, teller, other)
    except Cancelled:
        return "cancelled", "", ""
    except CutawayError as error:
        return "failed", error.message, error.hint
    except Exception as error:
        # Whatever a binding or a library raises is how this job ended.
        log.exception("It failed.")
        said = str(error)[:1000]
        return "failed", f"{type(error).__name__}: {said}" if said else type(error).__name__, "Its log has the rest."
    return "finished", "", ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
