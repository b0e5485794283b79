"""Insights are findings of their run: written once, about the samples, and no illness of the training."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.analysis import Population
from cutaway.analysis.insights.records import record_insights
from cutaway.rules.health import health_of
from cutaway.run import Run
from tests.unit.analysis.kinds import evaluated_kind

pytest.importorskip("torch")


def _recorded(tmp_path: Path) -> tuple[Run, Population]:
    folder, _ = evaluated_kind("logits", tmp_path / "run")
    population = Population.open(folder)
    assert population.insights().num_rows
    return Run.open(folder), population


def test_each_insight_is_a_finding_with_its_words_and_where(tmp_path: Path) -> None:
    run, population = _recorded(tmp_path)
    found = run.findings()
    rows = population.insights().to_pylist()
    assert {one.message for one in found} == {f"{row['reason']} {row['action']}" for row in rows}
    assert {one.source for one in found} == {"analyze"}
    assert all(one.where["evaluation"] == 0 for one in found)


def test_asking_again_writes_nothing_more(tmp_path: Path) -> None:
    run, population = _recorded(tmp_path)
    before = len(run.findings())
    assert population.origin is not None
    assert record_insights(population.origin, population.find_insights()) == 0
    Population.open(run).insights()
    assert len(run.findings()) == before


def test_insights_make_no_training_sick(tmp_path: Path) -> None:
    run, _ = _recorded(tmp_path)
    assert health_of(run, run.state()).verdict == "not checked"


def test_a_folder_that_cannot_be_written_costs_the_findings_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder, _ = evaluated_kind("logits", tmp_path / "run")
    population = Population.open(folder)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cutaway.analysis.insights.records.append_findings", full)
    assert population.insights().num_rows
    assert "cannot be recorded" in caplog.text
    assert Run.open(folder).findings() == []
