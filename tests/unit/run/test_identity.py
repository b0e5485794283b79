"""A run as one object: made once, resumed attempt by attempt, readable whatever became of its identity."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from cutaway.errors import ConfigurationError, RunExists, RunFormatError, RunLocked, RunNotFound, StorageError
from cutaway.run import Attempt, Run, RunState, WriterId, identity, runs_folder
from cutaway.run.control import Request, ask
from cutaway.run.documents import write_document
from cutaway.run.schemas import STEPS
from cutaway.run.storage import LocalStorage
from tests.faulty_storage import Fault, FaultyStorage


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run")


def _train(run: Run, steps: range, *, from_step: int | None = None) -> int:
    number, lease = run.begin_attempt(from_step=from_step)
    writer = run.writer(STEPS, WriterId("train", "worker_0", number))
    for step in steps:
        writer.append_rows({"step": [step]}, step)
    writer.close()
    lease.release(RunState.FINISHED)
    return number


def _shown(run: Run) -> list[tuple[int, int]]:
    table = run.table(STEPS).read(columns=["attempt", "step"])
    return sorted(zip(table["attempt"].to_pylist(), table["step"].to_pylist(), strict=True))


def test_a_run_is_what_its_creator_said(tmp_path: Path) -> None:
    made = Run.create(tmp_path / "mnist", framework="torch 2.13", seed=7)
    found = Run.open(tmp_path / "mnist")
    assert found.identity == made.identity
    assert (found.id, found.name, found.identity["seed"]) == (made.id, "mnist", 7)
    assert found.attempts() == []
    assert found.damage == found.verify() == []
    assert str(tmp_path) in repr(found)


def test_a_run_without_a_path_goes_to_the_runs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTAWAY_HOME", str(tmp_path))
    run = Run.create(name="my net/1")
    assert runs_folder() == run.path.parent == tmp_path / "runs"
    assert run.name.startswith("my_net_1-2")


def test_runs_that_start_within_one_second_get_names_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUTAWAY_HOME", str(tmp_path))
    start = Barrier(6)

    def create(_: int) -> str:
        start.wait()
        return Run.create(name="cell").name

    with ThreadPoolExecutor(6) as pool:
        names = set(pool.map(create, range(6)))
    assert len(names) == 6


def test_a_folder_holds_one_run(run: Run) -> None:
    with pytest.raises(RunExists, match="resume=True"):
        Run.create(run.path)
    assert Run.open(run.path).id == run.id


def test_of_many_that_create_one_run_at_once_one_does(tmp_path: Path) -> None:
    start = Barrier(6)

    def create(_: int) -> Run | None:
        start.wait()
        try:
            return Run.create(tmp_path / "deep" / "run")
        except RunExists:
            return None

    with ThreadPoolExecutor(6) as pool:
        made = [run for run in pool.map(create, range(6)) if run is not None]
    assert [run.id for run in made] == [Run.open(tmp_path / "deep" / "run").id]


def test_whoever_finds_a_run_that_starts_finds_its_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leases: list[list[str]] = []

    def written(storage: LocalStorage, key: str, *args: Any, **settings: Any) -> None:
        if key == "run.json":
            leases.append(storage.list("leases"))
        write_document(storage, key, *args, **settings)

    monkeypatch.setattr(identity, "write_document", written)
    run, _ = Run.start(tmp_path / "run")
    assert leases == [["train-worker_0-0.json"]]
    assert run.state() is Run.open(run.path).state() is RunState.STARTING


def test_where_there_is_a_run_nothing_starts(run: Run) -> None:
    with pytest.raises(RunExists):
        Run.start(run.path)
    assert run.storage.list("leases") == []


def test_of_many_that_start_one_run_at_once_one_does(tmp_path: Path) -> None:
    start = Barrier(6)

    def begin(_: int) -> Run | None:
        start.wait()
        try:
            return Run.start(tmp_path / "deep" / "run")[0]
        except RunExists:
            return None

    with ThreadPoolExecutor(6) as pool:
        made = [run for run in pool.map(begin, range(6)) if run is not None]
    assert [run.id for run in made] == [Run.open(tmp_path / "deep" / "run").id]
    assert made[0].storage.list("leases") == ["train-worker_0-0.json"]


def test_a_run_that_could_not_be_made_leaves_no_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(storage: LocalStorage, key: str, *_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(identity, "write_document", full)
    with pytest.raises(ConfigurationError, match="No space left"):
        Run.start(tmp_path / "run")
    assert LocalStorage(tmp_path / "run").list("leases") == []


def test_an_attempt_starts_until_its_writer_is_ready(run: Run) -> None:
    _train(run, range(3))
    lease = Run.open(run.path).claim_attempt()
    assert run.state() is RunState.STARTING
    run.list_attempt(lease.writer.attempt, 3)
    lease.show_running()
    assert run.state() is RunState.RUNNING
    assert run.attempts() == [Attempt(0, 0), Attempt(1, 3)]


def test_a_folder_with_other_things_in_it_can_become_a_run(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    Run.create(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("below", ["", "below"])
def test_a_file_is_no_place_for_a_run(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ConfigurationError, match="out_dir"):
        Run.create(tmp_path / "file" / below)


def test_where_there_is_no_run_none_is_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "missing", tmp_path / "file"):
        with pytest.raises(RunNotFound, match="cutaway runs list"):
            Run.open(path)


def test_a_run_of_a_newer_format_is_not_guessed_at(run: Run) -> None:
    write_document(run.storage, "run.json", {**run.identity, "format": 99})
    with pytest.raises(RunFormatError, match="format 99"):
        Run.open(run.path)


def test_attempts_are_numbered_and_continue_where_the_last_one_ended(run: Run) -> None:
    assert [_train(run, range(5)), _train(run, range(5, 8)), _train(Run.open(run.path), range(8, 9))] == [0, 1, 2]
    assert run.attempts() == Run.open(run.path).attempts() == [Attempt(0, 0), Attempt(1, 5), Attempt(2, 8)]
    assert run.next_step() == 9


def test_a_resumption_from_a_checkpoint_replaces_what_came_after_it(run: Run) -> None:
    _train(run, range(6))
    _train(run, range(4, 5), from_step=4)
    assert _shown(run) == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 4)]
    assert run.next_step() == 5
    assert len(run.table(STEPS).read(attempt=0)) == 6


def test_a_step_belongs_to_the_newest_attempt_that_began_at_or_before_it(run: Run) -> None:
    assert run.attempt_of(3) == 0
    _train(run, range(8))
    _train(run, range(5, 9), from_step=5)
    _train(run, range(2, 4), from_step=2)
    assert [run.attempt_of(step) for step in (-1, 0, 1, 2, 5, 8)] == [0, 0, 0, 2, 2, 2]


def test_what_is_said_of_an_attempt_stays_with_it(run: Run) -> None:
    run.begin_attempt(launch="abc")[1].release(RunState.ENDED)
    run.begin_attempt(launch="def")
    assert [one["launch"] for one in Run.open(run.path).identity["attempts"]] == ["abc", "def"]


def test_an_open_run_notices_the_next_attempt(run: Run) -> None:
    other = Run.open(run.path)
    assert other.attempts() == []
    _train(run, range(2))
    assert other.attempts() == [Attempt(0, 0)]


def test_a_training_that_comes_back_after_the_next_one_began_does_not_undo_it(run: Run) -> None:
    number, lease = run.begin_attempt()
    write_document(
        run.storage,
        "leases/train-worker_0-0.json",
        {"role": "train", "worker": "worker_0", "attempt": 0, "state": "lost"},
    )
    _train(Run.open(run.path), range(3))
    lease.release(RunState.FINISHED)
    run.identity["state"] = RunState.FINISHED
    run.save_identity()
    assert Run.open(run.path).attempts() == [Attempt(number, 0), Attempt(1, 0)]


def test_a_second_training_of_one_run_is_refused_until_the_first_ends(run: Run) -> None:
    _, lease = run.begin_attempt()
    with pytest.raises(RunLocked, match="Wait until that process ends"):
        Run.open(run.path).begin_attempt()
    run.join_attempt("worker_1", 0)
    with pytest.raises(RunLocked):
        run.join_attempt("worker_1", 0)
    lease.release(RunState.FINISHED)
    assert Run.open(run.path).begin_attempt()[0] == 1


def test_an_attempt_that_died_before_it_was_listed_is_passed_over(run: Run) -> None:
    _train(run, range(3))
    before = run.storage.read("run.json")
    run.begin_attempt()[1].release(RunState.CRASHED)
    run.storage.replace("run.json", before)
    assert Run.open(run.path).begin_attempt()[0] == 2


def test_an_attempt_that_cannot_be_listed_is_given_up(run: Run) -> None:
    faulty = FaultyStorage(run.storage, Fault(call=2, error=28))
    real, run.storage = run.storage, faulty
    with pytest.raises(StorageError, match="No space left"):
        run.begin_attempt()
    run.storage = real
    assert run.state() is RunState.FAILED
    assert run.begin_attempt()[0] == 1


def test_a_run_that_never_trained_has_ended(run: Run) -> None:
    assert run.state() is RunState.ENDED


def test_its_state_is_that_of_its_training(run: Run) -> None:
    _, lease = run.begin_attempt()
    assert run.state() is RunState.RUNNING
    lease.release(RunState.FAILED)
    assert run.state() is RunState.FAILED


def test_documents_are_kept_whole(run: Run) -> None:
    assert run.document("trace/collections.json") is None
    run.write_document("trace/collections.json", {"weights": {"include_regex": ["w$"]}})
    assert run.document("trace/collections.json") == {"weights": {"include_regex": ["w$"]}}


@pytest.mark.parametrize("key", ["../other/run.json", "/etc/passwd", "trace/../../x", "a/./b", ""])
def test_a_document_cannot_lie_outside_its_run(run: Run, key: str) -> None:
    with pytest.raises(ConfigurationError):
        run.document(key)
    with pytest.raises(ConfigurationError):
        run.write_document(key, {})


def test_the_configuration_is_kept_and_may_be_missing(run: Run) -> None:
    assert run.config() == {}
    run.write_config({"lr": 1e-3, "layers": [1, 2], "name": "ü"})
    assert run.config() == {"lr": 1e-3, "layers": [1, 2], "name": "ü"}
    run.storage.replace("config.yaml", b"# a person wrote this\nlr: 0.1\n")
    assert run.config() == {"lr": 0.1}


@pytest.mark.parametrize(
    "text", [b"a: [1", b"- 1\n- 2\n", b"!!python/object/apply:os.getcwd []", b"\xff\xfe\x00", b"just words"]
)
def test_a_configuration_that_is_none_says_so_and_runs_nothing(run: Run, text: bytes) -> None:
    run.storage.replace("config.yaml", text)
    with pytest.raises(RunFormatError, match=r"config\.yaml"):
        run.config()


class TestADamagedIdentity:
    """A damaged run.json costs the name and date of a run, never its data."""

    @pytest.fixture
    def run(self, tmp_path: Path) -> Run:
        run = Run.create(tmp_path / "run")
        _train(run, range(6))
        _train(run, range(4, 7), from_step=4)
        path = run.path / "run.json"
        path.write_bytes(path.read_bytes()[:-9])
        return Run.open(run.path)

    def test_is_named(self, run: Run) -> None:
        assert [one.path for one in run.damage] == [one.path for one in run.verify()] == ["run.json"]

    def test_hides_no_step_and_doubles_none(self, run: Run) -> None:
        assert run.attempts() == [Attempt(0, 0), Attempt(1, 4)]
        assert _shown(run) == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (1, 6)]

    def test_does_not_change_the_state(self, run: Run) -> None:
        assert run.state() is RunState.FINISHED

    def test_is_mended_by_the_next_attempt_without_losing_the_earlier_ones(self, run: Run) -> None:
        assert _train(run, range(5, 6), from_step=5) == 2
        again = Run.open(run.path)
        assert again.verify() == []
        assert again.attempts() == [Attempt(0, 0), Attempt(1, 4), Attempt(2, 5)]
        assert _shown(again) == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 4), (2, 5)]

    def test_does_not_let_an_attempt_without_steps_hide_the_others(self, run: Run) -> None:
        run.writer(STEPS, WriterId("train", "worker_0", 2)).append_rows({"step": []}, 7)
        assert run.attempts()[-1] == Attempt(2, 7)
        assert len(_shown(run)) == 7


def test_verifying_looks_at_every_document_with_a_checksum(run: Run) -> None:
    _train(run, range(2))
    run.write_document("trace/collections.json", {"all": {}})
    ask(run.storage, Request("stop", "train", "me", "because", id="r1"))
    assert run.verify() == []
    keys = ["run.json", "trace/collections.json", "leases/train-worker_0-0.json", "control/r1.json"]
    for key in keys:
        path = run.path / key
        path.write_bytes(path.read_bytes().replace(b"1", b"2", 1) if b"1" in path.read_bytes() else b"")
    assert sorted(one.path for one in run.verify()) == sorted(keys)


def test_a_live_run_has_no_unfinished_tail(run: Run) -> None:
    number, _ = run.begin_attempt()
    run.writer(STEPS, WriterId("train", "worker_0", number)).append_rows({"step": [0]}, 0)
    assert run.verify() == []


def test_a_copied_run_is_the_same_run(run: Run, tmp_path: Path) -> None:
    _train(run, range(3))
    shutil.copytree(run.path, tmp_path / "copy")
    copy = Run.open(tmp_path / "copy")
    assert (copy.id, copy.name) == (run.id, "copy")
    assert _shown(copy) == _shown(run)
    assert copy.verify() == []


def test_the_identity_is_json_for_everybody(run: Run) -> None:
    content = json.loads((run.path / "run.json").read_text())
    assert content["format"] == 0
    assert content["attempts"] == []
