"""What names a run in a command can be run as it is, from where the page or the command was started."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from cutaway.run import Run, find_run
from cutaway.run.command_words import command_path, evaluation_words, run_word
from cutaway.run.evaluations import Evaluation

NAMES = ["mnist", "my run", "-x", "it's; rm -rf $HOME", "ünï"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("here", ["", "runs", "elsewhere"])
def test_a_run_is_found_by_the_word_from_the_folder_where_it_was_written(
    name: str, relative: bool, here: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run.create(tmp_path / "runs" / name)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / here)
    word = run_word(run.path, relative=relative)
    (read,) = shlex.split(word)
    assert not read.startswith("-")
    assert find_run(read).id == run.id


def test_a_home_is_written_as_people_write_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir("/usr")
    run = Run.create(tmp_path / "my runs" / "a")
    assert run_word(run.path) == "~/'my runs/a'"
    assert find_run(command_path(run.path)).id == run.id


def test_a_relative_word_does_not_tell_where_the_folder_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert command_path(tmp_path / "runs" / "a", relative=True) == "../runs/a"
    monkeypatch.chdir("/usr")
    assert command_path(tmp_path / "home" / "runs" / "a", relative=True) == "~/runs/a"
    assert command_path(tmp_path / "elsewhere" / "a", relative=True) == "a"


def test_an_evaluation_is_named_unless_commands_take_it_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = Run.create(tmp_path / "my run")
    for number, state in enumerate(["finished", "finished", "running"]):
        run.write_document(f"samples/{number}/source.json", {"state": state})
    assert evaluation_words(Evaluation(run, 0)) == "'my run' --evaluation 0"
    assert evaluation_words(Evaluation(run, 1)) == "'my run'"
