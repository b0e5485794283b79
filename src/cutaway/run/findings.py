"""`Finding`: the one record of every conclusion that rules, checks, insights and the capture itself reach."""

from __future__ import annotations

import hashlib
import json
import math
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pyarrow as pa

from cutaway.run.segments import TableWriter

__all__ = [
    "BY_ANALYSIS",
    "SEVERITIES",
    "Finding",
    "Subject",
    "append_findings",
    "findings_from_table",
    "is_of_rule",
    "stamped",
    "subject_of",
    "tensors_named_by",
    "worst_severity",
]

Severity = Literal["info", "warning", "error"]
Subject = Literal["training", "samples", "recording"]
BY_ANALYSIS = "analyze"
"""The source of findings about the samples of an evaluation."""
BY_CAPTURE = "capture"
"""How the source of findings begins that say what could not be recorded; those of all others are about the training."""
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")


@dataclass(frozen=True)
class Finding:
    """Something that was concluded about a run.

    >>> Finding("capture-stopped", "error", "The disk is full.", where={"step": 7}).where["step"]
    7
    """

    code: str
    severity: Severity
    message: str
    where: Mapping[str, Any] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    time: float = field(default_factory=time.time)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)


def stamped(finding: Finding, run_id: str, attempt: int, source: str) -> Finding:
    """Return a rule's finding as that of one attempt of a run, by whoever looked.

    Whoever evaluates the same rule with the same parameters arrives at the same id, so readers show it once.
    """
    name = json.dumps([run_id, attempt, finding.id])
    key = hashlib.sha256(name.encode()).hexdigest()[:32]
    return replace(finding, id=key, source=source, where={**finding.where, "attempt": attempt})


def subject_of(finding: Finding) -> Subject:
    """Say what a finding is about: the training, the samples of an evaluation, or how the run was recorded."""
    if finding.source == BY_ANALYSIS:
        return "samples"
    return "recording" if _is_by_capture(finding.source) else "training"


def is_of_rule(finding: Finding) -> bool:
    """Whether a rule found it: those name the parameters that the rule ran with."""
    return "parameters" in finding.evidence


def append_findings(writer: TableWriter, findings: Iterable[Finding]) -> None:
    """Write findings to a run; when this returns they survive the process."""
    rows = list(findings)
    if not rows:
        return
    columns: dict[str, list[object]] = {
        name: [getattr(row, name) for row in rows] for name in ("id", "code", "severity", "message", "time", "source")
    }
    for name in ("where", "evidence"):
        columns[name] = [json.dumps(dict(getattr(row, name)), default=str) for row in rows]
    step = rows[0].where.get("step")
    writer.append_rows(columns, step if isinstance(step, int) else -1)


def findings_from_table(table: pa.Table) -> list[Finding]:
    """Return the findings of a `findings` table, oldest first, each once.

    A run may come from anybody: what a row lacks is empty, and a severity that there is not counts as a warning. What
    warns that something could not be recorded is a note, wherever findings are counted: it is no warning about the
    training.
    """
    seen: dict[str, Finding] = {}
    for row in table.to_pylist():
        found = Finding(
            row["code"] or "",
            _severity(row["severity"], row["source"] or ""),
            row["message"] or "",
            where=_mapping(row["where"]),
            evidence=_mapping(row["evidence"]),
            source=row["source"] or "",
            time=_seconds(row["time"]),
            id=row["id"] or "",
        )
        seen[found.id] = found
    return sorted(seen.values(), key=lambda finding: finding.time)


def _severity(text: str | None, source: str) -> Severity:
    known: Severity = next((one for one in SEVERITIES if one == text), "warning")
    return "info" if known == "warning" and _is_by_capture(source) else known


def _is_by_capture(source: str) -> bool:
    return source.split(" ", maxsplit=1)[0] == BY_CAPTURE


def _mapping(text: str | None) -> dict[str, Any]:
    try:
        held = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return held if isinstance(held, dict) else {}


def _seconds(value: float | None) -> float:
    # NaN has no place in an order.
    return value if value is not None and math.isfinite(value) else 0.0


def tensors_named_by(finding: Finding) -> list[str]:
    """Return the tensors that a finding names, the one that it is about first."""
    held = finding.evidence.get("tensors")
    others: Iterable[Any] = held if isinstance(held, Mapping | list) else ()
    names = [finding.where.get("tensor"), *others]
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def worst_severity(findings: Iterable[Finding]) -> Severity | None:
    """Return the worst severity; None where there is no finding."""
    found = [SEVERITIES.index(one.severity) for one in findings]
    return SEVERITIES[max(found)] if found else None
