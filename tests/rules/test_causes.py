"""Which finding brings about which, and the order in which findings are told."""

from __future__ import annotations

from typing import Any

import pytest

from cutaway import registry
from cutaway.rules import Rule
from cutaway.rules.causes import LEADS_TO, causes_of, consequences_of, in_telling_order
from cutaway.run.findings import Finding, Severity

NAMES = set(registry.BUILT_IN["rules"])


def finding(code: str, step: int | None = 0, severity: Severity = "warning", **evidence: Any) -> Finding:
    where = {} if step is None else {"step": step}
    return Finding(code, severity, f"{code}.", where=where, evidence=evidence, time=float(step or 0))


def order(*findings: Finding) -> list[str]:
    return [one.code for one in in_telling_order(findings)]


def test_the_table_speaks_of_rules_that_there_are() -> None:
    assert set(LEADS_TO) <= NAMES
    assert {one for others in LEADS_TO.values() for one in others} <= NAMES
    assert all(len(set(others)) == len(others) for others in LEADS_TO.values())


def test_no_finding_brings_itself_about() -> None:
    left = {code: set(others) for code, others in LEADS_TO.items()}
    while left:
        ends = [code for code, others in left.items() if not others & set(left)]
        assert ends, f"a circle of {sorted(left)}"
        for code in ends:
            del left[code]


def test_both_directions_are_told() -> None:
    assert "LossSpike" in consequences_of("ExplodingTensor")
    assert "ExplodingTensor" in causes_of("LossSpike")
    assert (consequences_of("SlowStep"), causes_of("LearningRateTooHigh")) == ((), ())


def test_of_a_rate_that_is_too_high_the_rate_is_told_first_whatever_was_seen_before_it() -> None:
    found = [
        finding("DeadUnits", 101),
        finding("LossSpike", 8),
        finding("ExplodingTensor", 7, "error"),
        finding("AllZero", 3),
        finding("LearningRateTooHigh", 10, "error", since=1),
    ]
    told = order(*found)
    assert told[:3] == ["LearningRateTooHigh", "ExplodingTensor", "AllZero"]
    assert told.index("LossSpike") < told.index("DeadUnits")


def test_a_cause_counts_as_severe_as_the_worst_that_it_brings_about() -> None:
    found = [finding("NotLearning", 203, "error"), finding("Overfit", 1), finding("AllZero", 5)]
    assert order(*found) == ["AllZero", "NotLearning", "Overfit"]
    # A healthy twin: without the error, what was seen first.
    assert order(*found[1:]) == ["Overfit", "AllZero"]


def test_poor_weights_come_before_what_they_saturate_and_that_before_a_loss_that_stands() -> None:
    found = [
        finding("LossNotDecreasing", 40),
        finding("VanishingGradient", 0),
        finding("SaturatedActivation", 0),
        finding("PoorWeightInitialization", 8, since=0),
    ]
    told = ["PoorWeightInitialization", "SaturatedActivation", "VanishingGradient", "LossNotDecreasing"]
    assert order(*found) == told


def test_a_silent_hook_comes_before_what_it_blinds() -> None:
    assert order(finding("UnchangedTensor", 30), finding("HookSilent", 30)) == ["HookSilent", "UnchangedTensor"]


def test_a_cause_holds_also_by_way_of_what_was_not_found() -> None:
    # Too high a rate explodes tensors, whose losses spike; nobody looked at the tensors.
    assert order(finding("DeadUnits", 9), finding("LearningRateTooHigh", 9)) == ["LearningRateTooHigh", "DeadUnits"]


def test_what_began_after_another_finding_did_not_bring_it_about() -> None:
    found = [finding("ExplodingTensor", 214, "error"), finding("NotLearning", 203, "error", since=102)]
    assert order(*found) == ["NotLearning", "ExplodingTensor"]
    assert order(finding("ExplodingTensor", 150, "error"), found[1]) == ["ExplodingTensor", "NotLearning"]


def test_each_kind_is_told_once_by_its_first_finding() -> None:
    told = in_telling_order([finding("LossSpike", 30), finding("LossSpike", 10), finding("LossSpike", None)])
    assert [one.where.get("step") for one in told] == [10]


class WildLoss(Rule):
    """A rule of somebody else that says its part of the order itself."""

    leads_to = ("ExplodingTensor",)
    follows_from = ("DataLeak",)

    def invoke_at_step(self, step: int) -> bool:
        return False


def test_a_rule_of_somebody_else_says_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [finding("ExplodingTensor", 5, "error"), finding("WildLoss", 9), finding("DataLeak", 9)]
    found = [Finding(one.code, one.severity, one.message, one.where, {"since": 0}) for one in found]
    # Nobody has installed it yet, so nothing is known of it.
    assert order(*found) == ["ExplodingTensor", *order(*found[1:])]
    load = registry.load
    monkeypatch.setattr(registry, "names", lambda kind: sorted({*NAMES, "WildLoss"}))
    monkeypatch.setattr(registry, "load", lambda kind, name: WildLoss if name == "WildLoss" else load(kind, name))
    assert order(*found) == ["DataLeak", "WildLoss", "ExplodingTensor"]
    assert causes_of("WildLoss") == ("DataLeak",)
    assert consequences_of("WildLoss") == ("ExplodingTensor",)


def test_rules_that_contradict_each_other_are_told_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WildLoss, "follows_from", ("ExplodingTensor",))
    monkeypatch.setattr(registry, "names", lambda kind: sorted({*NAMES, "WildLoss"}))
    monkeypatch.setattr(registry, "load", lambda kind, name: WildLoss)
    found = [finding("WildLoss", 1), finding("ExplodingTensor", 1), finding("LossSpike", 2)]
    assert sorted(order(*found)) == ["ExplodingTensor", "LossSpike", "WildLoss"]
