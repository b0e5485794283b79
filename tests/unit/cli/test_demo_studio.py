import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cutaway.cli.studio
from cutaway.cli.demo_studio import end_with_the_studio
from cutaway.errors import ConfigurationError

Report = dict[str, Any]


def report(*codes: str) -> Report:
    telling = [{"code": code} for code in codes]
    return {"run": "demo-1", "sick": {"path": "runs/demo_sick-2", "health": {"telling": telling}}}


def terminal(monkeypatch: pytest.MonkeyPatch, *, there: bool, act: Callable[[Path], None]) -> None:
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return there

    monkeypatch.setattr("sys.stdin", Stream())
    monkeypatch.setattr("sys.stderr", Stream())
    monkeypatch.setattr(cutaway.cli.studio, "studio", act)


def test_without_a_terminal_it_says_the_command_and_serves_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[Path] = []
    terminal(monkeypatch, there=False, act=opened.append)
    end_with_the_studio(Path("runs"), report("DeadRelu"))
    said = capsys.readouterr().out
    assert "cutaway studio runs" in said
    assert "Findings: DeadRelu" in said
    assert "demo_sick-2" in said
    assert opened == []


def test_in_a_terminal_it_ends_with_the_studio(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[Path] = []
    terminal(monkeypatch, there=True, act=opened.append)
    end_with_the_studio(Path("runs"), report())
    assert opened == [Path("runs")]
    assert "open it" not in capsys.readouterr().out


def test_where_the_studio_cannot_start_the_demo_says_why_and_does_not_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(_folder: Path) -> None:
        raise ConfigurationError("The studio needs uvicorn, which is not installed here.")

    terminal(monkeypatch, there=True, act=missing)
    end_with_the_studio(Path("runs"), report("DeadRelu"))
    assert "The studio needs uvicorn" in capsys.readouterr().out
