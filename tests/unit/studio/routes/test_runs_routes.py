"""The routes of the table of runs, over runs that the real writers made."""

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from cutaway.cli.run_facts import compare_runs
from cutaway.run import Finding, Run, RunState, find_run
from cutaway.run.annotations import annotate
from tests.unit.studio.index.small_runs import make_run, spoil
from tests.unit.studio.one_run import Asked, studio_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make_run(tmp_path / "first", config={"lr": 0.1, "model": "ViT"}, seed=1, created="2026-01-01T00:00:00+00:00")
    make_run(
        tmp_path / "group" / "second",
        steps=40,
        state=RunState.FAILED,
        config={"lr": 0.01, "model": "MLP", "only": "here", "password": "hunter2"},
        findings=[Finding("DeadRelu", "error", "Dead.", where={"step": 1, "attempt": 0})],
        created="2026-01-02T00:00:00+00:00",
    )
    make_run(tmp_path / "third", state=None, config={}, created="2026-01-03T00:00:00+00:00")
    return tmp_path


@pytest.fixture
def asked(root: Path) -> Iterator[Asked]:
    with studio_of(root) as studio:
        yield studio


def runs(asked: Asked, **params: Any) -> dict[str, Any]:
    answer = asked.client.get("/api/runs", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


def names(asked: Asked, **params: Any) -> list[str]:
    return [row["name"] for row in runs(asked, **params)["data"]]


def test_all_runs_are_listed_the_newest_first(asked: Asked) -> None:
    page = runs(asked)
    assert (page["total"], page["offset"], page["limit"]) == (3, 0, 100)
    third, second, first = page["data"]
    assert [third["name"], second["name"], first["name"]] == ["third", "second", "first"]
    assert [row["state"] for row in page["data"]] == ["running", "failed", "finished"]
    assert second["folder"] == "group/second"
    assert second["health"]["verdict"] == "sick"
    assert (second["steps"], second["epochs"], second["findings"], second["seconds"]) == (40, 20, 1, 39.0)
    assert second["loss"]["name"] == "loss"
    assert len(second["loss"]["values"]) == 40


def test_runs_are_sorted_filtered_searched_and_paged(asked: Asked) -> None:
    assert names(asked, sort="name") == ["first", "second", "third"]
    assert names(asked, sort="config.lr") == ["second", "first", "third"]
    assert names(asked, sort="-config.lr") == ["first", "second", "third"]
    assert names(asked, where=["config.lr < 0.05"]) == ["second"]
    assert names(asked, where=["state != 'running'", "config.model in ViT,MLP"], sort="created") == ["first", "second"]
    assert names(asked, search="group SEC") == ["second"]
    assert names(asked, limit=1, offset=1) == ["second"]
    assert names(asked, offset=99) == []


def test_cells_have_the_columns_that_were_asked_for(asked: Asked) -> None:
    page = runs(asked, columns=["config.lr", "scalar.loss.TRAIN.min", "identity.seed", "state"], sort="name")
    assert [row["cells"]["config.lr"] for row in page["data"]] == [0.1, 0.01, None]
    assert page["data"][0]["cells"]["scalar.loss.TRAIN.min"] == 0.25
    assert page["data"][0]["cells"]["identity.seed"] == 1
    assert page["data"][2]["cells"]["state"] == "running"


def test_columns_say_what_they_hold(asked: Asked) -> None:
    columns = {one["name"]: one for one in asked.client.get("/api/runs/columns").json()["data"]}
    assert columns["config.lr"] | {"title": ""} == {
        "name": "config.lr",
        "title": "",
        "group": "config",
        "kind": "number",
        "runs": 2,
        "min": 0.01,
        "max": 0.1,
        "different": 2,
    }
    assert columns["created"]["kind"] == "time"
    assert columns["scalar.loss.TRAIN.last"]["title"] == "loss (TRAIN), last"
    assert columns["config.model"]["kind"] == "text"
    assert columns["baseline"]["kind"] == "flag"


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"where": "config.lrr < 1"}, "config.lr"),
        ({"where": "__import__('os')"}, "not a condition"),
        ({"where": "config.lr < x"}, "'x'"),
        ({"sort": "nmae"}, "name"),
        ({"columns": "config.modell"}, "config.model"),
        ({"limit": "100000"}, "limit"),
        ({"offset": "-1"}, "offset"),
        ({"search": "x" * 300}, "search"),
        ({"where": ["state = x"] * 21}, "where"),
    ],
)
def test_what_cannot_be_asked_is_answered_with_400(params: dict[str, Any], said: str, asked: Asked) -> None:
    answer = asked.client.get("/api/runs", params=params)
    assert answer.status_code == 400
    error = answer.json()
    assert error["ok"] is False
    assert said in error["error"] + error["hint"]


def patch(asked: Asked, run: str, **change: Any) -> Any:
    return asked.client.patch(f"/api/runs/{run}/annotations", json=change, headers={"Origin": "http://127.0.0.1"})


def test_tags_and_notes_are_written_and_shown_at_once(asked: Asked, root: Path) -> None:
    run = asked.id_of("first")
    answer = patch(asked, run, tags=[" a ", "b", "a"], note="line\nline\x1b")
    assert answer.json()["data"] == {"tags": ["a", "b"], "note": "line\nline", "baseline": False}
    assert names(asked, where="tags = b") == ["first"]
    assert names(asked, search="line") == ["first"]
    document = Run.open(root / "first").document("annotations.json")
    assert document is not None
    assert document["tags"] == ["a", "b"]
    assert patch(asked, run, note="new").json()["data"]["tags"] == ["a", "b"]


def test_a_new_baseline_takes_the_place_of_the_last(asked: Asked) -> None:
    for name in ("first", "second"):
        assert patch(asked, asked.id_of(name), baseline=True).status_code == 200
    assert [row["name"] for row in runs(asked)["data"] if row["baseline"]] == ["second"]
    patch(asked, asked.id_of("second"), baseline=False)
    assert not any(row["baseline"] for row in runs(asked)["data"])


def test_what_cannot_be_written_is_refused_in_words(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    run = asked.id_of("first")
    assert patch(asked, "nobody", note="x").status_code == 404
    assert patch(asked, run, tags=["x" * 101]).status_code == 400
    assert patch(asked, run, tags=["x"] * 101).status_code == 400
    assert patch(asked, run, note="x" * 100_001).status_code == 400
    assert patch(asked, run, other=1).status_code == 400

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "open", refuse)
    answer = patch(asked, run, note="x")
    assert answer.status_code == 400
    assert "Read-only" in answer.json()["error"]


def test_runs_are_compared_in_the_order_asked(asked: Asked) -> None:
    order = [asked.id_of(name) for name in ("second", "first", "third")]
    answer = asked.client.get("/api/compare", params={"run": order})
    compared = answer.json()["data"]
    assert [row["id"] for row in compared["runs"]] == order
    config = {row["key"]: row for row in compared["config"]}
    assert config["config.lr"] == {"key": "config.lr", "values": ["0.01", "0.1", None], "differs": True}
    assert config["config.only"]["values"] == ["here", None, None]
    assert config["identity.framework"] == {
        "key": "identity.framework",
        "values": ["torch"] * 3,
        "differs": False,
    }
    assert config["identity.seed"]["values"] == [None, "1", None]
    assert "hunter2" not in answer.text
    scalars = {one["series"]: one for one in compared["scalars"]}
    assert set(scalars) == {"loss@TRAIN", "lr@TRAIN"}
    assert scalars["loss@TRAIN"]["count"] == 48
    assert (scalars["loss@TRAIN"]["min"], scalars["loss@TRAIN"]["last_step"]) == (1 / 40, 39)
    assert scalars["loss@TRAIN"]["group"] == "loss"


def test_runs_with_the_same_settings_differ_in_corrections_data_and_code(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    plain, corrected = (
        make_run(root / name, git=commit) for name, commit in (("plain", "a" * 40), ("fixed", "b" * 40))
    )
    told = {"name": "fix-1", "path": "/x", "digest": "d" * 64, "corrections": {"label": 12}, "read": []}
    corrected.write_document("overlay.json", told)
    for run, digest in ((plain, "1" * 64), (corrected, "2" * 64)):
        subsets = {"training": {"samples": 100}}
        source = {"state": "finished", "binding": {"digest": digest, "path": "/x"}, "subsets": subsets}
        run.write_document("samples/0/source.json", source)
    make_run(root / "bare", git="a" * 40)
    with studio_of(root) as asked:
        ids = [asked.id_of(name) for name in ("plain", "fixed", "bare")]
        answer = asked.client.get("/api/compare", params={"run": ids})
    config = {row["key"]: row for row in answer.json()["data"]["config"]}
    differing = {key for key, row in config.items() if row["differs"]}
    assert differing == {
        *("overlay.name", "overlay.digest", "overlay.corrections.label"),
        *("data.digest", "identity.git"),
    }
    assert config["overlay.corrections.label"]["values"] == [None, "12", None]
    assert config["data.digest"]["values"] == ["1" * 16, "2" * 16, None]
    # Of a run that was not evaluated the data are not known, which is no difference.
    assert config["data.samples.training"] == {
        "key": "data.samples.training",
        "values": ["100", "100", None],
        "differs": False,
    }
    assert '"/x"' not in answer.text
    lines = compare_runs([plain, corrected]).to_dict()["data"]["different"]
    assert lines["overlay.corrections.label"] == [None, 12]


def test_runs_with_the_same_of_everything_do_not_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        make_run(tmp_path / "runs" / name)
    with studio_of(tmp_path / "runs") as asked:
        ids = [asked.id_of(name) for name in ("a", "b")]
        answer = asked.client.get("/api/compare", params={"run": ids}).json()["data"]
    assert [row["key"] for row in answer["config"] if row["differs"]] == []
    assert [find_run(command).id for command in answer["commands"]] == ids


def curves(asked: Asked, runs_asked: list[str], **params: Any) -> pa.Table:
    answer = asked.client.get("/api/compare/curves.arrow", params={"run": runs_asked, **params})
    assert answer.status_code == 200, answer.text
    return pa.ipc.open_stream(io.BytesIO(answer.content)).read_all()


def test_the_curves_of_several_runs_come_as_one_table(asked: Asked) -> None:
    second, first = asked.id_of("second"), asked.id_of("first")
    table = curves(asked, [second, first], series="loss@TRAIN")
    assert table["run"].to_pylist() == [second] * 40 + [first] * 4
    assert table["value"].to_pylist()[:2] == [1.0, 0.5]
    assert table.column_names == ["run", "step", "epoch", "time", "value", "min", "max", "nonfinite"]
    thin = curves(asked, [second, first], series="loss@TRAIN", points=10)
    assert thin["run"].to_pylist() == [second] * 10 + [first] * 4
    assert second.encode() in thin.schema.metadata[b"thinned"]
    assert first.encode() not in thin.schema.metadata[b"thinned"]


def test_a_run_without_the_series_has_no_rows_and_if_none_has_it_that_is_said(asked: Asked, root: Path) -> None:
    Run.create(root / "empty")
    with studio_of(root) as again:
        empty, first = again.id_of("empty"), again.id_of("first")
        table = curves(again, [empty, first], series="loss@TRAIN")
        assert set(table["run"].to_pylist()) == {first}
        answer = again.client.get("/api/compare/curves.arrow", params={"run": [first], "series": "los@TRAIN"})
        assert answer.status_code == 404
        assert "loss@TRAIN" in answer.json()["hint"]
        assert again.client.get("/api/compare", params={"run": ["nobody"]}).status_code == 404
        assert again.client.get("/api/compare").status_code == 400


HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m\u202e" + "x" * 10_000


def test_hostile_and_damaged_runs_do_not_break_the_list(root: Path) -> None:
    run = make_run(root / "<b>bold", config={HOSTILE: HOSTILE, "\ud800": 1}, project=HOSTILE)
    annotate(run, tags=[HOSTILE, "\ud800"], note=HOSTILE * 3)
    spoil(make_run(root / "spoiled").path / "run.json")
    newer = make_run(root / "newer")
    newer.identity["format"] = 7
    newer.save_identity()
    shutil.copytree(root / "first", root / "copy of first")
    (make_run(root / "half").path / "run.json").unlink()
    with studio_of(root) as asked:
        page = runs(asked)
        rows = {row["name"]: row for row in page["data"]}
        assert page["total"] == 8
        assert rows["newer"]["state"] == rows["half"]["state"] == "unknown"
        assert "format 7" in rows["newer"]["health"]["sentence"]
        assert "run.json" in rows["half"]["health"]["sentence"]
        assert "run.json" in rows["spoiled"]["health"]["sentence"]
        assert rows["first"]["id"] != rows["copy of first"]["id"]
        text = asked.client.get("/api/runs").text + asked.client.get("/api/runs/columns").text
        assert str(root) not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert len(text) < 100_000
        for column in asked.client.get("/api/runs/columns").json()["data"]:
            runs(asked, sort=column["name"], columns=[column["name"]])
