"""How the command starts and ends, in a process of its own where that matters."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cutaway import __version__
from cutaway.cli import INTERNAL, INTERRUPTED, PIPE_CLOSED, USAGE, main
from cutaway.cli.app import app

COMMANDS = [["demo"], ["runs"], ["runs", "list"], ["runs", "show"], ["runs", "compare"], ["runs", "size"]]
COMMANDS += [
    ["runs", "prune"],
    ["runs", "rm"],
    ["runs", "tag"],
    ["runs", "note"],
    ["tensors"],
    ["control"],
    ["watch"],
    ["check"],
    ["evaluate"],
    ["analyze"],
    ["fix"],
    ["report"],
    ["studio"],
    ["test"],
]


def start(*words: str, **options: object) -> subprocess.Popen[str]:
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    return subprocess.Popen([sys.executable, "-m", "cutaway", *words], **options)  # type: ignore[call-overload]


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from cutaway.cli import main; main(['--help']); main(['runs', 'list', '--help']);"
        "print([name for name in ('numpy', 'pyarrow', 'torch', 'pandas', 'sklearn') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(command: list[str], cutaway: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = cutaway(*command, "--help")
    assert code == 0
    assert "Usage: cutaway" in out


@pytest.mark.parametrize(
    "command", [command for command in COMMANDS if command not in (["runs"], ["studio"])], ids=" ".join
)
def test_every_command_can_answer_in_json(command: list[str], cutaway: Callable[..., tuple[int, str, str]]) -> None:
    _, out, _ = cutaway(*command, "--help", columns=200)
    assert "--json" in out


def test_the_commands_that_are_tested_are_the_commands_that_exist() -> None:
    names = {command.name for command in app.registered_commands} | {group.name for group in app.registered_groups}
    assert names == {command[0] for command in COMMANDS}


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_without_a_command_the_help_is_shown(
    words: tuple[str, ...], cutaway: Callable[..., tuple[int, str, str]]
) -> None:
    code, out, _ = cutaway(*words)
    assert code == 0
    assert "cutaway demo" in out


def test_the_version_is_printed(cutaway: Callable[..., tuple[int, str, str]]) -> None:
    assert cutaway("--version")[:2] == (0, f"cutaway {__version__}\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["shwo"], "No such command 'shwo'."),
        (["runs", "shwo"], "Did you mean 'show'?"),
        (["runs", "show"], "Missing argument 'RUN'"),
        (["runs", "list", "--limmit", "3"], "--limit"),
        (["runs", "list", "-n", "many"], "'--limit'"),
        (["runs", "list", "-n", "-1"], "`--limit >= 0` must hold, but got --limit -1."),
        (["runs", "prune"], "--keep"),
        (["runs", "prune", "--keep", "-1"], "`--keep >= 0` must hold, but got --keep -1."),
        (["runs", "compare", "only-one"], "at least two runs"),
        (["tensors", ""], "No run ''"),
        (["tensors", "nope"], "No run 'nope' in runs."),
        (["runs", "list", "nowhere"], "No folder 'nowhere'"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_to_do(
    words: list[str], said: str, cutaway: Callable[..., tuple[int, str, str]]
) -> None:
    code, out, err = cutaway(*words)
    assert (code, out) == (USAGE, "")
    assert said in err
    assert "Traceback" not in err
    assert "`cutaway" in err


def test_an_error_is_one_json_object_where_json_was_asked(cutaway: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = cutaway("runs", "show", "nope", "--json")
    assert code == USAGE
    assert json.loads(out) == {
        "ok": False,
        "error": "No run 'nope' in runs.",
        "code": "RunNotFound",
        "hint": "`cutaway runs list` shows the runs there are.",
        "status": 2,
    }
    assert "No run 'nope'" in err


@pytest.mark.parametrize("words", [["--debug", "runs", "list"], ["runs", "list", "--debug"]])
def test_an_internal_error_ends_with_3_and_shows_its_place_only_when_asked(
    words: list[str], monkeypatch: pytest.MonkeyPatch, cutaway: Callable[..., tuple[int, str, str]]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr("cutaway.run.list_runs", broken)
    code, _, err = cutaway("runs", "list")
    assert code == INTERNAL
    assert "Internal error: ZeroDivisionError: a fault of ours." in err
    assert "Traceback" not in err
    code, _, err = cutaway(*words)
    assert code == INTERNAL
    assert "Traceback" in err


def test_a_folder_that_may_not_be_read_is_no_internal_error(
    monkeypatch: pytest.MonkeyPatch, cutaway: Callable[..., tuple[int, str, str]]
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "/secret/runs")

    monkeypatch.setattr("cutaway.run.list_runs", refused)
    code, _, err = cutaway("runs", "list")
    assert code == USAGE
    assert "/secret/runs: Permission denied." in err


def test_an_interrupt_ends_quietly_with_130(
    monkeypatch: pytest.MonkeyPatch, cutaway: Callable[..., tuple[int, str, str]]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cutaway.run.list_runs", interrupted)
    assert cutaway("runs", "list") == (INTERRUPTED, "", "")


def test_a_signal_ends_a_following_command_quietly(make_run: Callable[..., object], home: Path) -> None:
    make_run("mnist-1", running=True)
    process = start("tensors", "mnist-1", "--follow", "--json", cwd=home)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (INTERRUPTED, "")


@pytest.mark.parametrize("command", ["runs list", "runs show mnist-1 --json", "tensors mnist-1", "--help", "--version"])
def test_a_reader_that_goes_away_ends_the_command_quietly(
    command: str, make_run: Callable[..., object], home: Path
) -> None:
    make_run("mnist-1", steps=2)
    shell = f"{sys.executable} -m cutaway {command} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], cwd=home, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (f"{PIPE_CLOSED}\n", "")


def test_a_terminal_without_unicode_gets_plain_characters(make_run: Callable[..., object], home: Path) -> None:
    make_run("mnist-1")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    process = start("tensors", "mnist-1", cwd=home, env=environment)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "@" in out
    assert out.isascii()


def test_asking_for_help_loads_no_package_but_what_the_command_is_built_on() -> None:
    code = """
import sys
import typer, rich.console, typer.rich_utils
before = {*sys.modules}
from cutaway.cli import main
try:
    main(["--help"])
finally:
    print("loaded:", *{name.split(".")[0] for name in {*sys.modules} - before})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    loaded = done.stdout.rpartition("loaded: ")[2].split()
    assert {*loaded} - sys.stdlib_module_names == {"cutaway", "typer"}


def test_calling_it_in_a_process_leaves_no_state_behind(home: Path) -> None:
    before = (Path.cwd(), list(sys.path), dict(os.environ))
    main(["runs", "list"])
    assert (Path.cwd(), list(sys.path), dict(os.environ)) == before
