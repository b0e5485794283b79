"""Where runs are found, and where not."""

import re
import shutil
from pathlib import Path

import pytest

from cutaway.run import Run
from cutaway.run.documents import read_document, write_document
from cutaway.run.storage import LocalStorage
from cutaway.studio.index import places as places_module
from cutaway.studio.index.places import DEEPEST, Places


def folders(places: Places) -> dict[str, str]:
    return {place.folder: place.reason for place in places.look().values()}


def test_runs_lie_directly_in_a_folder_and_in_folders_of_folders(tmp_path: Path) -> None:
    for inside in ("a", "group/b", "group/deeper/c"):
        Run.create(tmp_path / inside)
    (tmp_path / "empty").mkdir()
    (tmp_path / "note.txt").write_text("no run")
    assert folders(Places(tmp_path)) == {"a": "", "group/b": "", "group/deeper/c": ""}


def test_the_folder_itself_may_be_a_run(tmp_path: Path) -> None:
    Run.create(tmp_path / "mine")
    Run.create(tmp_path / "mine" / "samples" / "inside")
    (place,) = Places(tmp_path / "mine").look().values()
    assert (place.name, place.folder) == ("mine", "mine")


def test_a_folder_that_is_not_there_has_no_runs_until_it_has(tmp_path: Path) -> None:
    places = Places(tmp_path / "runs")
    assert not places.look()
    Run.create(tmp_path / "runs" / "a")
    assert folders(places) == {"a": ""}


def test_nothing_is_looked_for_inside_a_run_nor_too_deep_nor_in_hidden_folders(tmp_path: Path) -> None:
    Run.create(tmp_path / "a")
    Run.create(tmp_path / "a" / "checkpoints" / "inside")
    Run.create(tmp_path / ".hidden" / "run")
    deep = "/".join(f"d{i}" for i in range(DEEPEST - 1))
    Run.create(tmp_path / deep / "deepest")
    Run.create(tmp_path / deep / "further" / "run")
    assert set(folders(Places(tmp_path))) == {"a", f"{deep}/deepest"}


def test_a_link_that_leads_out_is_named_and_not_followed(tmp_path: Path) -> None:
    Run.create(tmp_path / "elsewhere" / "other")
    Run.create(tmp_path / "root" / "mine")
    (tmp_path / "root" / "linked").symlink_to(tmp_path / "elsewhere" / "other")
    (tmp_path / "root" / "folder").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "root" / "again").symlink_to(tmp_path / "root" / "mine")
    (tmp_path / "root" / "loop").symlink_to(tmp_path / "root")
    (tmp_path / "root" / "nowhere").symlink_to(tmp_path / "nothing")
    found = folders(Places(tmp_path / "root"))
    assert set(found) == {"mine", "linked"}
    assert "link" in found["linked"]


def test_a_half_deleted_run_is_named(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "a")
    run.begin_attempt()
    (run.path / "trace").mkdir()
    (run.path / "run.json").unlink()
    (reason,) = folders(Places(tmp_path)).values()
    assert "run.json" in reason


@pytest.mark.usefixtures("permissions_count")
def test_a_folder_that_may_not_be_looked_into_is_named(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir(mode=0)
    assert "may not" in folders(Places(tmp_path))["theirs"]


def test_what_appears_vanishes_or_becomes_a_run_is_seen_by_the_next_look(tmp_path: Path) -> None:
    places = Places(tmp_path)
    Run.create(tmp_path / "a")
    (tmp_path / "later").mkdir()
    assert set(folders(places)) == {"a"}
    Run.create(tmp_path / "later")
    Run.create(tmp_path / "group" / "b")
    assert set(folders(places)) == {"a", "later", "group/b"}
    assert set(folders(places)) == {"a", "later", "group/b"}
    shutil.rmtree(tmp_path / "a")
    shutil.rmtree(tmp_path / "group" / "b")
    assert set(folders(places)) == {"later"}


def ids(root: Path) -> dict[str, str]:
    return {place.folder: place.id for place in Places(root).look().values()}


def say(run: Path, **about: object) -> None:
    """Let a run say something else of itself."""
    document = read_document(LocalStorage(run), "run.json")
    write_document(LocalStorage(run), "run.json", {**document, **about})


def test_a_run_has_one_id_wherever_it_is_opened_from(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "runs" / "night" / "mnist 1")
    assert ids(tmp_path) == {"runs/night/mnist 1": run.id}
    assert ids(tmp_path / "runs") == {"night/mnist 1": run.id}
    assert ids(tmp_path / "runs" / "night") == {"mnist 1": run.id}
    assert ids(run.path) == {"mnist 1": run.id}
    run.path.rename(tmp_path / "elsewhere")
    assert ids(tmp_path) == {"elsewhere": run.id}


def test_of_copies_the_one_with_the_smallest_path_keeps_the_id(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "b")
    other = Run.create(tmp_path / "other")
    for copy in ("a/b", "c"):
        shutil.copytree(run.path, tmp_path / copy)
    found = ids(tmp_path)
    assert (found["a/b"], found["other"]) == (run.id, other.id)
    assert all(found[copy].startswith(f"{run.id}-") for copy in ("b", "c"))
    assert len(set(found.values())) == 4
    assert ids(tmp_path) == found
    # What is not below the same folder is no copy there.
    assert ids(tmp_path / "c") == {"c": run.id}
    shutil.rmtree(tmp_path / "a")
    assert ids(tmp_path)["b"] == run.id


def test_a_run_that_says_another_id_is_known_by_that(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "a")
    places = Places(tmp_path)
    assert set(places.look()) == {run.id}
    say(run.path, id="0" * 32)
    assert set(places.look()) == {"0" * 32}
    say(run.path, note="the same id")
    assert set(places.look()) == {"0" * 32}


@pytest.mark.parametrize(
    "said",
    [
        *("../../etc/passwd", "columns", "a" * 100_000, "A" * 32, "a" * 31, "a/b?c=d#e", "", " ", "\ud800", "<script>"),
        *(7, None, ["x"], {"id": "x"}, True, 1e400),
    ],
    ids=repr,
)
def test_whatever_a_run_says_that_its_id_is_it_names_the_run_and_nothing_else(said: object, tmp_path: Path) -> None:
    run, other = Run.create(tmp_path / "a"), Run.create(tmp_path / "b")
    say(run.path, id=said)
    found = ids(tmp_path)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{6,60}", found["a"])
    assert re.search(r"(^|-)[0-9a-f]{12}$", found["a"]), "it could be the name of a route"
    assert found["b"] == other.id
    assert ids(run.path) == {"a": found["a"]}


def test_a_run_that_takes_the_id_of_another_hides_neither(tmp_path: Path) -> None:
    mine, theirs = Run.create(tmp_path / "mine"), Run.create(tmp_path / "also")
    say(theirs.path, id=mine.id)
    places = Places(tmp_path).look()
    assert {place.folder for place in places.values()} == {"mine", "also"}
    # Nor one that says what another's id would be with the ending that copies get.
    taken = next(place.id for place in places.values() if place.folder == "mine")
    third = Run.create(tmp_path / "a third")
    say(third.path, id=taken)
    assert len(Places(tmp_path).look()) == 3


def test_a_run_whose_identity_is_damaged_is_known_by_its_name(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "runs" / "mnist 1")
    (run.path / "run.json").write_text("{")
    (found,) = ids(tmp_path).values()
    assert found.startswith("mnist-1-")
    assert ids(run.path) == {"mnist 1": found}


def test_a_run_of_a_later_release_has_its_id(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "a")
    say(run.path, format=99)
    assert ids(tmp_path) == {"a": run.id}


@pytest.mark.parametrize(
    "name", ["ünï cödé", "a'b\"<script>", "%2e%2e", "-", "\u202eevil", b"half\xff".decode("utf-8", "surrogateescape")]
)
def test_whatever_a_folder_is_called_its_id_fits_into_an_address(name: str, tmp_path: Path) -> None:
    try:
        Run.create(tmp_path / name)
    except (OSError, UnicodeError):
        pytest.skip("this file system has no such name")
    (place,) = Places(tmp_path).look().values()
    assert place.id.replace("-", "").isalnum()
    assert place.id.isascii()
    place.name.encode()
    place.folder.encode()


def test_a_whole_disk_is_not_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(places_module, "MOST_FOLDERS", 3)
    for i in range(9):
        (tmp_path / f"folder-{i}").mkdir()
    places = Places(tmp_path)
    places.look()
    places.look()
    assert caplog.text.count("Only the first 3 folders") == 1
