import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

import cutaway.cli.studio
from cutaway.cli.demo import end_with_the_studio, population_page
from cutaway.errors import ConfigurationError, MissingExtraError
from cutaway.run import Run, RunState
from tests.unit.studio.one_run import studio_of

Cutaway = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("epochs", ["0", "-3"])
def test_no_epoch_is_refused(epochs: str, cutaway: Cutaway) -> None:
    code, _, err = cutaway("demo", "--epochs", epochs)
    assert code == 2
    assert f"`--epochs >= 1` must hold, but got --epochs {epochs}." in err


@pytest.mark.parametrize("missing", ["torch", "sklearn.datasets"])
def test_a_missing_package_is_named_with_the_line_that_installs_it(
    missing: str, cutaway: Cutaway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    code, out, err = cutaway("demo", "--json")
    assert code == 2
    assert "pip install 'cutaway[demo]'" in err
    assert json.loads(out)["code"] == MissingExtraError.__name__


def terminal(monkeypatch: pytest.MonkeyPatch, *, there: bool, act: Callable[[Path, str], None]) -> None:
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return there

    monkeypatch.setattr("sys.stdin", Stream())
    monkeypatch.setattr("sys.stderr", Stream())
    monkeypatch.setattr(cutaway.cli.studio, "studio", act)


@pytest.mark.parametrize("there", [True, False])
def test_the_demo_ends_with_the_studio_in_a_terminal_only(monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    opened: list[tuple[Path, str]] = []
    terminal(monkeypatch, there=there, act=lambda folder, page: opened.append((folder, page)))
    end_with_the_studio(Path("runs/demo labels"))
    assert opened == ([(Path("runs"), population_page(Path("runs/demo labels")))] if there else [])


def test_the_page_is_that_of_the_population_with_the_planted_labels_in_sight(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "demo labels")
    run.begin_attempt(from_step=0)[1].release(RunState.FINISHED)
    page = urlsplit(population_page(run.path))
    with studio_of(tmp_path) as asked:
        assert page.path == f"runs/{asked.id_of('demo labels')}/population"
    assert parse_qs(page.query) == {"color": ["label"], "where": ["metadata.planted = true"]}


def test_where_the_studio_cannot_start_the_demo_says_why_and_does_not_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(_folder: Path, page: str) -> None:
        raise ConfigurationError("The studio needs uvicorn, which is not installed here.")

    terminal(monkeypatch, there=True, act=missing)
    end_with_the_studio(Path("runs/demo"))
    assert "The studio needs uvicorn" in capsys.readouterr().out
