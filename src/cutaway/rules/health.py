"""How a run is, at a glance: what its findings come to, and what to try. Runs no rule.

Reads what was recorded, also what watchers say of themselves in `watch/<watcher>.json`: how far each of their rules has
looked and what it lacks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from cutaway import registry
from cutaway.errors import ConfigurationError, RunDamaged
from cutaway.rules.documentation import what_to_try
from cutaway.run.documents import read_document, write_document
from cutaway.run.findings import BY_ANALYSIS, SEVERITIES, Finding
from cutaway.run.identity import Run
from cutaway.run.layout import WATCH
from cutaway.run.storage import Storage
from cutaway.wording import counted

__all__ = ["FindingAdvice", "Health", "health_of", "judge_health", "read_watches", "write_watch"]

Verdict = Literal["healthy", "warnings", "sick", "not watched"]
MOST_TELLING = 3
# Rules that name what is wrong, the nearest to the cause first. A dead ReLU makes gradients vanish, not the reverse.
CAUSES = (
    "ExplodingTensor",
    "DataLeak",
    "DeadRelu",
    "SaturatedActivation",
    "DeadUnits",
    "ClassImbalance",
    "CheckInputImages",
    "NLPSequenceRatio",
    "LearningRateTooHigh",
    "VanishingGradient",
)
# Rules that say that something is wrong, not what: whatever else fired tells more.
SYMPTOMS = (
    "AllZero",
    "PoorWeightInitialization",
    "LearningRateTooLow",
    "Confusion",
    "UnchangedTensor",
    "WeightUpdateRatio",
    "LossNotDecreasing",
    "Overtraining",
    "SlowStep",
)


@dataclass(frozen=True)
class FindingAdvice:
    """A finding in plain words, and what to try."""

    code: str
    severity: str
    step: int | None
    message: str
    try_this: str


@dataclass(frozen=True)
class Health:
    """A verdict in one sentence, since which step, and the findings that tell most."""

    verdict: Verdict
    sentence: str
    since: int | None
    warnings: int
    errors: int
    telling: Sequence[FindingAdvice]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def health_of(run: Run, findings: Sequence[Finding] | None = None, *, most_telling: int = MOST_TELLING) -> Health:
    """Return how a run is, from its findings (read from it, unless given) and from what its watchers looked at.

    `most_telling` is how many findings are told in plain words; a list of many runs needs none.
    """
    current = _current(run, run.findings() if findings is None else findings)
    return judge_health(current, read_watches(run.storage), most_telling=most_telling)


def judge_health(
    findings: Sequence[Finding], watches: Sequence[dict[str, Any]], *, most_telling: int = MOST_TELLING
) -> Health:
    """Return how a run is that has these findings, and these documents of its watchers."""
    bad = [finding for finding in findings if finding.severity != "info"]
    errors = [finding for finding in bad if finding.severity == "error"]
    warnings = len(bad) - len(errors)
    telling = [_telling(finding) for finding in _most_telling(bad)[:most_telling]]
    if errors:
        since = _first_step(errors)
        at = "" if since is None else f" since step {since}"
        more = f", and {counted(warnings, 'warning')}" if warnings else ""
        return Health("sick", f"sick{at}: {counted(len(errors), 'error')}{more}", since, warnings, len(errors), telling)
    if bad:
        since = _first_step(bad)
        at = "" if since is None else f", the first at step {since}"
        return Health("warnings", f"{counted(warnings, 'warning')}{at}", since, warnings, 0, telling)
    if not watches:
        return Health("not watched", "no rule has looked at it yet", None, 0, 0, [])
    return Health("healthy", f"healthy: {_looked(watches)}", None, 0, 0, [])


def _current(run: Run, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings of the steps as they are shown: not those of steps that a later attempt replaced."""
    found = []
    for finding in findings:
        if finding.source == BY_ANALYSIS:
            # Insights are about samples: a training is not sick because a class is hard.
            continue
        step, attempt = finding.where.get("step"), finding.where.get("attempt")
        replaced = isinstance(step, int) and attempt is not None and run.attempt_of(step) != attempt
        if not replaced or finding.code.startswith("training-"):
            found.append(finding)
    return found


def _most_telling(findings: Iterable[Finding]) -> list[Finding]:
    """Return the first finding of each kind: errors before warnings, causes before symptoms, then the earliest."""
    first: dict[str, Finding] = {}
    for finding in sorted(findings, key=_step_key):
        first.setdefault(finding.code, finding)
    return sorted(
        first.values(), key=lambda one: (-SEVERITIES.index(one.severity), _distance(one.code), _step_key(one))
    )


def _distance(code: str) -> int:
    """Return how far from the cause a finding is; what stands in neither list is between them."""
    if code in CAUSES:
        return CAUSES.index(code)
    return len(CAUSES) + (1 + SYMPTOMS.index(code) if code in SYMPTOMS else 0)


def _telling(finding: Finding) -> FindingAdvice:
    try:
        advice = what_to_try(registry.load("rules", finding.code))
    except ConfigurationError:
        # Not a rule's, or of a rule that is not installed here.
        advice = ""
    return FindingAdvice(finding.code, finding.severity, _step(finding), finding.message, advice)


def _looked(watches: Sequence[dict[str, Any]]) -> str:
    rules = [rule for watch in watches for rule in watch.get("rules", ())]
    silent = {rule["rule"] for rule in rules if rule["status"] in ("SILENT", "FIRED")}
    skipped = {rule["rule"] for rule in rules if rule["status"] == "SKIPPED"} - silent
    last = max((rule["step"] for rule in rules if rule["rule"] in silent), default=-1)
    more = f", {len(skipped)} could not look" if skipped else ""
    return f"{counted(len(silent), 'rule')} looked at it up to step {last} and found nothing{more}"


def _step(finding: Finding) -> int | None:
    step = finding.where.get("step")
    return step if isinstance(step, int) else None


def _step_key(finding: Finding) -> tuple[float, float]:
    step = _step(finding)
    return (float("inf") if step is None else step, finding.time)


def _first_step(findings: Iterable[Finding]) -> int | None:
    return min((step for step in map(_step, findings) if step is not None), default=None)


def write_watch(storage: Storage, watcher: str, content: dict[str, Any]) -> None:
    """Say how a watcher stands; it says so again soon, so this need not survive the machine."""
    write_document(storage, f"{WATCH}/{watcher}.json", content, durable=False)


def read_watches(storage: Storage) -> list[dict[str, Any]]:
    """Return what the watchers of a run said last; one that cannot be read is left to `Run.verify` to name."""
    found = []
    for name in storage.list(WATCH):
        with contextlib.suppress(RunDamaged, FileNotFoundError):
            found.append(read_document(storage, f"{WATCH}/{name}"))
    return found
