"""A run's health at a glance."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cutaway.rules.faults import Faults
from cutaway.rules.health import health_of, judge_health
from cutaway.rules.network import SeenNetwork
from cutaway.run import Run, RunState, WriterId
from cutaway.run.findings import Finding, Severity, append_findings
from cutaway.run.schemas import FINDINGS
from cutaway.run.watches import write_watch

WATCH = {"rules": [{"rule": "VanishingGradient", "status": "SILENT", "step": 99}]}


def finding(code: str, step: int | None, severity: Severity = "warning", **where: Any) -> Finding:
    at = {} if step is None else {"step": step}
    return Finding(code, severity, f"{code} at {step}.", where={**at, **where}, time=float(step or 0))


@pytest.mark.parametrize(
    ("findings", "watches", "verdict", "sentence"),
    [
        ([], [], "not checked", "Not checked yet"),
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


def skipped(rule: str = "DeadRelu") -> dict[str, Any]:
    return {"rule": rule, "status": "SKIPPED", "step": -1}


def about_recording(code: str, step: int | None = None, severity: Severity = "info") -> Finding:
    return replace(finding(code, step, severity), source="capture worker_0")


class TestOfARunThatNoRuleHasJudged:
    @pytest.mark.parametrize(
        ("rules", "sentence"),
        [
            (None, "Not checked yet"),
            ([], "Not checked yet"),
            ([skipped()], "Not checked yet: 1 rule looked, and none could judge a step"),
            ([skipped(), {**skipped("AllZero"), "status": "BROKEN"}], "Not checked yet: 2 rules looked, and none"),
            ([{"rule": "AllZero", "status": "WAITING", "step": -1}], "Not checked yet: 1 rule looked, and none"),
            ([{"rule": "AllZero", "status": "SILENT", "step": -1}], "Not checked yet: 1 rule looked, and none"),
        ],
    )
    def test_it_is_not_checked_and_never_healthy(self, rules: list[dict[str, Any]] | None, sentence: str) -> None:
        health = judge_health([], [] if rules is None else [{"rules": rules}])
        assert health.verdict == "not checked"
        assert health.sentence.startswith(sentence)
        assert "-1" not in health.sentence

    def test_what_is_known_without_rules_is_named(self) -> None:
        faults = Faults("loss was NaN or infinite at 39 of 60 steps", "the training failed")
        health = judge_health([about_recording("writer-behind", 3)], [{"rules": [skipped()]}], faults)
        assert health.verdict == "not checked"
        assert health.sentence == (
            "Not checked yet: 1 rule looked, and none could judge a step; loss was NaN or infinite at 39 of 60 steps; "
            "the training failed; some steps were not recorded"
        )


class TestOfARunThatRulesHaveJudged:
    def test_one_whose_loss_is_known_to_be_nan_is_not_healthy_although_rules_found_nothing(self) -> None:
        health = judge_health([], [WATCH], Faults("loss was NaN or infinite at 39 of 60 steps"))
        assert health.verdict == "warnings"
        assert health.sentence == (
            "loss was NaN or infinite at 39 of 60 steps; 1 rule looked at it up to step 99 and found nothing"
        )

    def test_faults_follow_what_rules_found(self) -> None:
        health = judge_health([finding("LossSpike", 7)], [WATCH], Faults(end="the training crashed"))
        assert health.sentence == "1 warning, the first at step 7; the training crashed"

    def test_an_end_that_is_a_finding_is_told_once(self) -> None:
        health = judge_health([finding("training-failed", 9, "error")], [], Faults(end="the training failed"))
        assert health.sentence == "sick since step 9: 1 error"


class TestWhatWasNotRecorded:
    def test_it_is_a_note_beside_what_is_wrong_with_the_training(self) -> None:
        health = judge_health([about_recording("writer-behind", 3), finding("LossSpike", 40)], [WATCH])
        assert (health.verdict, health.since, health.warnings, health.errors) == ("warnings", 40, 1, 0)
        assert health.sentence == "1 warning, the first at step 40; some steps were not recorded"
        assert [one.code for one in health.telling] == ["LossSpike"]

    def test_a_warning_of_a_rule_comes_before_an_error_of_the_recording(self) -> None:
        health = judge_health([about_recording("capture-stopped", 3, "error"), finding("LossSpike", 40)], [])
        assert [one.code for one in health.telling] == ["LossSpike", "capture-stopped"]
        assert (health.verdict, health.since) == ("warnings", 40)
        assert health.sentence == "1 error and 1 warning, the first at step 40; the recording stopped early"

    def test_a_recording_that_stopped_is_no_sick_training(self) -> None:
        health = judge_health([about_recording("capture-stopped", None, "error")], [WATCH])
        assert (health.verdict, health.errors) == ("warnings", 1)
        assert health.sentence == "1 error; the recording stopped early"

    def test_a_part_that_the_hook_did_not_see_is_named_once(self) -> None:
        found = [about_recording(f"hook-silent:{name}") for name in ("encoder", "head")]
        assert judge_health(found, []).sentence == "Not checked yet; the hook did not see all of the model"

    def test_notes_alone_leave_a_training_healthy(self) -> None:
        found = [about_recording(code) for code in ("writer-behind", "capture-thinned", "samples-unknown")]
        health = judge_health(found, [WATCH])
        assert (health.verdict, health.warnings) == ("healthy", 0)
        assert health.sentence == (
            "healthy: 1 rule looked at it up to step 99 and found nothing; some steps were not recorded"
        )


def test_rules_that_could_not_look_are_not_counted_as_healthy() -> None:
    health = judge_health([], [{"rules": [*WATCH["rules"], skipped()]}])
    assert health.sentence.endswith("found nothing, 1 could not look")


def test_the_most_telling_come_first_each_kind_once() -> None:
    found = [
        finding("LossNotDecreasing", 12),
        finding("Overfit", 30),
        finding("VanishingGradient", 20),
        finding("VanishingGradient", 10),
        finding("ExplodingTensor", 50, "error"),
    ]
    told = judge_health(found, []).telling
    assert [(one.code, one.step) for one in told] == [
        ("ExplodingTensor", 50),
        ("VanishingGradient", 10),
        ("LossNotDecreasing", 12),
    ]


def test_a_cause_is_told_before_what_it_causes() -> None:
    found = [finding(code, 0) for code in ("AllZero", "VanishingGradient", "DeadRelu", "MyOwnRule")]
    told = judge_health(found, []).telling
    assert [one.code for one in told] == ["DeadRelu", "AllZero", "VanishingGradient"]


def test_a_finding_says_what_to_try() -> None:
    (told,) = judge_health([finding("VanishingGradient", 10)], []).telling
    assert "ReLU" in told.try_this
    (other,) = judge_health([finding("capture-stopped", 10)], []).telling
    assert other.try_this == ""


@pytest.mark.parametrize(
    ("activations", "said", "unsaid"),
    [
        (("Sigmoid",), "Put ReLU in place of Sigmoid", "already"),
        (("ReLU",), "The activations are ReLU already", "Put ReLU"),
        (("GELU", "ReLU"), "The activations are GELU and ReLU already", "Put ReLU"),
        ((), "Where there is sigmoid or tanh between the layers, put ReLU in its place", "are ReLU already"),
    ],
)
def test_advice_names_the_activations_that_there_are(activations: tuple[str, ...], said: str, unsaid: str) -> None:
    """Networks of ReLU were told to replace their sigmoids."""
    (told,) = judge_health([finding("VanishingGradient", 10)], [], network=SeenNetwork(activations)).telling
    assert said in told.try_this
    assert unsaid not in told.try_this


def test_findings_of_steps_that_were_replaced_no_longer_count(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run")
    _, lease = run.begin_attempt(from_step=0)
    with_attempt = [finding("VanishingGradient", step, attempt=0) for step in (10, 60)]
    writer = run.writer(FINDINGS, WriterId("watch", "watcher_0", 0))
    append_findings(writer, with_attempt)
    writer.close()
    lease.release(RunState.FAILED)
    assert health_of(run, RunState.FAILED).warnings == 2
    run.begin_attempt(from_step=50)
    health = health_of(run, RunState.RUNNING)
    assert [one.step for one in health.telling] == [10]
    assert health.warnings == 1


def test_what_a_watcher_said_is_checked_with_the_rest_of_the_run(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run")
    write_watch(run.storage, "watcher_0", dict(WATCH))
    assert health_of(run, RunState.FINISHED).verdict == "healthy"
    assert run.verify() == []
    path = run.path / "watch" / "watcher_0.json"
    path.write_bytes(path.read_bytes().replace(b"SILENT", b"FIRED!"))
    assert [one.path for one in run.verify()] == ["watch/watcher_0.json"]
    assert health_of(run, RunState.FINISHED).verdict == "not checked"
