"""Which finding brings about which, and the order in which findings are told: a cause before its consequences. Pure.

One table holds what is known of the built-in rules. A rule of somebody else says its part itself, in `Rule.leads_to`
and `Rule.follows_from`. What began only after another finding was made did not bring it about: a finding begins at its
step, or at `since` of its evidence, where the rule has looked back.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

from cutaway import registry
from cutaway.run.findings import SEVERITIES, Finding, subject_of

__all__ = ["LEADS_TO", "causes_of", "consequences_of", "in_telling_order"]

# What makes a training stand still ends here, however it came to that.
_STANDS = ("NotLearning", "LossNotDecreasing")
# What a gradient that does not arrive looks like at the weights.
_STILL = ("UnchangedTensor", "WeightUpdateRatio", *_STANDS)

LEADS_TO: Mapping[str, tuple[str, ...]] = {
    # What is not seen any more looks as if it had stopped.
    "HookSilent": ("AllZero", "DeadRelu", "DeadUnits", "VanishingGradient", "UnchangedTensor", "WeightUpdateRatio"),
    # Too large steps throw weights, and with them losses and units, out of range; the first few look like bad weights.
    "LearningRateTooHigh": (
        *("ExplodingTensor", "PoorWeightInitialization", "SaturatedActivation", "DeadRelu", "WeightUpdateRatio"),
        *_STANDS,
    ),
    "ExplodingTensor": ("LossSpike", "AllZero", *_STILL),
    "LossSpike": ("DeadRelu", "DeadUnits", "LossNotDecreasing"),
    "LearningRateTooLow": ("PoorWeightInitialization", *_STILL),
    "PoorWeightInitialization": ("SaturatedActivation", "VanishingGradient", *_STANDS),
    # Units without a slope let no gradient through.
    "DeadRelu": ("DeadUnits", "AllZero", "VanishingGradient", *_STILL),
    "SaturatedActivation": ("AllZero", "VanishingGradient", *_STILL),
    "DeadUnits": ("AllZero",),
    "AllZero": ("VanishingGradient", *_STILL),
    "VanishingGradient": _STILL,
    # Weights that stand still learn nothing.
    "UnchangedTensor": ("WeightUpdateRatio", *_STANDS),
    "WeightUpdateRatio": _STANDS,
    "NotLearning": ("LossNotDecreasing", "Confusion", "Overtraining"),
    "ClassImbalance": ("Confusion",),
    "Overfit": ("Overtraining",),
    "StalledTrainingRule": ("SlowStep",),
}


def consequences_of(code: str) -> tuple[str, ...]:
    """Return the codes of the findings that one brings about directly."""
    return _edges([code]).get(code, ())


def causes_of(code: str) -> tuple[str, ...]:
    """Return the codes of the findings that bring one about directly."""
    return tuple(cause for cause, others in _edges([code]).items() if code in others)


def in_telling_order(findings: Iterable[Finding]) -> list[Finding]:
    """Return the first finding of each code in the order in which to tell them.

    A cause comes before its consequences and counts as severe as the worst of them; then errors come before warnings,
    and then what was seen first. What could not be recorded comes last.
    """
    first: dict[str, Finding] = {}
    for finding in sorted(findings, key=_when):
        first.setdefault(finding.code, finding)
    brings = _brings_about(first)
    worst = {code: max(SEVERITIES.index(first[one].severity) for one in (code, *brings[code])) for code in first}

    def urgency(code: str) -> tuple[bool, int, float, float]:
        return (subject_of(first[code]) == "recording", -worst[code], *_when(first[code]))

    told: list[Finding] = []
    left = dict(first)
    while left:
        # Where rules of others contradict each other, somebody has to be first.
        free = [code for code in left if not any(code in brings[other] for other in left)] or [*left]
        told.append(left.pop(min(free, key=urgency)))
    return told


def _when(finding: Finding) -> tuple[float, float]:
    """Return what findings are sorted by to have the earliest first; those of no step come last."""
    step = finding.where.get("step")
    return (step if isinstance(step, int) else math.inf, finding.time)


def _began(finding: Finding) -> float:
    """Return the first step that a finding is about; before all others where it names none."""
    since, step = finding.evidence.get("since"), finding.where.get("step")
    return min([one for one in (since, step) if isinstance(one, int)], default=-math.inf)


def _brings_about(first: Mapping[str, Finding]) -> dict[str, set[str]]:
    """Return for the code of each finding which of the others it brings about, also by way of what was not found."""
    edges = _edges(first)
    found: dict[str, set[str]] = {}
    for code, finding in first.items():
        began = _began(finding)
        reached = _reached(code, edges) & set(first) - {code}
        found[code] = {one for one in reached if began <= _when(first[one])[0]}
    return found


def _reached(code: str, edges: Mapping[str, Collection[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(edges.get(code, ()))
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting += edges.get(one, ())
    return reached


def _edges(codes: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the table, with what rules of somebody else among some codes say of themselves."""
    edges = dict(LEADS_TO)
    ours = registry.BUILT_IN["rules"]
    if all(code in ours for code in codes):
        return edges  # entry points need not be looked up, which takes milliseconds
    for code in (set(codes) - set(ours)) & set(registry.names("rules")):
        rule = registry.load("rules", code)
        edges[code] = (*edges.get(code, ()), *rule.leads_to)
        for cause in rule.follows_from:
            edges[cause] = (*edges.get(cause, ()), code)
    return edges
