"""Evaluations of strangers: damaged, of wrong types, with numbers that no screen holds. The server never fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cutaway.run.evaluations import Evaluation
from tests.unit.studio.a_population import changed, changed_source, evaluation_of, make
from tests.unit.studio.one_run import Asked, studio_of

ASKED = (
    ("/population", {}),
    ("/population/points.arrow", {}),
    ("/population/columns.arrow", {"column": ["sample", "label", "loss", "cluster", "suspicion"]}),
    ("/population/rows", {"row": [0, 1], "sample": ["training/0"]}),
    ("/population/search", {"text": "1", "where": ["loss > 0"], "lasso": "0,0 5,5"}),
    ("/population/clusters", {}),
    ("/population/samples.csv", {}),
    ("/selections", {}),
)


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    make(tmp_path, samples=120)
    return evaluation_of(tmp_path)


def statuses(root: Path) -> dict[str, int]:
    """Ask for everything; whatever is wrong is said in words, never as a failure of the server."""
    with studio_of(root) as asked:
        found = {}
        for path, params in ASKED:
            answer = asked.get("made", path, **params)
            found[path] = answer.status_code
            assert answer.status_code < 500, (path, answer.text)
            assert answer.status_code == 200 or answer.json()["error"]
        return found


def detail(root: Path) -> dict[str, Any]:
    with studio_of(root) as asked:
        return asked.data("made", "/population")


def test_a_healthy_one_answers_everything(tmp_path: Path, evaluation: Evaluation) -> None:
    assert set(statuses(tmp_path).values()) == {200}
    assert detail(tmp_path)["notes"] == []


MAP = "joint.map.latent.parquet"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", [MAP, "joint.clusters.latent.parquet", "joint.mislabeled.latent.parquet"])
@pytest.mark.parametrize("content", [b"", b"no parquet", None])
def test_a_damaged_analysis_counts_as_not_made_and_is_said(
    tmp_path: Path, evaluation: Evaluation, name: str, content: bytes | None
) -> None:
    path = evaluation.path / name
    path.write_bytes(path.read_bytes()[:300] if content is None else content)
    assert statuses(tmp_path)["/population"] == 200
    assert any(note.startswith("The saved ") for note in detail(tmp_path)["notes"])


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.slice(1),
        lambda table: table.take(list(reversed(range(len(table))))),
        lambda table: table.set_column(1, "x", pa.array(["a"] * len(table))),
        lambda table: table.drop_columns(["y"]),
        lambda table: table.append_column("sample", table["sample"]),
        lambda table: table.set_column(0, "sample", pa.nulls(len(table), pa.string())),
    ],
)
def test_a_map_of_other_samples_is_no_map_of_these(
    tmp_path: Path, evaluation: Evaluation, change: Callable[[pa.Table], pa.Table]
) -> None:
    changed(evaluation.path / MAP, change)
    found = statuses(tmp_path)
    assert (found["/population"], found["/population/points.arrow"]) == (200, 404)


def test_a_map_that_belongs_to_another_evaluation_does_not_count(tmp_path: Path) -> None:
    make(tmp_path, samples=60, evaluations=2)
    first, second = (evaluation_of(tmp_path, number=number) for number in (0, 1))
    (second.path / MAP).write_bytes((first.path / MAP).read_bytes())
    with studio_of(tmp_path) as asked:
        assert asked.get("made", "/population/points.arrow").json()["code"] == "map-unavailable"
        assert asked.get("made", "/population/clusters").status_code == 404


def test_clusters_of_another_map_do_not_count(tmp_path: Path, evaluation: Evaluation) -> None:
    changed(evaluation.path / MAP, lambda table: table.set_column(1, "x", pa.array(np.ones(len(table), np.float32))))
    with studio_of(tmp_path) as asked:
        assert asked.get("made", "/population/clusters").status_code == 404
        assert "cluster" not in {one["name"] for one in asked.data("made", "/population")["columns"]}


def test_places_that_no_screen_holds_are_left_out_and_said(tmp_path: Path, evaluation: Evaluation) -> None:
    def far(table: pa.Table) -> pa.Table:
        x = table["x"].to_numpy().astype(np.float64)
        x[:4] = [1e30, np.inf, np.nan, 1e300]
        return table.set_column(1, "x", pa.array(x))

    changed(evaluation.path / MAP, far)
    with studio_of(tmp_path) as asked:
        table = asked.arrow("made", "/population/points.arrow")
        found = dict(zip(table["row"].to_pylist(), table["x"].to_pylist(), strict=True))
        assert all(np.isnan(found[row]) for row in range(4))
        assert np.isfinite(found[5])
        assert any("farther out" in note for note in asked.data("made", "/population")["map_notes"])


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.set_column(0, "id", pa.array(["same"] * len(table))),
        lambda table: table.set_column(0, "id", pa.nulls(len(table), pa.string())),
        lambda table: table.set_column(0, "id", pa.array(range(len(table)))),
        lambda table: table.set_column(table.column_names.index("loss"), "loss", pa.array(["a"] * len(table))),
        lambda table: table.drop_columns(["error"]),
        lambda table: table.append_column("loss", table["loss"]),
        lambda table: table.append_column("metadata.x", pa.array([{"a": [1]}] * len(table))),
        lambda table: table.append_column("metadata.x", pa.array([b"\xff\xfe"] * len(table))),
        lambda table: table.append_column("metadata.x", pa.array([10**15] * len(table), pa.timestamp("us"))),
        lambda table: table.append_column("metadata.<b>x</b>\n", pa.array(["<script>"] * len(table))),
        lambda table: table.append_column("metadata.x", pa.array([float("inf")] * len(table))),
        lambda table: table.append_column("metadata.x", pa.nulls(len(table))),
        lambda table: table.slice(0, 0),
    ],
)
def test_a_strangers_table_is_shown_or_refused_in_words(
    tmp_path: Path, evaluation: Evaluation, change: Callable[[pa.Table], pa.Table]
) -> None:
    path = evaluation.path / "training.parquet"
    pq.write_table(change(pq.read_table(path)), path)
    statuses(tmp_path)
    with studio_of(tmp_path) as asked:
        answer = asked.get("made", "/population/columns.arrow", column="metadata.x")
        assert answer.status_code < 500, answer.text


def test_texts_that_are_no_utf8_are_shown_as_bytes(tmp_path: Path, evaluation: Evaluation) -> None:
    path = evaluation.path / "training.parquet"
    table = pq.read_table(path)
    broken = pa.array([b"a\xff"] * len(table), pa.binary()).view(pa.string())
    pq.write_table(table.append_column("metadata.x", broken), path)
    with studio_of(tmp_path) as asked:
        names = asked.arrow("made", "/population/columns.arrow", column="metadata.x")["metadata.x"].chunk(0).dictionary
        assert names.to_pylist() == ["a\\xff"]
    statuses(tmp_path)


def test_a_truncated_table_is_refused_in_words(tmp_path: Path, evaluation: Evaluation) -> None:
    path = evaluation.path / "training.parquet"
    path.write_bytes(path.read_bytes()[:500])
    assert set(statuses(tmp_path).values()) <= {200, 422}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "change",
    [
        lambda source: source.update(scores={"pairs": {"scores": {"classes": 10**12}}}),
        lambda source: source.update(scores={"pairs": {"scores": {"classes": "many"}}}),
        lambda source: source["scores"].update(labels={"prediction.scores": {"names": 5}}),
        lambda source: source["scores"].update(labels={"prediction.scores": {"names": [1, None]}}),
        lambda source: source.update(wiring={"predictions": {"output": ["scores"]}}),
        lambda source: source.update(wiring=7),
        lambda source: source.update(subsets={"training": 3}),
        lambda source: source.update(subsets=["training"]),
        lambda source: source.update(subsets={"gone": {"samples": 3}}),
        lambda source: source.update(spaces={}),
        lambda source: source.update(time="yesterday", model=[1], subsets={**source["subsets"], "gone": {}}),
        lambda source: source.update(state="running"),
    ],
)
def test_a_strangers_source_is_shown_or_refused_in_words(
    tmp_path: Path, evaluation: Evaluation, change: Callable[[dict[str, Any]], None]
) -> None:
    changed_source(evaluation, change)
    statuses(tmp_path)


def test_ids_that_two_subsets_share_are_said(tmp_path: Path, evaluation: Evaluation) -> None:
    for name in ("training", "validation"):
        path = evaluation.path / f"{name}.parquet"
        table = pq.read_table(path)
        pq.write_table(table.set_column(0, "id", pa.array([f"a/{row}" for row in range(len(table))])), path)
    found = detail(tmp_path)
    assert any("two samples" in note for note in found["notes"])
    statuses(tmp_path)


def test_a_column_of_very_many_texts_is_folded_and_says_so(tmp_path: Path) -> None:
    make(tmp_path, samples=6000, analyses=False)
    path = evaluation_of(tmp_path).path / "training.parquet"
    table = pq.read_table(path)
    names = ["often"] * 100 + [f"text {row}" for row in range(len(table) - 100)]
    pq.write_table(table.append_column("metadata.name", pa.array(names)), path)
    with studio_of(tmp_path) as asked:
        told = asked.arrow("made", "/population/columns.arrow", column="metadata.name")
        dictionary = told["metadata.name"].chunk(0).dictionary.to_pylist()
        assert len(dictionary) == 4096
        assert dictionary[-1] == "other"
        assert "often" in dictionary
        assert b'"other": 4095' in told.schema.metadata[b"columns"]


def asked_rows(asked: Asked) -> int:
    return int(asked.data("made", "/population")["samples"])


def test_an_evaluation_that_was_written_anew_is_read_anew(tmp_path: Path, evaluation: Evaluation) -> None:
    with studio_of(tmp_path) as asked:
        before = asked_rows(asked)
        path = evaluation.path / "validation.parquet"
        pq.write_table(pq.read_table(path).slice(0, 5), path)
        assert asked_rows(asked) == before - 24 + 5


def test_few_evaluations_are_held_at_a_time(tmp_path: Path) -> None:
    make(tmp_path, samples=20, evaluations=5)
    with studio_of(tmp_path) as asked:
        for number in range(5):
            asked.data("made", "/population/rows", evaluation=number, row=0)
        assert len(asked.studio.populations._held) == 3
