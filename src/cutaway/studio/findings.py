"""The findings of a run as rows, one with its evidence, and steering: what was asked of the training, and asking it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cutaway import registry
from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.rules.actions.action import request_id
from cutaway.rules.documentation import sections, what_to_try
from cutaway.rules.network import network_of
from cutaway.run.asking import TrainingHolder, ask_training, checked_arguments, look_at_training
from cutaway.run.control import Reply, Request, history
from cutaway.run.findings import BY_ANALYSIS, Finding, findings_from_table, is_of_rule, tensors_named_by
from cutaway.run.identity import Run
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.answers.plain import number_or_none, plain, text
from cutaway.studio.wire.life import FindingDetail, FindingRow, LeftRequest, NewRequest, RequestRow
from cutaway.trial.trial import Trial

__all__ = ["ask_for", "chosen_findings", "finding_detail", "finding_row", "findings_of", "request_row", "requests_of"]

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
    told = _documentation(finding.code, trial.run)
    first, last = _window(finding)
    known = {one.name for one in trial.overviews.tensors()} | trial.saved_names()
    return FindingDetail(
        finding=finding_row(finding, trial.run),
        rule_missing=not told and is_of_rule(finding),
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


def _documentation(code: str, run: Run) -> dict[str, str]:
    """Return what a rule's docstring says in each section, with the advice that fits the run's network."""
    try:
        rule = registry.load("rules", code)
    except ConfigurationError:
        return {}
    told = {name: " ".join(lines) for name, lines in sections(rule).items()}
    return {**told, "What to try": what_to_try(rule, network_of(run))}


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


WHO = "studio"


def requests_of(run: Run) -> list[RequestRow]:
    """Return what was asked of the training, the newest first; messages to people travel the same way, and stay out."""
    return [request_row(one, reply) for one, reply in reversed(history(run.storage)) if one.role == "train"]


def request_row(request: Request, reply: Reply | None) -> RequestRow:
    """Return a request as a row."""
    known = reply is not None and reply.state in ("delivered", "done", "refused")
    return RequestRow(
        id=text(request.id),
        action=text(request.action),
        arguments=plain(request.arguments),
        who=text(request.who),
        why=text(request.why),
        time=number_or_none(request.time),
        state=reply.state if reply is not None and known else "waiting",
        reason="" if reply is None else text(reply.reason),
        step=reply.step if reply is not None and isinstance(reply.step, int) and reply.step >= 0 else None,
        answered=None if reply is None else number_or_none(reply.time),
    )


def ask_for(run: Run, wanted: NewRequest) -> LeftRequest:
    """Leave a request for the training of a run; refused at once where it cannot be carried out.

    An id that was asked before is answered with what became of it, also where the training has ended since.
    """
    arguments = checked_arguments(wanted.action, wanted.arguments)
    for name, value in arguments.items():
        if not value > 0:
            # From a command line it may be meant; a field that was left empty or cut short is not.
            raise ConfigurationError(f"`{name} > 0` must hold, but got {name}={value:g}.")
    known = _asked_before(run, wanted.id)
    if known is not None:
        return LeftRequest(request=known, new=False)
    training = look_at_training(run)
    _refuse(run, training, wanted.action)
    asked = Request(wanted.action, "train", WHO, wanted.why, arguments)
    request, new = ask_training(run, training, asked if wanted.id is None else replace(asked, id=wanted.id))
    known = None if new else _asked_before(run, wanted.id)
    return LeftRequest(request=known or request_row(request, None), new=new)


def _refuse(run: Run, training: TrainingHolder, action: str) -> None:
    if not training.runs:
        said = f"The training of run {run.name!r} is not running: it is {training.state}."
        raise Refusal(409, "not-running", said, "Only a running training can be asked for something.")
    if action == "resume" and not training.paused:
        raise Refusal(409, "not-paused", f"The training of run {run.name!r} is not paused.", "It goes on by itself.")
    if action == "pause" and training.paused:
        said = f"The training of run {run.name!r} is paused already."
        raise Refusal(409, "paused-already", said, "Ask it to resume, or to stop.")


def _asked_before(run: Run, wanted: str | None) -> RequestRow | None:
    if wanted is None:
        return None
    both = history(run.storage)
    return next((request_row(one, reply) for one, reply in both if one.id == wanted and one.role == "train"), None)
