"""Run folders that somebody else made: nobody waits for a pipe, nothing fills the memory, what is wrong is named."""

import fcntl
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cutaway.errors import RunDamaged, RunFormatError
from cutaway.run import Run, WriterId, list_runs
from cutaway.run import annotations as annotations_module
from cutaway.run.annotations import annotate, read_annotations
from cutaway.run.checksum import CHECKSUM, checksum_function
from cutaway.run.documents import read_yaml
from cutaway.run.overlay_use import overlay_of
from cutaway.run.preview import preview
from cutaway.run.raw_file import RawFile
from cutaway.run.storage import LocalStorage
from cutaway.testing.rules import ScriptedRun
from cutaway.trial import create_trial, scalar_series
from cutaway.trial.run_totals import RunTotals

HUGE = 20 << 30


@pytest.fixture
def run(tmp_path: Path) -> Run:
    scripted = ScriptedRun()
    for step in range(5):
        scripted.step(tensors={"fc.weight": np.arange(4.0)}, scalars={"loss": 1.0 / (step + 1)}, save=True)
    found = scripted.write(tmp_path / "runs" / "run")
    found.write_config({"lr": 0.1})
    return found


def pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def huge(path: Path) -> None:
    """Make a file that takes no room on the disk, and all memory of whoever reads it."""
    with path.open("ab") as file:
        file.truncate(HUGE)


def sealed(path: Path, content: dict[str, object]) -> None:
    body = json.dumps({**content, "crc": ""}, indent=1).encode().removesuffix(b'"\n}')
    path.write_bytes(body + f'{CHECKSUM}:{checksum_function(CHECKSUM)(body):08x}"\n}}\n'.encode())


@pytest.mark.parametrize("put", [pipe, huge])
class TestPipesAndHugeFiles:
    def test_in_the_place_of_the_identity(self, run: Run, put: Callable[[Path], None]) -> None:
        put(run.path / "run.json")
        found = Run.open(run.path)
        assert [one.path for one in found.damage] == ["run.json"]
        assert create_trial(run.path).steps() == list(range(5))

    def test_in_the_place_of_the_settings(self, run: Run, put: Callable[[Path], None]) -> None:
        put(run.path / "config.yaml")
        if put is pipe:
            assert run.config() == {}
        else:
            with pytest.raises(RunFormatError, match="larger than"):
                run.config()

    def test_in_the_place_of_what_people_wrote(self, run: Run, put: Callable[[Path], None]) -> None:
        put(run.path / "annotations.json")
        with pytest.raises(RunDamaged):
            read_annotations(run)

    def test_in_the_place_of_an_index(self, run: Run, put: Callable[[Path], None]) -> None:
        put(next((run.path / "scalars").glob("*.idx")))
        trial = create_trial(run.path)
        assert trial.scalar_series() == {}
        assert trial.steps() == list(range(5))
        assert preview(run, "scalars", 5) is None
        totals = RunTotals(run)
        totals.poll()
        assert dict(totals.series) == {}


def test_folders_in_the_place_of_documents_are_damage(run: Run) -> None:
    (run.path / "run.json").unlink()
    (run.path / "run.json").mkdir()
    (run.path / "overlay.json").mkdir()
    assert [one.reason for one in Run.open(run.path).damage] == ["it is a folder"]
    assert overlay_of(run) is None


@pytest.mark.parametrize("version", ["1", None, [1], {"a": 1}, float("nan")])
def test_a_format_that_is_no_number_is_damage_and_hides_no_other_run(run: Run, version: object) -> None:
    sealed(run.path / "run.json", {**Run.open(run.path).identity, "format": version})
    assert [one.reason for one in Run.open(run.path).damage] == ["its format is no number"]
    Run.create(run.path.parent / "other")
    assert {one.name for one in list_runs(run.path.parent)} == {"run", "other"}


def test_a_large_file_of_settings_with_many_brackets_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="many brackets"):
        read_yaml(b"a: [" + b"[1],\n" * 200_000 + b"]")
    assert read_yaml(b"a: [" + b"[1],\n" * 1000 + b"]") == {"a": [[1]] * 1000}


def test_a_mapped_file_that_is_cut_short_is_damage_and_not_the_end_of_the_process(tmp_path: Path) -> None:
    whole = bytes(1 << 20)
    (tmp_path / "a.bin").write_bytes(whole)
    file = RawFile(LocalStorage(tmp_path), "a.bin", CHECKSUM)
    file.settle()
    crc = checksum_function(CHECKSUM)(whole)
    assert bytes(file.read(0, len(whole), crc)) == whole
    os.truncate(tmp_path / "a.bin", 4096)
    with pytest.raises(RunDamaged, match="cut short"):
        file.read(0, len(whole), crc)


def test_a_series_for_every_step_does_not_fill_the_memory_and_is_said(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scalar_series, "MOST_SERIES", 100)
    writer = run.writer("scalars", WriterId("train", "worker_0", 1))
    names = [*(f"loss at {i}" for i in range(1000)), "loss"]
    count = len(names)
    writer.append_rows(
        {"name": names, "step": [5] * count, "mode": ["TRAIN"] * count, "value": [1.0] * count, "time": [1.0] * count},
        5,
    )
    writer.close()
    trial = create_trial(run.path)
    series = trial.scalar_series()
    assert len(series) == 100
    assert len(series["loss", "TRAIN"].step) == 6
    assert [one.reason for one in trial.damage] == ["there are more than 100 series; the first 100 are read"]


def test_somebody_who_keeps_the_lock_of_a_folder_keeps_nobody_from_writing(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(annotations_module, "LOCK_SECONDS", 0.1)
    handle = os.open(run.path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert annotate(run, tags=["mine"]).tags == ("mine",)
    finally:
        os.close(handle)


def test_whoever_writes_at_the_same_time_is_waited_for(run: Run) -> None:
    handle = os.open(run.path, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    released = threading.Event()

    def release() -> None:
        released.set()
        os.close(handle)

    threading.Timer(0.3, release).start()
    annotate(run, tags=["mine"])
    assert released.is_set()
