"""How a run is, at a glance: what its findings come to, and what to try. Runs no rule.

Reads what was recorded, also what watchers say of themselves in `watch/<watcher>.json`: how far each of their rules has
looked and what it lacks. A run of which no rule has judged a step is not checked, whatever else is known of it; what is
known without rules, `faults` says. Counts of findings by severity come from here, wherever they are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from cutaway import registry
from cutaway.errors import ConfigurationError
from cutaway.rules.causes import in_telling_order
from cutaway.rules.documentation import what_to_try
from cutaway.rules.faults import Faults, faults_of
from cutaway.rules.network import SeenNetwork, network_of
from cutaway.run.findings import Finding, subject_of
from cutaway.run.identity import Run
from cutaway.run.leases import RunState
from cutaway.run.watches import Status, read_watches
from cutaway.trial.series_totals import Key, SeriesTotals
from cutaway.wording import counted

__all__ = ["NOT_CHECKED", "FindingAdvice", "Health", "health_of", "judge_health"]

Verdict = Literal["healthy", "warnings", "sick", "not checked"]
NOT_CHECKED = "Not checked yet"
# How a rule stands that has judged a step.
_JUDGED = (Status.SILENT, Status.FIRED)
# What findings of the capture say in a few words.
_UNRECORDED = {
    "capture-stopped": "the recording stopped early",
    "capture-thinned": "some steps were not recorded",
    "hook-silent": "the hook did not see all of the model",
    "writer-behind": "some steps were not recorded",
    "tensors-refused": "some tensors were not saved",
}
MOST_TELLING = 3
NO_FAULTS = Faults()
NO_NETWORK = SeenNetwork()


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


def health_of(
    run: Run,
    state: RunState,
    findings: Sequence[Finding] | None = None,
    *,
    losses: Mapping[Key, SeriesTotals] | None = None,
    most_telling: int = MOST_TELLING,
) -> Health:
    """Return how a run in a state is, from its findings, from what its watchers looked at, and from its faults.

    The totals of its losses may have been read already. `most_telling` is how many findings are told in plain words; a
    list of many runs needs none.
    """
    current = _current(run, run.findings() if findings is None else findings)
    faults = faults_of(run, state, losses)
    # Which network it was is looked up only where advice is given.
    network = network_of(run) if most_telling and current else NO_NETWORK
    return judge_health(current, read_watches(run.storage), faults, network, most_telling=most_telling)


def judge_health(
    findings: Sequence[Finding],
    watches: Sequence[dict[str, Any]],
    faults: Faults = NO_FAULTS,
    network: SeenNetwork = NO_NETWORK,
    *,
    most_telling: int = MOST_TELLING,
) -> Health:
    """Return how a run of a network is that has these findings, these documents of its watchers, and these faults."""
    bad = [finding for finding in findings if finding.severity != "info"]
    errors = sum(finding.severity == "error" for finding in bad)
    # That a training failed may be a finding already.
    known = [faults.losses, "" if any(map(_says_the_end, bad)) else faults.end]
    known = [one for one in known if one]
    verdict, headline, since = _verdict(bad, watches, sound=not known)
    # Where rules have found nothing, what is known without them comes first.
    parts = [*known, headline] if verdict == "warnings" and not bad else [headline, *known]
    told = in_telling_order(bad)[:most_telling] if most_telling else []
    telling = [_telling(finding, network) for finding in told]
    sentence = "; ".join([*parts, *_notes(findings)])
    return Health(verdict, sentence, since, len(bad) - errors, errors, telling)


def _verdict(
    bad: Sequence[Finding], watches: Sequence[dict[str, Any]], *, sound: bool
) -> tuple[Verdict, str, int | None]:
    """Return the verdict, what findings and rules say, and since which step; `sound` where no fault is known."""
    training = [finding for finding in bad if subject_of(finding) == "training"]
    errors = [finding for finding in training if finding.severity == "error"]
    if errors:
        since = _first_step(errors)
        at = "" if since is None else f" since step {since}"
        return "sick", f"sick{at}: {_counts(bad, ', and ')}", since
    if bad:
        since = _first_step(training)
        at = "" if since is None else f", the first at step {since}"
        return "warnings", f"{_counts(bad, ' and ')}{at}", since
    judged = [rule for rule in _rules(watches) if rule["status"] in _JUDGED and rule["step"] >= 0]
    if not judged:
        tried = len({rule["rule"] for rule in _rules(watches)})
        why = f": {counted(tried, 'rule')} looked, and none could judge a step" if tried else ""
        return "not checked", f"{NOT_CHECKED}{why}", None
    looked = _looked(judged, watches)
    return ("healthy", f"healthy: {looked}", None) if sound else ("warnings", looked, None)


def _counts(bad: Sequence[Finding], between: str) -> str:
    errors = sum(finding.severity == "error" for finding in bad)
    counts = ((errors, "error"), (len(bad) - errors, "warning"))
    return between.join(counted(count, noun) for count, noun in counts if count)


def _current(run: Run, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings of the steps as they are shown: not those of steps that a later attempt replaced."""
    found = []
    for finding in findings:
        if subject_of(finding) == "samples":
            # Insights are about samples: a training is not sick because a class is hard.
            continue
        step, attempt = finding.where.get("step"), finding.where.get("attempt")
        replaced = isinstance(step, int) and attempt is not None and run.attempt_of(step) != attempt
        if not replaced or _says_the_end(finding):
            found.append(finding)
    return found


def _says_the_end(finding: Finding) -> bool:
    return finding.code.startswith("training-")


def _notes(findings: Iterable[Finding]) -> list[str]:
    """Say what was not recorded: that is no sickness of the training, but what nobody has seen."""
    # What follows a colon says of which part.
    codes = [finding.code.partition(":")[0] for finding in findings if subject_of(finding) == "recording"]
    return list(dict.fromkeys(_UNRECORDED[code] for code in codes if code in _UNRECORDED))


def _telling(finding: Finding, network: SeenNetwork) -> FindingAdvice:
    try:
        advice = what_to_try(registry.load("rules", finding.code), network)
    except ConfigurationError:
        # Not a rule's, or of a rule that is not installed here.
        advice = ""
    return FindingAdvice(finding.code, finding.severity, _step(finding), finding.message, advice)


def _looked(judged: Sequence[dict[str, Any]], watches: Sequence[dict[str, Any]]) -> str:
    names = {rule["rule"] for rule in judged}
    others = {rule["rule"] for rule in _rules(watches)} - names
    last = max(rule["step"] for rule in judged)
    more = f", {len(others)} could not look" if others else ""
    return f"{counted(len(names), 'rule')} looked at it up to step {last} and found nothing{more}"


def _rules(watches: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [rule for watch in watches for rule in watch.get("rules", ())]


def _step(finding: Finding) -> int | None:
    step = finding.where.get("step")
    return step if isinstance(step, int) else None


def _first_step(findings: Iterable[Finding]) -> int | None:
    return min((step for step in map(_step, findings) if step is not None), default=None)
