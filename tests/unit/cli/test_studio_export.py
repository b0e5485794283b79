"""`cutaway studio RUN --export FOLDER`: what it says, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cutaway.studio.freezing import freeze

Cutaway = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _no_surroundings(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))


@pytest.fixture
def page(tmp_path: Path) -> Path:
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "index.html").write_text("<p>page</p>")
    return folder


@pytest.fixture
def run(home: Path, make_run: Callable[..., object]) -> Path:
    make_run("mnist-1")
    return home / "runs" / "mnist-1"


def test_it_says_what_was_taken_and_that_it_holds_data(
    run: Path,
    page: Path,
    tmp_path: Path,
    cutaway: Cutaway,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(freeze, "__kwdefaults__", {**(freeze.__kwdefaults__ or {}), "page": page})
    status, out, err = cutaway("studio", str(run), "--export", str(tmp_path / "copy"))
    assert (status, out) == (0, "")
    assert "results" in err
    assert "MB" in err
    assert "data of the run and of its samples" in err
    assert (tmp_path / "copy" / "index.html").is_file()


def test_without_a_run_it_asks_for_one(cutaway: Cutaway) -> None:
    status, _, err = cutaway("studio", "--export", "copy")
    assert status != 0
    assert "cutaway studio RUN --export FOLDER" in err


def test_a_list_of_samples_that_cannot_be_read_is_refused(run: Path, tmp_path: Path, cutaway: Cutaway) -> None:
    named = tmp_path / "named.txt"
    words = ["studio", str(run), "--export", str(tmp_path / "copy"), "--samples", str(named)]
    status, _, err = cutaway(*words)
    assert status != 0
    assert "cannot be read" in err
    named.write_text("\n \n")
    status, _, err = cutaway(*words)
    assert status != 0
    assert "names 0 samples" in err
    assert not (tmp_path / "copy").exists()


def test_a_list_without_a_folder_is_refused(cutaway: Cutaway) -> None:
    status, _, err = cutaway("studio", "--samples", "named.txt")
    assert status != 0
    assert "--export FOLDER" in err
