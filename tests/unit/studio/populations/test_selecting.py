"""Selections over HTTP, the column of decisions, and that a page is told when samples change."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx import Response

from cutaway.run.decisions import STUDIO, Decisions, Rejection, write_decisions
from cutaway.run.overlays import Correction, Overlay, overlay_path, write_overlay
from cutaway.run.pulse import Pulse
from cutaway.run.selections import SampleSelection, keep_selection
from tests.unit.studio.a_population import evaluation_of, make
from tests.unit.studio.one_run import Asked, studio_of


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    make(tmp_path, samples=90, evaluations=2)
    with studio_of(tmp_path) as studio:
        yield studio


def keep(asked: Asked, name: str = "odd", evaluation: int | None = None, **selected: Any) -> Response:
    body = {"name": name, "evaluation": evaluation, "selected": selected, "note": "why"}
    return asked.client.post(f"/api/runs/{asked.id_of('made')}/selections", json=body)


def drop(asked: Asked, name: str) -> Response:
    address = f"/api/runs/{asked.id_of('made')}/selections"
    return asked.client.request("DELETE", address, params={"name": name}, json={})


def count(asked: Asked, **params: Any) -> int:
    return int(asked.get("made", "/population/search", **params).json()["total"])


def test_a_selection_is_kept_counted_and_removed(asked: Asked) -> None:
    answer = keep(asked, where=["label = 1"])
    assert answer.status_code == 201, answer.text
    kept = answer.json()["data"]
    assert (kept["count"], kept["evaluation"], kept["note"]) == (count(asked, where="label = 1"), 1, "why")
    assert asked.data("made", "/selections") == [kept]
    assert drop(asked, "odd").status_code == 204
    assert asked.data("made", "/selections") == []
    assert drop(asked, "odd").status_code == 404


def test_conditions_lasso_and_names_hold_together(asked: Asked) -> None:
    names = [f"training/{row}" for row in range(40)]
    both = keep(asked, where=["label = 1"], lasso=[[-99, -99], [99, -99], [99, 99], [-99, 99]], samples=names)
    found = asked.get("made", "/population/search", where="label = 1", limit=1000).json()["data"]
    assert both.json()["data"]["count"] == sum(one["sample"] in names for one in found)


def test_a_download_takes_a_selection_by_its_name(asked: Asked) -> None:
    keep(asked, samples=["training/4", "validation/1", "gone/1"])
    answer = asked.get("made", "/population/samples.csv", selection="odd", form="label")
    assert [one["sample"] for one in csv.DictReader(io.StringIO(answer.text))] == ["training/4", "validation/1"]
    missing = asked.get("made", "/population/samples.csv", selection="od")
    assert (missing.status_code, missing.json()["code"]) == (404, "selection-unavailable")


def test_what_does_not_fit_the_evaluation_is_not_kept(asked: Asked) -> None:
    assert keep(asked, where=["lable = 1"]).status_code == 400
    assert keep(asked, evaluation=9, where=["label = 1"]).status_code == 404
    assert asked.data("made", "/selections") == []


def test_one_that_no_longer_fits_has_no_count(asked: Asked) -> None:
    run = evaluation_of(asked.studio.root).run
    keep_selection(run, SampleSelection("of a gone evaluation", 9))
    keep_selection(run, SampleSelection("of a gone column", 1, where=("metadata.gone = 1",)))
    assert [one["count"] for one in asked.data("made", "/selections")] == [None, None]


def test_a_damaged_selection_is_left_out_and_said(asked: Asked) -> None:
    keep(asked, where=["label = 1"])
    (asked.studio.root / "made" / "selections" / "x.json").write_text("{")
    assert len(asked.data("made", "/selections")) == 1
    assert any("x.json" in note for note in asked.data("made", "/population")["notes"])


@pytest.mark.parametrize("name", ["../../run", "<script>", "a" * 100, "ünï", "…/\\"])
def test_any_name_stays_in_the_folder(asked: Asked, name: str) -> None:
    assert keep(asked, name=name, where=["label = 1"]).status_code == 201
    folder = asked.studio.root / "made" / "selections"
    assert len(list(folder.iterdir())) == 1


def test_decisions_are_a_column_once_somebody_decided(asked: Asked) -> None:
    assert "decision" not in {one["name"] for one in asked.data("made", "/population")["columns"]}
    run = evaluation_of(asked.studio.root).run
    accepted = {("training/3", "label"): Correction("training/3", "label", "0", "1", who=STUDIO)}
    rejected = {"training/5": Rejection("training/5")}
    write_decisions(run, Decisions(accepted, rejected, classes=("0", "1", "2"), truth="class"))
    rows = asked.data("made", "/population/rows", row=[3, 4, 5])
    assert [one["decision"] for one in rows] == ["accepted", None, "rejected"]
    assert count(asked, where="decision = accepted") == 1
    overlay_path(run, STUDIO).write_bytes(b"damaged")
    assert [one["decision"] for one in asked.data("made", "/population/rows", row=[3])] == [None]


class TestPulse:
    def test_evaluations_analyses_overlays_and_selections_are_told_once_each(self, tmp_path: Path) -> None:
        run = make(tmp_path, samples=20, analyses=False)
        pulse = Pulse(run.storage)
        assert pulse.look() == []
        keep_selection(run, SampleSelection("odd", 0, created=1.0))
        assert pulse.look() == ["samples"]
        # As long as before: only what it says of itself differs.
        keep_selection(run, SampleSelection("odd", 1, created=1.0))
        assert pulse.look() == ["samples"]
        write_overlay(run, Overlay("fix-1", ("0", "1"), (Correction("training/3", "label", "0", "1"),), "class"))
        assert pulse.look() == ["samples"]
        write_decisions(run, Decisions(rejected={"training/1": Rejection("training/1")}, classes=("0", "1")))
        assert pulse.look() == ["samples"]
        (evaluation_of(tmp_path).path / "joint.map.latent.parquet").write_bytes(b"a map")
        assert pulse.look() == ["samples"]
        assert pulse.look() == []
