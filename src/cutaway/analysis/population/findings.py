"""Writes insights as findings into the run that they are about, beside those of rules and of the capture."""

from __future__ import annotations

import contextlib
import logging

from cutaway.analysis.insights import Insights, insight_findings
from cutaway.analysis.samples.origin import Origin
from cutaway.errors import RunLocked
from cutaway.run.findings import BY_ANALYSIS, append_findings, stamped
from cutaway.run.leases import RunState, next_lease
from cutaway.run.schemas import FINDINGS

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
            lease = next_lease(run.storage, str(run.path), ROLE, "insights")
            with contextlib.closing(run.writer(FINDINGS, lease.writer)) as writer:
                append_findings(writer, fresh)
            lease.release(RunState.FINISHED)
    except (OSError, RunLocked) as error:
        log.warning("Insights into %r cannot be recorded as findings there: %s", run.name, error)
        return 0
    return len(fresh)
