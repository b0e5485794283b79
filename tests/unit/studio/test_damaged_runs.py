"""Whatever is wrong with a run folder: no route fails, the rest is shown, and what is damaged is named."""

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cutaway.run.findings import Finding, append_findings
from cutaway.run.schemas import FINDINGS, VALUES
from cutaway.run.segments import WriterId
from cutaway.testing.rules import ScriptedRun
from tests.unit.studio.one_run import Asked, studio_of

NAME = "fc.weight"
PATHS = (
    *(
        "",
        "/scalars",
        "/curves.arrow?series=loss@TRAIN",
        "/steps",
        "/samples",
        "/samples?from=0",
        "/layers",
        "/tensors",
    ),
    *(f"/tensor?name={NAME}", f"/tensor/series.arrow?name={NAME}", f"/tensor/histogram?name={NAME}&step=3"),
    *(f"/tensor/values.arrow?name={NAME}&step=3", "/tensors/overview.arrow", "/findings", "/findings/f", "/requests"),
    *(
        "/preview?sample=training/0",
        "/previews?sample=training/0",
        "/tensors",
        "/tensors?sort=-saved_steps",
        "/steps?offset=9007199254740992",
    ),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    scripted = ScriptedRun()
    for step in range(40):
        scripted.step(
            tensors={NAME: np.arange(4.0) + step, "gradient/fc.weight": np.ones(4)},
            scalars={"loss": 1.0 / (step + 1)},
            samples=[f"training/{step}"],
            save=step % 3 == 0,
            epoch=step // 10,
            seconds={"forward": 0.1},
        )
    run = scripted.write(tmp_path_factory.mktemp("whole") / "run")
    run.write_config({"lr": 0.1})
    for table, rows in ((VALUES, {"step": [3], "sample": ["training/3"], "name": ["loss"], "value": [1.0]}),):
        writer = run.writer(table, WriterId("train", "worker_0", 0))
        writer.append_rows(rows, 3)
        writer.close()
    found = run.writer(FINDINGS, WriterId("watch", "watcher_0", 0))
    append_findings(found, [Finding("LossSpike", "error", "A spike.", where={"step": 3}, id="f")])
    found.close()
    (run.path / "previews").mkdir()
    (run.path / "previews" / "training.arrow").write_bytes(b"ARROW1\0\0 and nothing more")
    return run.path


@pytest.fixture
def copied(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "runs" / "run"))


@pytest.fixture
def studio(copied: Path) -> Iterator[Asked]:
    with studio_of(copied.parent) as asked:
        yield asked


def statuses(studio: Asked) -> dict[str, int]:
    run = studio.id_of("run")
    return {path: studio.client.get(f"/api/runs/{run}{path}").status_code for path in PATHS}


def files(run: Path) -> list[Path]:
    return sorted(path for path in run.rglob("*") if path.is_file())


def test_a_whole_run_answers_everywhere(studio: Asked) -> None:
    found = statuses(studio)
    assert {path for path, status in found.items() if status != 200} == {"/preview?sample=training/0"}
    assert studio.data("run")["damage"] == []


@pytest.mark.parametrize("seed", range(12))
def test_flipped_bits_cost_what_they_hit_and_never_an_answer(copied: Path, seed: int) -> None:
    rng = random.Random(seed)
    for path in rng.sample(files(copied), 3):
        content = bytearray(path.read_bytes())
        for _ in range(3):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
    with studio_of(copied.parent) as studio:
        assert max(statuses(studio).values()) < 500


@pytest.mark.parametrize("place", range(3))
def test_files_that_are_cut_short_or_gone(copied: Path, place: int) -> None:
    for number, path in enumerate(files(copied)):
        if path.name != "run.json" and number % 3 == place:
            os.truncate(path, path.stat().st_size // 2)
        elif path.name != "run.json" and number % 7 == place:
            path.unlink()
    with studio_of(copied.parent) as studio:
        assert max(statuses(studio).values()) < 500


@pytest.mark.parametrize("table", ["scalars", "trace/steps", "trace/tensors", "trace/statistics", "findings", "values"])
def test_a_damaged_table_is_named(copied: Path, table: str) -> None:
    path = next((copied / table).glob("*.arrow"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)
    with studio_of(copied.parent) as studio:
        found = statuses(studio)
        assert max(found.values()) < 500
        assert found[""] == 200
        damage = studio.data("run")["damage"]
        assert any(one["path"].startswith(table) for one in damage)
        assert all(str(copied.parent) not in str(one) for one in damage)


def test_a_configuration_that_is_none(copied: Path) -> None:
    (copied / "config.yaml").write_text("- a\n- list: [\n")
    with studio_of(copied.parent) as studio:
        detail = studio.data("run")
        assert detail["config"] == {}
        assert [one["path"] for one in detail["damage"]] == ["config.yaml"]


def test_folders_and_links_in_the_place_of_files(copied: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("do not show this")
    shutil.rmtree(copied / "findings")
    (copied / "findings").symlink_to(tmp_path)
    (copied / "config.yaml").unlink()
    (copied / "config.yaml").mkdir()
    (copied / "previews" / "training.arrow").unlink()
    (copied / "previews" / "training.arrow").mkdir()
    (copied / "control").write_text("a file")
    with studio_of(copied.parent) as studio:
        assert max(statuses(studio).values()) < 500


def test_a_run_that_is_removed_while_it_is_open(studio: Asked, copied: Path) -> None:
    run = studio.id_of("run")
    assert studio.client.get(f"/api/runs/{run}").status_code == 200
    shutil.rmtree(copied)
    for path in PATHS:
        answer = studio.client.get(f"/api/runs/{run}{path}")
        assert answer.status_code == 404, path
        assert answer.json()["hint"]
        assert str(copied.parent) not in answer.text


def test_a_run_that_is_being_written(tmp_path: Path) -> None:
    scripted = ScriptedRun()
    scripted.step(tensors={NAME: np.ones(4)}, scalars={"loss": 1.0})
    scripted.begin(tmp_path / "runs" / "run")
    with studio_of(tmp_path / "runs") as studio:
        for step in range(1, 30):
            scripted.step(tensors={NAME: np.ones(4) * step}, scalars={"loss": 1.0 / step}, save=True)
            if step % 5 == 0:
                assert max(statuses(studio).values()) < 500
                table = studio.arrow("run", "/curves.arrow", series="loss@TRAIN")
                assert table["step"].to_pylist() == list(range(step + 1))
                assert studio.data("run", "/tensors")[0]["last_step"] == step
        scripted.end()
        assert studio.data("run")["attempts"][0]["state"] == "finished"


def test_files_that_are_cut_short_while_their_run_is_open(studio: Asked, copied: Path) -> None:
    """As when somebody copies a run over itself: a mapped page that its file no longer has ends the whole process."""
    assert max(statuses(studio).values()) < 500
    for path in (*copied.rglob("*.arrow"), *copied.rglob("*.bin")):
        os.truncate(path, 0)
    assert max(statuses(studio).values()) < 500
    assert not hasattr(studio.studio.index.run_of(studio.id_of("run")).storage, "map")
