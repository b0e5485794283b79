"""Overlays, and what a run says about them, that came from anybody: refused or left out in words, never believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cutaway.errors import OverlayError
from cutaway.run import Run
from cutaway.run.overlay_use import never_read, overlay_of
from cutaway.run.overlays import Correction, Overlay, overlays, read_overlay, write_overlay

TOLD = {
    "name": "fix-1",
    "path": "fix-1.parquet",
    "digest": "abc",
    "corrections": {"label": 1},
    "read": [{"by": "corrected", "subset": "training", "samples": 1}],
}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run")


@pytest.fixture
def overlay(run: Run) -> Overlay:
    change = Correction("training/7", "label", "cat", "dog", 0.9, "why", "somebody", "today")
    return write_overlay(run, Overlay("fix-1", ("cat", "dog"), (change,)))


def forge(overlay: Overlay, about: dict[str, Any], **columns: Any) -> Path:
    """Write an overlay anew, with other values in each row."""
    assert overlay.path is not None
    table = pq.read_table(overlay.path)
    told = {**json.loads(table.schema.metadata[b"cutaway"]), **about}
    for name, value in columns.items():
        table = table.set_column(table.column_names.index(name), name, pa.array([value] * table.num_rows))
    pq.write_table(table.replace_schema_metadata({b"cutaway": json.dumps(told)}), overlay.path)
    return overlay.path


@pytest.mark.parametrize(
    ("about", "columns"),
    [
        ({"format": float("inf")}, {}),
        ({"format": "new"}, {}),
        ({"classes": 5}, {}),
        ({"about": "x"}, {}),
        ({}, {"sample": None}),
        ({}, {"field": None}),
        ({}, {"old": None}),
        ({}, {"new": "stranger"}),
    ],
)
def test_an_overlay_that_is_none_is_refused_and_not_listed(
    run: Run, overlay: Overlay, about: dict[str, Any], columns: dict[str, Any]
) -> None:
    assert [one.digest for one in overlays(run)] == [overlay.digest]
    path = forge(overlay, about, **columns)
    with pytest.raises(OverlayError):
        read_overlay(path)
    assert overlays(run) == []


def test_an_overlay_without_reasons_is_one(overlay: Overlay) -> None:
    path = forge(overlay, {}, reason=None, who=None, when=None, score=float("nan"))
    [one] = read_overlay(path).corrections
    assert (one.reason, one.who, one.when, one.score) == ("", "", "", None)


@pytest.mark.parametrize(
    "lie",
    [
        {"digest": 3},
        {"path": 7},
        {"corrections": "x"},
        {"corrections": {"label": "x"}},
        {"read": 5},
        {"read": "abc"},
        {"read": [1]},
        {"read": [{}]},
        {"read": [{"by": "corrected", "subset": "training", "samples": "all"}]},
    ],
)
def test_a_record_of_another_shape_says_nothing(run: Run, overlay: Overlay, lie: dict[str, Any]) -> None:
    run.write_document("overlay.json", {**TOLD, "digest": overlay.digest})
    assert never_read(overlay_of(run), overlay) == ()
    run.write_document("overlay.json", {**TOLD, "digest": overlay.digest, **lie})
    assert overlay_of(run) is None
    assert never_read(overlay_of(run), overlay) == ("label",)
