"""The index as others use it: at once, by id, up to date, and with a memory that it does not need."""

import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cutaway.errors import RunFormatError, RunNotFound
from cutaway.run import Run, RunState
from cutaway.run.annotations import annotate
from cutaway.studio.index import RunIndex
from cutaway.studio.index import the_index as index_module
from cutaway.studio.index.facts import read_facts
from cutaway.studio.index.places import Place
from cutaway.studio.wire.live import Indexing
from tests.unit.studio.index.small_runs import add_steps, lease_elsewhere, make_run, rows_of, until

Open = Callable[..., RunIndex]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    monkeypatch.setattr(index_module, "LOOK_SECONDS", 0.05)
    made: list[RunIndex] = []

    def open_index(root: Path, *, cache: Path | bool = False) -> RunIndex:
        made.append(RunIndex(root, cache=cache).start())
        return made[-1]

    yield open_index
    for index in made:
        index.close()


def test_the_first_who_asks_gets_all_runs_of_a_small_folder(tmp_path: Path, opened: Open) -> None:
    for i in range(5):
        make_run(tmp_path / f"run-{i}")
    index = opened(tmp_path)
    assert set(rows_of(index)) == {f"run-{i}" for i in range(5)}
    assert index.progress == Indexing(done=5, total=5)
    assert rows_of(index)["run-0"].state == "finished"


@pytest.mark.parametrize("asked_by_id", [True, False])
def test_a_crash_is_part_of_how_the_run_is(asked_by_id: bool, tmp_path: Path, opened: Open) -> None:
    for name in ("crashed", "runs"):
        make_run(tmp_path / name, state=None)
    run = Run.open(tmp_path / "crashed")
    lease = run.document("leases/train-worker_0-0.json")
    assert lease is not None
    run.write_document("leases/train-worker_0-0.json", {**lease, "started": "another"})
    index = opened(tmp_path)
    rows = rows_of(index)
    if asked_by_id:
        rows = {name: index.row_of(row.id) for name, row in rows.items()}
    assert rows["crashed"].health.sentence == "Not checked yet; the training crashed"
    assert rows["runs"].health.sentence == "Not checked yet"


def test_that_a_run_of_another_machine_is_lost_comes_to_its_health_once_it_is_known(
    tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutaway.studio.index.states.LEASE_SECONDS", 0.3)
    lease_elsewhere(make_run(tmp_path / "a"), beat=1)
    index = opened(tmp_path)
    until(lambda: rows_of(index)["a"].health.sentence == "Not checked yet; the training is lost")
    assert rows_of(index)["a"].state == "lost"


def test_an_id_opens_its_run_and_no_other_word_does(tmp_path: Path, opened: Open) -> None:
    make_run(tmp_path / "group" / "a")
    index = opened(tmp_path)
    (row,) = index.table().rows
    assert index.run_of(row.id).path == tmp_path / "group" / "a"
    assert index.row_of(row.id) == row
    for word in ("", "a", "group/a", "..", str(tmp_path / "group" / "a"), f"{row.id} ", row.id.upper()):
        with pytest.raises(RunNotFound) as caught:
            index.run_of(word)
        assert str(tmp_path) not in str(caught.value).replace(word, "")
    shutil.rmtree(tmp_path / "group" / "a")
    with pytest.raises(RunNotFound) as caught:
        index.run_of(row.id)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize("swapped", ["group", "group/a"])
def test_a_run_that_becomes_a_link_that_leads_out_is_not_followed_before_the_next_look(
    swapped: str, tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "LOOK_SECONDS", 60.0)
    root = tmp_path / "root"
    make_run(root / "group" / "a")
    shutil.copytree(root / "group", tmp_path / "outside" / "group")
    index = opened(root)
    (row,) = index.table().rows
    assert index.run_of(row.id).path == root / "group" / "a"
    shutil.rmtree(root / swapped)
    (root / swapped).symlink_to(tmp_path / "outside" / swapped)
    with pytest.raises(RunNotFound):
        index.run_of(row.id)
    with pytest.raises(RunNotFound):
        index._read_again(row.id)


def test_what_cannot_be_opened_is_listed_and_refused(tmp_path: Path, opened: Open) -> None:
    run = make_run(tmp_path / "a")
    run.identity["format"] = 99
    run.save_identity()
    make_run(tmp_path / "elsewhere" / "b")
    (tmp_path / "root").mkdir()
    run.path.rename(tmp_path / "root" / "a")
    (tmp_path / "root" / "b").symlink_to(tmp_path / "elsewhere" / "b")
    index = opened(tmp_path / "root")
    rows = rows_of(index)
    assert {row.state for row in rows.values()} == {"unknown"}
    for row in rows.values():
        with pytest.raises(RunFormatError):
            index.run_of(row.id)


def test_runs_that_appear_change_and_vanish_are_seen(tmp_path: Path, opened: Open) -> None:
    first = make_run(tmp_path / "a")
    index = opened(tmp_path)
    assert set(rows_of(index)) == {"a"}
    before = index.last_change
    make_run(tmp_path / "new" / "b")
    until(lambda: set(rows_of(index)) == {"a", "new/b"})
    annotate(first, tags=["seen"])
    until(lambda: rows_of(index)["a"].tags == ("seen",))
    number, lease = first.begin_attempt()
    until(lambda: rows_of(index)["a"].state == "running")
    add_steps(first, range(4, 9), number)
    until(lambda: rows_of(index)["a"].steps == 9)
    lease.release(RunState.FAILED)
    until(lambda: rows_of(index)["a"].state == "failed")
    shutil.rmtree(tmp_path / "new")
    until(lambda: set(rows_of(index)) == {"a"})
    told = [(change.what, change.run, change.state) for change in index.changes_since(before)]
    mine = rows_of(index)["a"].id
    assert ("state", mine, "running") in told
    assert ("state", mine, "failed") in told
    assert ("listed", mine, None) in told
    assert index.changes_since(index.last_change) == []


def test_a_lease_of_another_machine_keeps_nobody_waiting(
    tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(tmp_path / "a")
    lease_elsewhere(run, beat=1)
    index = opened(tmp_path)
    assert rows_of(index)["a"].state == "unknown"
    lease_elsewhere(run, beat=2)
    until(lambda: rows_of(index)["a"].state == "running")


def test_what_was_kept_is_used_as_long_as_nothing_has_changed(
    tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "WORTH_KEEPING", 1)
    monkeypatch.setattr("cutaway.studio.index.gathering.is_settled", lambda _: True)
    root, cache = tmp_path / "runs", tmp_path / "kept.json"
    runs = [make_run(root / f"run-{i}") for i in range(4)]
    make_run(root / "live", state=None)
    first = opened(root, cache=cache)
    before = rows_of(first)
    first.close()
    annotate(runs[1], note="changed meanwhile")
    shutil.rmtree(runs[2].path)
    read: list[str] = []

    def counted(place: Place, *more: Any, **others: Any) -> object:
        read.append(place.folder)
        return read_facts(place, *more, **others)

    monkeypatch.setattr("cutaway.studio.index.gathering.read_facts", counted)
    again = rows_of(opened(root, cache=cache))
    assert again["run-0"] == before["run-0"]
    assert again["run-1"].note == "changed meanwhile"
    assert set(again) == {"run-0", "run-1", "run-3", "live"}
    assert {"run-1", "live"} <= set(read)
    assert not {"run-0", "run-3"} & set(read)


def test_what_was_kept_of_a_run_is_not_used_for_a_copy_that_takes_its_id(
    tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "WORTH_KEEPING", 1)
    monkeypatch.setattr("cutaway.studio.index.gathering.is_settled", lambda _: True)
    monkeypatch.setattr("cutaway.studio.index.gathering.mark_of", lambda _: (1, 2, 3, 4, 5, 6))
    root, cache = tmp_path / "runs", tmp_path / "kept.json"
    run = make_run(root / "run")
    first = opened(root, cache=cache)
    assert {row.id for row in rows_of(first).values()} == {run.id}
    first.close()
    shutil.copytree(run.path, root / "copy")
    rows = rows_of(opened(root, cache=cache))
    assert {folder: row.name for folder, row in rows.items()} == {"copy": "copy", "run": "run"}
    assert rows["copy"].id == run.id != rows["run"].id


def test_a_copy_that_appears_beside_a_run_is_told_from_it(tmp_path: Path, opened: Open) -> None:
    run = make_run(tmp_path / "run")
    index = opened(tmp_path)
    assert index.run_of(run.id).path == run.path
    shutil.copytree(run.path, tmp_path / "copy")
    until(lambda: set(rows_of(index)) == {"run", "copy"})
    rows = rows_of(index)
    assert index.run_of(rows["run"].id).path == run.path
    assert index.run_of(rows["copy"].id).path == tmp_path / "copy"
    shutil.rmtree(tmp_path / "copy")
    until(lambda: set(rows_of(index)) == {"run"})
    assert index.run_of(run.id).path == run.path


def test_without_a_place_to_keep_things_it_works_and_says_so_once(
    tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(index_module, "WORTH_KEEPING", 1)
    monkeypatch.setattr(index_module, "KEEP_SECONDS", 0.0)
    (tmp_path / "taken").write_text("a file, not a folder")
    make_run(tmp_path / "runs" / "a")
    with caplog.at_level(logging.WARNING):
        index = opened(tmp_path / "runs", cache=tmp_path / "taken" / "kept.json")
        until(lambda: "not kept" in caplog.text)
        make_run(tmp_path / "runs" / "b")
        until(lambda: set(rows_of(index)) == {"a", "b"})
        index.close()
    assert caplog.text.count("not kept") == 1


def test_a_long_note_is_cut_in_the_table_and_whole_where_one_run_is_asked_for(tmp_path: Path, opened: Open) -> None:
    run = make_run(tmp_path / "a")
    annotate(run, note="word " * 5000)
    (row,) = opened(tmp_path).table().rows
    assert len(row.note) <= 1000
    assert len(opened(tmp_path).row_of(row.id).note) == len(("word " * 5000).strip())


def test_a_look_that_fails_is_not_the_last(tmp_path: Path, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    make_run(tmp_path / "a")
    index = opened(tmp_path)
    assert set(rows_of(index)) == {"a"}
    places = index._runs._places
    whole, failed = places.look, []

    def fail_once() -> object:
        if not failed:
            failed.append(1)
            raise RuntimeError("once")
        return whole()

    monkeypatch.setattr(places, "look", fail_once)
    make_run(tmp_path / "b")
    until(lambda: set(rows_of(index)) == {"a", "b"})
    assert failed


def test_one_run_alone_is_a_studio_too(tmp_path: Path, opened: Open) -> None:
    Run.create(tmp_path / "alone")
    (row,) = opened(tmp_path / "alone").table().rows
    assert (row.name, row.folder) == ("alone", "alone")


def test_closing_twice_is_allowed_and_nothing_begins_afterwards(tmp_path: Path) -> None:
    index = RunIndex(tmp_path, cache=False)
    index.close()
    index.close()
    assert index.table().rows == []
