"""The command that opens the page: what it says, what it refuses, and how it ends."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cutaway.cli import USAGE
from cutaway.cli import studio as command

Cutaway = Callable[..., tuple[int, str, str]]
TOKEN = "a-token-of-24-characters"


@pytest.fixture(autouse=True)
def _no_surroundings(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    for name in ("CUTAWAY_TOKEN", "DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def never_served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Everything but the serving itself."""
    served: list[Any] = []
    monkeypatch.setattr(
        "cutaway.studio.serving.server.serve", lambda app, studio, _: (served.append(app), studio.close())
    )
    return served


@pytest.fixture
def start(home: Path) -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
    started: list[subprocess.Popen[str]] = []

    def begin(*words: str, **environment: str) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "cutaway", "studio", "--port", "0", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=home,
            env={**os.environ, **environment},
        )
        started.append(process)
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                return process, found[0]
        raise AssertionError("It ended before it said where it is.")

    yield begin
    for process in started:
        process.kill()
        process.wait()


def test_it_serves_and_an_interrupt_ends_it_quietly(
    start: Callable[..., tuple[subprocess.Popen[str], str]], make_run: Callable[..., object]
) -> None:
    make_run("mnist-1")
    process, url = start()
    assert json.load(urllib.request.urlopen(f"{url}/api/about"))["data"]["runs"] == 1
    stream = urllib.request.urlopen(f"{url}/api/live?topic=runs", timeout=20)
    assert stream.readline().startswith(b"retry")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert "GET" not in err


def test_an_empty_folder_gets_the_three_commands_that_make_a_run(cutaway: Cutaway, never_served: list[Any]) -> None:
    code, out, err = cutaway("studio", "--port", "0")
    assert (code, out, len(never_served)) == (0, "", 1)
    assert "No runs in runs yet." in err
    assert "cutaway demo" in err
    assert "cutaway evaluate" in err
    assert "cutaway.attach(model, optimizer)" in err


def test_a_folder_with_runs_or_one_run_gets_no_such_advice(
    cutaway: Cutaway, never_served: list[Any], make_run: Callable[..., object]
) -> None:
    make_run("mnist-1")
    for words in ([], ["runs"], ["runs/mnist-1"]):
        code, _, err = cutaway("studio", *words, "--port", "0")
        assert code == 0
        assert "No runs" not in err
        assert "The studio is at http://127.0.0.1:" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "No folder 'nowhere'."),
        (["--port", "-1"], "`0 <= --port <= 65535` must hold, but got --port -1."),
        (["--port", "65536"], "must hold"),
        (["--root-path", "/a b"], "`--root-path` is a path such as /studio, but got '/a b'."),
        (["--root-path", '/"><script>'], "`--root-path`"),
        (["--root-path", "/../x"], "`--root-path`"),
        (["--host", "no.such.host.invalid", "--token-file", "token"], "`--host no.such.host.invalid`"),
        (["--allow-host", "http://gpu-box"], "`--allow-host` takes a host name such as gpu-box"),
        (["--allow-host", "gpu-box:8600"], "without http:// and port, but got 'gpu-box:8600'"),
        (["--allow-host", "abc:8600"], "`--allow-host`"),
        (["--allow-host", "*"], "`--allow-host`"),
        (["--allow-host", ""], "`--allow-host`"),
        (["--token-file", "missing"], "`--token-file missing` cannot be read"),
        (["--token-file", "empty"], "A token has 16 to"),
        (["--token-file", "short"], "A token has 16 to"),
        (["--token-file", "binary"], "it is not text"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_served(
    words: list[str], said: str, cutaway: Cutaway, never_served: list[Any], home: Path
) -> None:
    for name, content in {"token": TOKEN, "empty": "\n", "short": "abc"}.items():
        (home / name).write_text(content)
    (home / "binary").write_bytes(b"\xff\xfe" * 20)
    code, out, err = cutaway("studio", *words)
    assert (code, out, never_served) == (USAGE, "", [])
    assert said in err


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "gpu-box"])
def test_beyond_this_machine_it_needs_a_token_and_says_the_exact_command(
    host: str, cutaway: Cutaway, never_served: list[Any], home: Path
) -> None:
    code, _, err = cutaway("studio", "--host", host, columns=400)
    assert (code, never_served) == (USAGE, [])
    line = err[err.index("(umask") :].strip()
    assert line.endswith(f"&& cutaway studio --host {host} --token-file studio.token")
    # The command does what it says: a token that is long enough, and that nobody else can read.
    subprocess.run(["bash", "-c", line.partition("&&")[0]], check=True, cwd=home)
    made = home / "studio.token"
    assert len(made.read_text().strip()) >= 32
    assert stat.S_IMODE(made.stat().st_mode) == 0o600


def test_a_token_comes_from_a_file_or_the_environment_and_is_never_printed(
    cutaway: Cutaway, never_served: list[Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "token").write_text(f"{TOKEN}\n")
    (home / "token").chmod(0o600)
    code, _, err = cutaway("studio", "--host", "0.0.0.0", "--port", "0", "--token-file", "token")
    assert code == 0
    assert "Warning" not in err
    monkeypatch.setenv("CUTAWAY_TOKEN", TOKEN)
    code, _, again = cutaway("studio", "--host", "0.0.0.0", "--port", "0")
    assert code == 0
    assert TOKEN not in err + again
    assert [app.state.studio.gate.knows(TOKEN) for app in never_served] == [True, True]


def test_a_token_that_others_can_read_is_warned_about(cutaway: Cutaway, never_served: list[Any], home: Path) -> None:
    (home / "token").write_text(TOKEN)
    (home / "token").chmod(0o644)
    _, _, err = cutaway("studio", "--port", "0", "--token-file", "token")
    assert "chmod 600 token" in err


def test_a_taken_port_is_said_with_the_one_that_is_used(cutaway: Cutaway, never_served: list[Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        _, _, err = cutaway("studio", "--port", str(port))
    used = re.search(rf"Port {port} is taken; using (\d+)\.", err)
    assert used is not None
    assert f"http://127.0.0.1:{used[1]}/" in err


def test_without_a_display_it_prints_the_ssh_line(
    cutaway: Cutaway, never_served: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command.sys, "platform", "linux")
    _, _, err = cutaway("studio", "--port", "0", "--root-path", "studio/")
    port = re.search(r":(\d+)/studio/", err)
    assert port is not None
    assert f"ssh -N -L {port[1]}:127.0.0.1:{port[1]} " in err
    assert f"http://localhost:{port[1]}/studio/" in err


def test_the_address_is_a_name_that_it_answers_to(cutaway: Cutaway, never_served: list[Any], home: Path) -> None:
    (home / "token").write_text(TOKEN)
    words = ["studio", "--port", "0", "--host", "0.0.0.0", "--token-file", "token"]
    assert "http://gpu-box:" in cutaway(*words, "--allow-host", "gpu-box")[2]
    err = cutaway(*words)[2]
    assert "http://127.0.0.1:" in err
    assert "--allow-host" in err


@pytest.mark.parametrize(
    ("variables", "terminal", "words", "opened"),
    [
        ({"DISPLAY": ":0"}, True, [], True),
        ({"WAYLAND_DISPLAY": "w"}, True, [], True),
        ({"DISPLAY": ":0"}, False, [], False),
        ({"DISPLAY": ":0"}, True, ["--no-open"], False),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "a b c d"}, True, [], False),
        ({}, True, [], False),
    ],
)
def test_a_browser_is_opened_where_somebody_sees_it(
    variables: dict[str, str],
    terminal: bool,
    words: list[str],
    opened: bool,
    cutaway: Cutaway,
    never_served: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called = threading.Event()
    monkeypatch.setattr("webbrowser.open", lambda _: called.set())
    monkeypatch.setattr("cutaway.studio.serving.page.Bundle.is_built", True)
    monkeypatch.setattr(command.sys, "platform", "linux")
    monkeypatch.setattr(command, "_is_terminal", lambda: terminal)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    cutaway("studio", "--port", "0", *words)
    assert called.wait(60 if opened else 0.2) is opened


def test_without_a_built_page_it_says_how_to_build_it(
    cutaway: Cutaway, never_served: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutaway.studio.serving.page.Bundle.is_built", False)
    _, _, err = cutaway("studio", "--port", "0")
    assert "make ui" in err


def test_where_its_packages_are_missing_it_gives_the_pip_line(home: Path) -> None:
    code = (
        "import sys; sys.modules['uvicorn'] = None; sys.modules['fastapi'] = None; from cutaway.cli import main;"
        "sys.exit(main(['studio']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=home, check=False)
    assert done.returncode == USAGE
    assert "pip install cutaway" in done.stderr


@pytest.mark.parametrize("name", ["gpu-box", "GPU-Box.example.org", "192.0.2.7", "fe80::1", "[fe80::1]", "a_b"])
def test_every_way_to_write_a_name_is_allowed(name: str, cutaway: Cutaway, never_served: list[Any]) -> None:
    assert cutaway("studio", "--port", "0", "--allow-host", name)[0] == 0


def test_a_user_without_a_name_is_no_fault(
    cutaway: Cutaway, never_served: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 1234")

    monkeypatch.setattr(command.sys, "platform", "linux")
    monkeypatch.setattr("getpass.getuser", nameless)
    assert " you@" in cutaway("studio", "--port", "0")[2]


def test_the_help_shows_how_each_way_is_typed(cutaway: Cutaway) -> None:
    _, out, _ = cutaway("studio", "--help")
    for option in (
        "--port",
        "--host",
        "--allow-host",
        "--root-path",
        "--token-file",
        "--no-open",
        "cutaway studio runs/",
    ):
        assert option in out
