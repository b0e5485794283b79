"""Findings: written once, read back oldest first, whatever they carry."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.run import Finding, Run, WriterId
from cutaway.run.findings import SEVERITIES, Severity, append_findings, is_of_rule, stamped, subject_of
from cutaway.run.schemas import FINDINGS


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run")


def _write(run: Run, *findings: Finding, role: str = "watch") -> None:
    writer = run.writer(FINDINGS, WriterId(role, "worker_0", 0))
    append_findings(writer, findings)
    writer.close()


def test_findings_read_back_oldest_first(run: Run) -> None:
    late = Finding(
        "vanishing", "warning", "Gradients vanish.", {"step": 7, "tensor": "fc1"}, {"share": 0.5}, "rule", 2.0
    )
    early = Finding("capture-stopped", "error", "Die Platte ist voll: 名前.", time=1.0)
    _write(run, late, early)
    assert run.findings() == [early, late]


def test_a_run_without_findings_has_none(run: Run) -> None:
    _write(run)
    assert run.findings() == []
    assert run.storage.list(FINDINGS) == []


def test_a_finding_that_was_written_twice_is_shown_once(run: Run) -> None:
    finding = Finding("nan", "error", "A loss is NaN.")
    _write(run, finding)
    _write(run, finding, role="train")
    assert run.findings() == [finding]


def test_the_same_watcher_may_come_again(run: Run) -> None:
    first, second = Finding("a", "info", "1", time=1.0), Finding("b", "info", "2", time=2.0)
    _write(run, first)
    _write(run, second)
    assert run.findings() == [first, second]


@pytest.mark.parametrize("where", [{}, {"step": None}, {"step": "7"}, {"step": 2.5}, {"step": 3}])
def test_a_place_need_not_be_a_step(run: Run, where: dict[str, object]) -> None:
    _write(run, Finding("a", "info", "somewhere", where))
    assert run.findings()[0].where == where


def test_evidence_that_json_does_not_know_becomes_text(run: Run) -> None:
    _write(run, Finding("a", "info", "x", evidence={"path": Path("a/b"), "nan": float("nan")}))
    evidence = run.findings()[0].evidence
    assert evidence["path"] == "a/b"
    assert evidence["nan"] != evidence["nan"]


@pytest.mark.parametrize(
    ("source", "severity", "read"),
    [
        ("capture worker_0", "warning", "info"),
        ("capture worker_0", "error", "error"),
        ("capture worker_0", "info", "info"),
        ("watch", "warning", "warning"),
        ("captured", "warning", "warning"),
        ("", "warning", "warning"),
    ],
)
def test_what_could_not_be_recorded_is_a_note_and_no_warning_about_the_training(
    run: Run, source: str, severity: Severity, read: Severity
) -> None:
    _write(run, Finding("writer-behind", severity, "Some steps are not recorded.", source=source))
    assert [one.severity for one in run.findings()] == [read]


@pytest.mark.parametrize(
    ("source", "subject"),
    [("analyze", "samples"), ("capture worker_1", "recording"), ("watch", "training"), ("hook", "training")],
)
def test_a_finding_is_about_the_training_its_samples_or_the_recording(source: str, subject: str) -> None:
    assert subject_of(Finding("a", "info", "x", source=source)) == subject


@pytest.mark.parametrize(("evidence", "said"), [({"parameters": {}}, True), ({"value": 1.0}, False)])
def test_a_rule_names_its_parameters(evidence: dict[str, object], said: bool) -> None:
    assert is_of_rule(Finding("DeadRelu", "warning", "x", evidence=evidence)) is said


def test_severities_grow() -> None:
    assert SEVERITIES == ("info", "warning", "error")


class TestAStampedFinding:
    own = Finding("VanishingGradient", "warning", "Gradients vanish.", {"step": 7}, {"value": 0.0}, time=1.0, id="own")

    def test_says_which_attempt_it_is_of_and_who_looked(self) -> None:
        found = stamped(self.own, "run-1", 2, "hook")
        assert found.where == {"step": 7, "attempt": 2}
        assert found.source == "hook"
        assert (found.code, found.message, found.evidence, found.time) == (
            self.own.code,
            self.own.message,
            self.own.evidence,
            1.0,
        )
        assert self.own.where == {"step": 7}

    def test_has_the_same_id_whoever_looked(self) -> None:
        hook, watch = stamped(self.own, "run-1", 0, "hook"), stamped(self.own, "run-1", 0, "watch")
        assert hook.id == watch.id
        assert len(hook.id) == 32
        assert int(hook.id, 16) >= 0

    def test_has_another_id_in_another_run_attempt_or_finding(self) -> None:
        other = Finding("VanishingGradient", "warning", "Gradients vanish.", {"step": 8}, id="other")
        ids = {
            stamped(self.own, "run-1", 0, "hook").id,
            stamped(self.own, "run-2", 0, "hook").id,
            stamped(self.own, "run-1", 1, "hook").id,
            stamped(other, "run-1", 0, "hook").id,
            self.own.id,
        }
        assert len(ids) == 5

    def test_by_two_who_looked_is_shown_once(self, run: Run) -> None:
        _write(run, stamped(self.own, run.id, 0, "hook"), role="train")
        _write(run, stamped(self.own, run.id, 0, "watch"))
        assert [one.code for one in run.findings()] == ["VanishingGradient"]
