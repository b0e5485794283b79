"""Where runs are found, and where not."""

import shutil
from pathlib import Path

import pytest

from cutaway.run import Run
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


def test_an_id_stays_with_its_place_and_tells_copies_apart(tmp_path: Path) -> None:
    Run.create(tmp_path / "mnist 1")
    shutil.copytree(tmp_path / "mnist 1", tmp_path / "copies" / "mnist 1")
    first, again = ({place.folder: place.id for place in Places(tmp_path).look().values()} for _ in range(2))
    assert first == again
    assert len(set(first.values())) == 2
    assert all(one.startswith("mnist-1-") and one.isascii() and " " not in one for one in first.values())


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
