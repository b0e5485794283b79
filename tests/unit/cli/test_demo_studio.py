import io
from collections.abc import Callable
from pathlib import Path

import pytest

import cutaway.cli.studio
from cutaway.cli.demo_studio import end_with_the_studio
from cutaway.errors import ConfigurationError


def terminal(monkeypatch: pytest.MonkeyPatch, *, there: bool, act: Callable[[Path], None]) -> None:
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return there

    monkeypatch.setattr("sys.stdin", Stream())
    monkeypatch.setattr("sys.stderr", Stream())
    monkeypatch.setattr(cutaway.cli.studio, "studio", act)


@pytest.mark.parametrize("there", [True, False])
def test_the_demo_ends_with_the_studio_in_a_terminal_only(monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    opened: list[Path] = []
    terminal(monkeypatch, there=there, act=opened.append)
    end_with_the_studio(Path("runs"))
    assert opened == ([Path("runs")] if there else [])


def test_where_the_studio_cannot_start_the_demo_says_why_and_does_not_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(_folder: Path) -> None:
        raise ConfigurationError("The studio needs uvicorn, which is not installed here.")

    terminal(monkeypatch, there=True, act=missing)
    end_with_the_studio(Path("runs"))
    assert "The studio needs uvicorn" in capsys.readouterr().out
