"""Insights as a table, and as findings in the run that they are about, with an id that follows from what they say."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import math
from collections.abc import Iterable
from typing import Any, Literal

import pyarrow as pa

from cutaway.analysis.insights.values import INFORMS, Insight, Insights
from cutaway.analysis.samples.origin import Origin
from cutaway.errors import RunLocked
from cutaway.run.findings import BY_ANALYSIS, Finding, append_findings, stamped
from cutaway.run.leases import RunState, next_lease
from cutaway.run.schemas import FINDINGS

__all__ = ["insight_findings", "insight_table", "record_insights"]

log = logging.getLogger("cutaway.analysis")

# From this severity on an insight is an error; below the other it is worth knowing and no more.
GRAVE, SLIGHT = 0.5, 0.01
# What both hold of an insight as it is.
FIGURES = ("count", "share", "measure", "is_share", "inside", "outside", "low", "high", "p", "action", "buys")
_SCHEMA = pa.schema(
    [
        ("sample", pa.string()),
        ("score", pa.float64()),
        ("reason", pa.string()),
        ("kind", pa.string()),
        ("where", pa.string()),
        ("subset", pa.string()),
        ("count", pa.int64()),
        ("share", pa.float64()),
        ("measure", pa.string()),
        ("inside", pa.float64()),
        ("outside", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("p", pa.float64()),
        ("action", pa.string()),
        ("buys", pa.string()),
        ("also", pa.string()),
        ("inside_of", pa.string()),
        ("outside_of", pa.string()),
        ("is_share", pa.bool_()),
    ]
)

# Who records insights as findings.
ROLE = "analyze"


def insight_table(insights: Iterable[Insight]) -> pa.Table:
    """Return a row for each insight, the gravest first; conditions are joined by ` and `, missing figures null.

    >>> insight_table([]).column_names[:5]
    ['sample', 'score', 'reason', 'kind', 'where']
    """
    rows = [
        {
            "sample": one.sample,
            "score": one.severity,
            "reason": one.words,
            "where": " and ".join(one.where),
            "also": ", ".join(one.also),
            "inside_of": one.sides[0],
            "outside_of": one.sides[1],
            **{name: _plain(getattr(one, name)) for name in ("kind", "subset", *FIGURES)},
        }
        for one in insights
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def insight_findings(insights: Iterable[Insight], *, evaluation: int) -> list[Finding]:
    """Return insights as findings about one evaluation of a run.

    The code is the kind. Insights of severity 0.5 or more are errors, those below 0.01 and those that only explain
    are info, all others warnings. The id follows from evaluation, kind, conditions and subset: whoever looks at the
    same evaluation again arrives at the same ids.
    """
    return [_finding(insight, evaluation) for insight in insights]


def _finding(insight: Insight, evaluation: int) -> Finding:
    where: dict[str, Any] = {"evaluation": evaluation, "conditions": list(insight.where), "subset": insight.subset}
    if "against" in insight.evidence:
        where["against"] = insight.evidence["against"]
    if "column" in insight.evidence:
        where["column"] = insight.evidence["column"]
    figures = {name: _plain(getattr(insight, name)) for name in ("severity", *FIGURES)}
    lists = {"also": list(insight.also), "sides": list(insight.sides)}
    evidence = {"sample": insight.sample, **figures, **lists, **dict(insight.evidence)}
    # A cell of latent space has no condition, and is told apart by its samples alone.
    told_apart = insight.sample if insight.evidence.get("cell") else ""
    name = json.dumps(["insight", insight.kind, where, told_apart], sort_keys=True, default=str)
    key = hashlib.sha256(name.encode()).hexdigest()[:32]
    message = f"{insight.words} {insight.action} {insight.buys}".strip()
    return Finding(insight.kind, _severity(insight), message, where, evidence, ROLE, id=key)


def _severity(insight: Insight) -> Literal["info", "warning", "error"]:
    if insight.kind in INFORMS or insight.severity < SLIGHT:
        return "info"
    return "error" if insight.severity >= GRAVE else "warning"


def _plain(value: Any) -> Any:
    """Return a value that JSON and tables have: NaN is null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
