"""Writes insights as findings into the run that they are about, beside those of rules and of the capture."""

from __future__ import annotations

import contextlib
import logging

from cutaway.analysis.insights import Insights, insight_findings
from cutaway.analysis.samples.origin import Origin
from cutaway.errors import RunLocked
from cutaway.run.findings import BY_ANALYSIS, append_findings, stamped
from cutaway.run.leases import Lease, RunState, free_attempt
from cutaway.run.schemas import FINDINGS
from cutaway.run.segments import WriterId

__all__ = ["record_insights"]

log = logging.getLogger("cutaway.analysis")

ROLE = "analyze"


def record_insights(origin: Origin, insights: Insights) -> int:
    """Write those that the run does not have yet and return how many; where it cannot be written, say so and go on."""
    run = origin.evaluation.run
    attempt = max((one.number for one in run.attempts()), default=0)
    try:
        known = {one.id for one in run.findings()}
        found = [
            stamped(one, run.id, attempt, BY_ANALYSIS)
            for one in insight_findings(insights, evaluation=origin.evaluation.number)
        ]
        fresh = [one for one in found if one.id not in known]
        if fresh:
            path = str(run.path)
            who = WriterId(ROLE, "insights", free_attempt(run.storage, path, WriterId(ROLE, "insights", 0)))
            lease = Lease(run.storage, path, who)
            with contextlib.closing(run.writer(FINDINGS, who)) as writer:
                append_findings(writer, fresh)
            lease.release(RunState.FINISHED)
    except (OSError, RunLocked) as error:
        log.warning("Insights into %r cannot be recorded as findings there: %s", run.name, error)
        return 0
    return len(fresh)
