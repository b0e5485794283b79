"""What is kept between two starts is the same or nothing."""

import json
import os
from pathlib import Path

import pytest

from cutaway.errors import StorageError
from cutaway.studio.index import cache as cache_module
from cutaway.studio.index.cache import cache_file, read_cache, write_cache
from cutaway.studio.index.facts import HealthFacts, IndexedRun
from cutaway.trial.run_totals import LossFacts

ROWS = [
    (
        (i, 2, 3),
        IndexedRun(
            f"r{i}",
            f"run {i}",
            "ü/x",
            created=1.5,
            health=HealthFacts("sick", "words", 3, 1, 2),
            loss=LossFacts("loss", None, 0.1, (0.5, None)) if i % 2 else None,
            tags=("a", "b"),
            keys=("config.lr", "config.name"),
            values=(0.1, "same"),
            series=(1, 0, 2),
        ),
    )
    for i in range(250)
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "kept.json"
    write_cache(path, ROWS)
    return path


def test_rows_come_back_as_they_were(file: Path) -> None:
    kept = read_cache(file)
    assert kept == {row.id: (mark, row) for mark, row in ROWS}
    assert kept["r1"][1].keys is kept["r2"][1].keys
    assert read_cache(file.with_name("other.json")) == {}


def test_no_rows_are_kept_too(tmp_path: Path) -> None:
    write_cache(tmp_path / "none.json", [])
    assert read_cache(tmp_path / "none.json") == {}


def test_a_damaged_file_is_thrown_away_wherever_the_damage_is(file: Path) -> None:
    whole = file.read_bytes()
    for place in range(0, len(whole), max(len(whole) // 200, 1)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert read_cache(file) in ({}, {row.id: (mark, row) for mark, row in ROWS})
    for length in range(0, len(whole), max(len(whole) // 50, 1)):
        file.write_bytes(whole[:length])
        assert read_cache(file) == {}


@pytest.mark.parametrize("content", [b"", b"\n", b"{}\n", b"[]\n[]", b"7\n7", b'{"crc": 0}\n', b"[" * 100_000, b"\xff"])
def test_a_file_of_somebody_else_is_thrown_away(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    assert read_cache(file) == {}


@pytest.mark.parametrize("kind", ["pipe", "folder", "huge"])
def test_what_is_no_file_of_ours_is_not_waited_for_nor_read(kind: str, file: Path) -> None:
    file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        with file.open("wb") as huge:
            huge.truncate(20 << 30)
    assert read_cache(file) == {}


def test_a_file_of_another_version_is_thrown_away(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert json.loads(file.read_bytes().partition(b"\n")[0])["format"] == 2
    monkeypatch.setattr(cache_module, "__version__", "99")
    assert read_cache(file) == {}


def test_a_folder_that_cannot_be_written_raises(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(StorageError):
        write_cache(tmp_path / "taken" / "kept.json", ROWS)


def test_the_file_lies_in_the_users_cache_folder_and_is_named_by_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    one, other = cache_file(tmp_path / "a"), cache_file(tmp_path / "b")
    assert one.is_relative_to(tmp_path / "cache" / "cutaway")
    assert one != other
    assert cache_file(tmp_path / "b" / ".." / "a") == one
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_file(tmp_path).is_relative_to(tmp_path / "home" / ".cache")
