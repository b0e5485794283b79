"""A training command: what it is given, how it ends, and which runs it made."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cutaway.analysis.fixing import split_command, train
from cutaway.errors import ConfigurationError
from cutaway.run import Run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUTAWAY_HOME", raising=False)
    monkeypatch.setenv("CUTAWAY_OVERLAY", "one that somebody else set")
    Run.create("runs/old")
    return tmp_path


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


SHOW = "import os; print(os.environ.get('CUTAWAY_OVERLAY'), os.environ.get('CUTAWAY_SEED'), os.getcwd())"


def test_the_environment_names_the_overlay_and_the_seed(here: Path) -> None:
    done = train(python(SHOW), overlay=Path("fix.parquet"), seed=3, beside=here / "runs")
    assert done.tail == (f"{here / 'fix.parquet'} 3 {here}",)
    assert train(python(SHOW), overlay=None, beside=here / "runs").tail == (f"None None {here}",)


def test_new_runs_are_found_where_runs_go_beside_the_old_one_and_here(here: Path) -> None:
    code = "from cutaway.run import Run; [Run.create(one) for one in ('runs/new', 'here', 'elsewhere/runs/a')]"
    done = train(python(code), overlay=None, beside=here / "elsewhere" / "runs")
    assert {run.path.relative_to(here).as_posix() for run in done.runs} == {"runs/new", "here", "elsewhere/runs/a"}
    assert train(python("pass"), overlay=None, beside=here).runs == ()


def test_the_exit_code_and_the_last_lines_are_kept_and_each_line_is_heard(here: Path) -> None:
    heard: list[str] = []
    code = "import sys; [print(i) for i in range(50)]; print('to stderr', file=sys.stderr); sys.exit(7)"
    done = train(python(code), overlay=None, beside=here, listen=heard.append)
    assert done.code == 7
    assert len(done.tail) == 20
    assert len(heard) == 51
    assert "to stderr" in heard


def test_a_killed_training_has_the_signal_as_its_code(here: Path) -> None:
    assert train(python("import os; os.kill(os.getpid(), 9)"), overlay=None, beside=here).code == -9


def test_no_shell_sees_the_command(here: Path) -> None:
    words = split_command(f"{sys.executable} -c 'import sys; print(sys.argv[1:])' '$HOME' a;b '*'")
    assert train(words, overlay=None, beside=here).tail == ("['$HOME', 'a;b', '*']",)


@pytest.mark.parametrize("command", ["", "   ", "python 'train.py"])
def test_a_command_that_cannot_be_read_is_refused(command: str) -> None:
    with pytest.raises(ConfigurationError):
        split_command(command)


def test_a_program_that_is_not_there_is_named(here: Path) -> None:
    with pytest.raises(ConfigurationError, match="Cannot run 'pyhton': No such file"):
        train(["pyhton"], overlay=None, beside=here)


def test_an_interrupt_ends_the_training_too(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutaway.analysis.fixing.retraining.END_SECONDS", 0.1)
    started: list[str] = []

    def interrupt(line: str) -> None:
        started.append(line)
        raise KeyboardInterrupt

    code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    with pytest.raises(KeyboardInterrupt):
        train(python(code), overlay=None, beside=here, listen=interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(int(started[0]), 0)
