"""Insights over HTTP: as the run keeps them, each with samples that show it and the test that it would become."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.analysis import Population
from cutaway.analysis.insights import Insight, insight_table
from tests.unit.studio.one_run import Asked

KEPT = "samples/0/joint.insights.latent.parquet"


@pytest.fixture(scope="module")
def made(evaluated_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = Path(shutil.copytree(evaluated_once, tmp_path_factory.mktemp("insights") / "insects"))
    with Population.open(run) as population:
        population.ranked_insights()
    return run


def _keep(run: Path, *insights: Insight) -> None:
    """Keep insights as an analysis does."""
    with Population.open(run) as population:
        origin = population.keeping
        assert origin is not None
        origin.keep("insights", {"seed": 0}, insight_table(insights), ["Looked at everything."], words=[])


def _insight(**more: Any) -> Insight:
    weak = Insight(
        "low-performance", "wide ones: error 40 %", np.ones(40, bool), "validation/3", 0.5, ("metadata.width > 1",),
        "validation", 0.1, "error", 0.4, 0.05, 0.2, 0.5, 0.001, "Collect more.", "At most 3 %.",
    )  # fmt: skip
    return replace(weak, **more)


def test_what_a_real_analysis_found_is_told_whole(asked: Asked) -> None:
    answer = asked.data("insects", "/insights")
    assert answer["made"] is True
    found = {one["kind"]: one for one in answer["insights"]}
    wrong = found["mislabeled-samples"]
    assert 10 <= wrong["count"] <= 12
    assert {f"training/{row}" for row in range(12)} >= set(wrong["samples"])
    assert len(wrong["samples"]) == wrong["count"]
    assert wrong["action"]
    assert wrong["test"] is None
    severities = [one["severity"] for one in answer["insights"]]
    assert severities == sorted(severities, reverse=True)
    assert len({one["id"] for one in answer["insights"]}) == len(answer["insights"])


def test_a_weak_slice_comes_with_its_samples_of_the_highest_loss_and_its_test(asked: Asked, run: Path) -> None:
    _keep(run, _insight())
    answer = asked.data("insects", "/insights")
    [one] = answer["insights"]
    assert one["where"] == ["metadata.width > 1"]
    assert one["test"].startswith("accuracy where metadata.width > 1 at least 0.")
    assert one["samples"][0] == "validation/3"
    assert len(one["samples"]) == 12
    loaded = asked.studio.populations.of(asked.id_of("insects"))
    losses = [loaded.column("loss")[loaded.row_of(sample)].as_py() for sample in one["samples"][1:]]
    assert losses == sorted(losses, reverse=True)
    assert all(sample.startswith("validation/") for sample in one["samples"])
    assert answer["notes"] == ["Looked at everything."]


def test_of_several_subsets_all_are_shown(asked: Asked, run: Path) -> None:
    _keep(run, _insight(subset="training and validation", sample="training/0"))
    [one] = asked.data("insects", "/insights")["insights"]
    assert {sample.partition("/")[0] for sample in one["samples"]} == {"training", "validation"}


def test_a_slice_that_is_too_small_for_a_test_has_none(asked: Asked, run: Path) -> None:
    _keep(run, _insight(where=("metadata.width > 99",)))
    [one] = asked.data("insects", "/insights")["insights"]
    assert one["test"] is None
    assert one["samples"] == ["validation/3"]


def test_conditions_that_nobody_can_follow_harm_nobody(asked: Asked, run: Path) -> None:
    _keep(run, _insight(where=("metadata.nothing > 1",), p=float("nan"), words="<b>"))
    [one] = asked.data("insects", "/insights")["insights"]
    assert (one["test"], one["p"], one["samples"]) == (None, None, ["validation/3"])


def test_where_nobody_looked_that_is_said(asked: Asked, run: Path) -> None:
    (run / KEPT).unlink()
    assert asked.data("insects", "/insights") == {"evaluation": 0, "made": False, "insights": [], "notes": []}


def test_a_damaged_table_counts_as_not_made_and_is_said(asked: Asked, run: Path) -> None:
    (run / KEPT).write_bytes(b"PAR1 nothing")
    answer = asked.data("insects", "/insights")
    assert answer["made"] is False
    assert "insights" in answer["notes"][0]


def test_a_run_without_that_evaluation_is_not_found(asked: Asked) -> None:
    assert asked.get("insects", "/insights", evaluation=9).status_code == 404
