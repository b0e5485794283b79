"""A run's health at a glance."""

from pathlib import Path
from typing import Any

import pytest

from cutaway import registry
from cutaway.rules.health import CAUSES, SYMPTOMS, health_of, judge_health, write_watch
from cutaway.run import Run, WriterId
from cutaway.run.findings import Finding, Severity, append_findings
from cutaway.run.schemas import FINDINGS

WATCH = {"rules": [{"rule": "VanishingGradient", "status": "SILENT", "step": 99}]}


def finding(code: str, step: int | None, severity: Severity = "warning", **where: Any) -> Finding:
    at = {} if step is None else {"step": step}
    return Finding(code, severity, f"{code} at {step}.", where={**at, **where}, time=float(step or 0))


@pytest.mark.parametrize(
    ("findings", "watches", "verdict", "sentence"),
    [
        ([], [], "not watched", "no rule has looked at it yet"),
        ([], [WATCH], "healthy", "healthy: 1 rule looked at it up to step 99 and found nothing"),
        ([finding("replaced", 3, "info")], [WATCH], "healthy", "healthy: 1 rule looked"),
        ([finding("VanishingGradient", 7)], [], "warnings", "1 warning, the first at step 7"),
        ([finding("A", 9), finding("B", 4)], [WATCH], "warnings", "2 warnings, the first at step 4"),
        ([finding("E", 41, "error"), finding("B", 4)], [], "sick", "sick since step 41: 1 error, and 1 warning"),
        ([finding("E", None, "error")], [], "sick", "sick: 1 error"),
    ],
)
def test_a_verdict_follows_from_findings_and_watchers(
    findings: list[Finding], watches: list[dict[str, Any]], verdict: str, sentence: str
) -> None:
    health = judge_health(findings, watches)
    assert health.verdict == verdict
    assert health.sentence.startswith(sentence)


def test_rules_that_could_not_look_are_not_counted_as_healthy() -> None:
    skipped = {"rule": "DeadRelu", "status": "SKIPPED", "step": -1}
    health = judge_health([], [{"rules": [*WATCH["rules"], skipped]}])
    assert health.sentence.endswith("found nothing, 1 could not look")


def test_the_most_telling_come_first_each_kind_once() -> None:
    found = [
        finding("LossNotDecreasing", 1),
        finding("Overfit", 30),
        finding("VanishingGradient", 20),
        finding("VanishingGradient", 10),
        finding("ExplodingTensor", 50, "error"),
    ]
    told = judge_health(found, []).telling
    assert [(one.code, one.step) for one in told] == [
        ("ExplodingTensor", 50),
        ("VanishingGradient", 10),
        ("Overfit", 30),
    ]


def test_a_cause_is_told_before_what_it_causes() -> None:
    found = [finding(code, 0) for code in ("AllZero", "VanishingGradient", "DeadRelu", "MyOwnRule")]
    told = judge_health(found, []).telling
    assert [one.code for one in told] == ["DeadRelu", "VanishingGradient", "MyOwnRule"]


def test_causes_and_symptoms_are_rules_each_in_one_list() -> None:
    listed = [*CAUSES, *SYMPTOMS]
    assert len(set(listed)) == len(listed)
    assert set(listed) <= set(registry.names("rules"))


def test_a_finding_says_what_to_try() -> None:
    (told,) = judge_health([finding("VanishingGradient", 10)], []).telling
    assert "ReLU" in told.try_this
    (other,) = judge_health([finding("capture-stopped", 10)], []).telling
    assert other.try_this == ""


def test_findings_of_steps_that_were_replaced_no_longer_count(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run")
    _, lease = run.begin_attempt(from_step=0)
    with_attempt = [finding("VanishingGradient", step, attempt=0) for step in (10, 60)]
    writer = run.writer(FINDINGS, WriterId("watch", "watcher_0", 0))
    append_findings(writer, with_attempt)
    writer.close()
    from cutaway.run import RunState

    lease.release(RunState.FAILED)
    assert health_of(run).warnings == 2
    run.begin_attempt(from_step=50)
    assert [one.step for one in health_of(run).telling] == [10]
    assert health_of(run).warnings == 1


def test_what_a_watcher_said_is_checked_with_the_rest_of_the_run(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run")
    write_watch(run.storage, "watcher_0", dict(WATCH))
    assert health_of(run).verdict == "healthy"
    assert run.verify() == []
    path = run.path / "watch" / "watcher_0.json"
    path.write_bytes(path.read_bytes().replace(b"SILENT", b"FIRED!"))
    assert [one.path for one in run.verify()] == ["watch/watcher_0.json"]
    assert health_of(run).verdict == "not watched"
