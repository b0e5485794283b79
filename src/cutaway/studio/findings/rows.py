"""The findings of a run as rows, and one with its evidence: what it means, where to look, what was done about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cutaway import registry
from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.rules.actions.action import request_id
from cutaway.rules.documentation import sections
from cutaway.run.control import history
from cutaway.run.findings import BY_ANALYSIS, Finding, findings_from_table, tensors_named_by
from cutaway.run.identity import Run
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.answers.plain import plain, text
from cutaway.studio.findings.steering import request_row
from cutaway.studio.wire.life import FindingDetail, FindingRow
from cutaway.trial.trial import Trial

__all__ = ["chosen_findings", "finding_detail", "finding_row", "findings_of"]

# Keys of the evidence that say where the window of steps begins; the step of the finding is where it ends.
_BEGINNINGS = ("since", "first_step", "from_step", "start_step")


def findings_of(trial: Trial) -> list[Finding]:
    """Return every finding of a run, oldest first."""
    return findings_from_table(trial.findings())


def chosen_findings(
    findings: Iterable[Finding], *, severities: Sequence[str] = (), code: str = "", about: str = "all"
) -> list[Finding]:
    """Return those that were asked for, the newest step first; those of no step come last."""
    found = [
        one
        for one in findings
        if (not severities or one.severity in severities)
        and (not code or one.code.lower() == code.lower())
        and (about == "all" or (one.source == BY_ANALYSIS) == (about == "samples"))
    ]
    return sorted(found, key=lambda one: (-1 if _step(one) is None else _step(one), one.time), reverse=True)


def finding_row(finding: Finding, run: Run) -> FindingRow:
    """Return a finding as a row."""
    step, attempt = _step(finding), finding.where.get("attempt")
    attempt = attempt if isinstance(attempt, int) else None
    named = finding.where.get("tensor")
    return FindingRow(
        id=text(finding.id),
        code=text(finding.code),
        severity=finding.severity,
        message=text(finding.message),
        source=text(finding.source),
        time=finding.time,
        step=step,
        attempt=attempt,
        tensor=text(named) if isinstance(named, str) else None,
        replaced=step is not None and attempt is not None and run.attempt_of(step) != attempt,
    )


def finding_detail(trial: Trial, finding_id: str) -> FindingDetail:
    """Return one finding with everything that leads further; one that there is not is refused."""
    findings = findings_of(trial)
    finding = next((one for one in findings if one.id == finding_id), None)
    if finding is None:
        hint = did_you_mean(finding_id, [one.id for one in findings]) or " `GET api/runs/ID/findings` lists them."
        raise Refusal(404, "finding-unavailable", f"No finding {finding_id!r} in run {trial.name!r}.", hint.strip())
    told = _documentation(finding.code)
    first, last = _window(finding)
    known = {one.name for one in trial.overviews.tensors()} | trial.saved_names()
    return FindingDetail(
        finding=finding_row(finding, trial.run),
        sees=told.get("What it sees", ""),
        why=told.get("Why it matters", ""),
        try_this=told.get("What to try", ""),
        where=plain(dict(finding.where)),
        evidence=plain(dict(finding.evidence)),
        first_step=first,
        last_step=last,
        samples_known=_samples_known(trial, first, last),
        tensors=[name for name in tensors_named_by(finding) if name in known],
        actions=[
            request_row(request, reply)
            for request, reply in history(trial.run.storage)
            if request.role == "train" and request.id == request_id(finding, request.action, request.arguments)
        ],
    )


def _documentation(code: str) -> dict[str, str]:
    try:
        rule = registry.load("rules", code)
    except ConfigurationError:
        # Not a rule's, or of a rule that is not installed here.
        return {}
    return {name: " ".join(lines) for name, lines in sections(rule).items()}


def _window(finding: Finding) -> tuple[int | None, int | None]:
    """Return the steps that a finding is about: the one that it names, and back to where its evidence begins."""
    last = _step(finding)
    begun = [finding.evidence.get(key, finding.where.get(key)) for key in _BEGINNINGS]
    known = [one for one in begun if _is_step(one)]
    if last is None:
        return (known[0], known[0]) if known else (None, None)
    return min([last, *known]), last


def _samples_known(trial: Trial, first: int | None, last: int | None) -> bool:
    if first is None or last is None:
        return False
    columns = trial.step_columns()
    start, end = np.searchsorted(columns["step"], [first, last + 1])
    return bool((columns["samples"][start:end] >= 0).any())


def _step(finding: Finding) -> int | None:
    step = finding.where.get("step")
    return step if _is_step(step) else None


def _is_step(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
