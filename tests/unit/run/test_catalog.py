"""The runs of a folder: found by path, name or prefix, measured, pruned and removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.errors import ConfigurationError, RunLocked, RunNotFound
from cutaway.run import Run, RunState, WriterId, find_run, list_runs, prune_runs, remove_run, run_sizes
from cutaway.run import catalog as module
from cutaway.run.catalog import run_states
from cutaway.run.documents import write_document
from cutaway.run.schemas import STEPS


def _make(root: Path, name: str, day: int) -> Run:
    return Run.create(root / name, created=f"2026-01-{day:02}T00:00:00+00:00")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for day, name in enumerate(("mnist-1", "mnist-10", "cifar"), start=1):
        _make(tmp_path, name, day)
    (tmp_path / "not-a-run").mkdir()
    (tmp_path / "file.txt").write_text("x")
    return tmp_path


def _names(runs: list[Run]) -> list[str]:
    return [run.name for run in runs]


def test_runs_are_listed_newest_first(root: Path) -> None:
    assert _names(list_runs(root)) == ["cifar", "mnist-10", "mnist-1"]


def test_a_folder_that_is_missing_or_a_file_has_no_runs(root: Path) -> None:
    assert list_runs(root / "missing") == list_runs(root / "file.txt") == []


def test_the_runs_folder_is_looked_at_unless_another_is_given(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTAWAY_HOME", str(root / "home"))
    _make(root / "home" / "runs", "mine", 1)
    assert _names(list_runs()) == ["mine"]
    assert find_run("mine").name == "mine"


def test_a_run_of_a_newer_format_does_not_hide_the_others(root: Path) -> None:
    write_document(Run.open(root / "cifar").storage, "run.json", {"format": 99})
    assert _names(list_runs(root)) == ["mnist-10", "mnist-1"]


@pytest.mark.parametrize(
    ("text", "name"), [("cifar", "cifar"), ("c", "cifar"), ("mnist-1", "mnist-1"), ("mnist-10", "mnist-10")]
)
def test_a_run_is_found_by_its_name_or_a_prefix_of_one(root: Path, text: str, name: str) -> None:
    assert find_run(text, root).name == name


def test_a_run_is_found_by_its_path(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_run(str(root / "cifar"), root / "elsewhere").name == "cifar"
    monkeypatch.chdir(root)
    assert find_run("./cifar", root / "elsewhere").name == "cifar"


def test_a_prefix_of_several_names_them(root: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"'mnist' could be 'mnist-1', 'mnist-10'\. Write more"):
        find_run("mnist", root)


def test_an_unknown_name_offers_the_nearest(root: Path) -> None:
    with pytest.raises(RunNotFound, match="Did you mean 'cifar'"):
        find_run("cifr", root)


@pytest.mark.parametrize("text", ["", "../x", "not-a-run", "file.txt", "/"])
def test_what_is_no_run_is_not_found(root: Path, text: str) -> None:
    with pytest.raises(RunNotFound):
        find_run(text, root)


def test_an_unset_variable_does_not_stand_for_the_only_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only = _make(tmp_path, "only", 1)
    monkeypatch.chdir(only.path)
    with pytest.raises(RunNotFound):
        find_run("", tmp_path)


def test_sizes_are_those_of_the_files(root: Path) -> None:
    run = Run.open(root / "cifar")
    writer = run.writer(STEPS, WriterId("train", "worker_0", 0))
    for step in range(200):
        writer.append_rows({"step": [step]}, step)
    run.write_document("trace/collections.json", {})
    sizes = run_sizes(run)
    assert sum(sizes.values()) == sum(path.stat().st_size for path in run.path.rglob("*") if path.is_file())
    assert list(sizes) == [STEPS, "documents", "trace"]
    assert sizes["documents"] == (run.path / "run.json").stat().st_size


def test_a_file_that_a_live_writer_replaces_meanwhile_does_no_harm(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run.open(root / "cifar")
    walked = [(str(run.path), [], ["run.json", ".gone.json.4711"])]
    monkeypatch.setattr(module.os, "walk", lambda path: walked)
    assert list(run_sizes(run)) == ["documents"]


def test_removing_takes_the_whole_run_and_nothing_else(root: Path) -> None:
    remove_run(Run.open(root / "cifar"))
    assert not (root / "cifar").exists()
    assert len(list_runs(root)) == 2


def test_a_run_that_is_being_written_is_not_removed(root: Path) -> None:
    run = Run.open(root / "cifar")
    _, lease = run.begin_attempt()
    with pytest.raises(RunLocked):
        remove_run(run)
    assert run.path.exists()
    lease.release(RunState.FINISHED)
    remove_run(run)


def test_a_removal_that_was_interrupted_can_be_repeated(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run.open(root / "cifar")
    run.begin_attempt()[1].release(RunState.FINISHED)
    run.write_config({"a": 1})

    def rmtree(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module.shutil, "rmtree", rmtree)
    with pytest.raises(KeyboardInterrupt):
        remove_run(run)
    monkeypatch.undo()
    assert "cifar" in _names(list_runs(root))
    remove_run(find_run("cifar", root))
    assert not run.path.exists()


def test_what_a_link_points_at_is_not_removed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    kept = tmp_path_factory.mktemp("kept")
    (kept / "data").write_text("mine")
    (root / "cifar" / "logs").symlink_to(kept)
    remove_run(Run.open(root / "cifar"))
    assert (kept / "data").read_text() == "mine"


@pytest.mark.parametrize(
    ("keep", "left"), [(0, []), (1, ["cifar"]), (2, ["cifar", "mnist-10"]), (9, ["cifar", "mnist-10", "mnist-1"])]
)
def test_pruning_keeps_the_newest(root: Path, keep: int, left: list[str]) -> None:
    gone = _names(prune_runs(root, keep=keep))
    assert _names(list_runs(root)) == left
    assert sorted(gone + left) == ["cifar", "mnist-1", "mnist-10"]
    assert (root / "not-a-run").exists()
    assert (root / "file.txt").exists()


def test_pruning_spares_what_is_being_written(root: Path) -> None:
    Run.open(root / "mnist-1").begin_attempt()
    assert _names(prune_runs(root, keep=1)) == ["mnist-10"]
    assert _names(list_runs(root)) == ["cifar", "mnist-1"]


def test_a_negative_number_to_keep_is_refused(root: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"`keep >= 0` must hold, but got keep=-1"):
        prune_runs(root, keep=-1)
    assert len(list_runs(root)) == 3


def test_a_run_with_a_damaged_identity_is_listed_and_not_taken_for_the_oldest(root: Path) -> None:
    (root / "mnist-10" / "run.json").write_bytes(b"")
    assert _names(list_runs(root)) == ["mnist-10", "cifar", "mnist-1"]
    assert _names(prune_runs(root, keep=2)) == ["mnist-1"]


def test_states_of_many_runs_come_together(root: Path) -> None:
    runs = list_runs(root)
    runs[0].begin_attempt()
    runs[1].begin_attempt()[1].release(RunState.FAILED)
    assert run_states(runs) == [RunState.RUNNING, RunState.FAILED, RunState.ENDED]


def test_a_folder_that_holds_more_than_a_run_is_not_deleted(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "project")
    (run.path / "train.py").write_text("print('mine')")
    with pytest.raises(ConfigurationError, match=r"train\.py"):
        remove_run(run)
    assert (run.path / "train.py").exists()
    (run.path / "train.py").unlink()
    remove_run(run)
    assert not run.path.exists()
