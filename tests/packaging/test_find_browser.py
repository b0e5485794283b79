"""The search for a browser: its order, what counts as one, and that a dead network ends it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts import find_browser, install
from scripts.find_browser import BrowserError, browser_tests_are_skipped, find_installed, find_or_install


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any browser, that can install none."""
    for folder in ("bin", "home", "cache"):
        (tmp_path / folder).mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "cache"))
    for name in ("CUTAWAY_BROWSER", "BROWSER", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(find_browser, "APPLICATIONS", ())
    monkeypatch.setattr(find_browser, "_is_root", lambda: False)
    monkeypatch.setattr(install, "prepare_venv", lambda: None)
    monkeypatch.setattr(install, "PYTHON", tmp_path / "bin" / "venv-python")
    add_program(install.PYTHON, '[ "$1" = -c ] || { echo no route to host; exit 1; }')
    return tmp_path


def add_program(path: Path, lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)
    return path


def add_browser(path: Path, *, runs: bool = True) -> Path:
    return add_program(path, "echo Chromium 150.0.1" if runs else "echo use the snap >&2; exit 1")


def installing(browser: Path) -> str:
    """Lines of a program that installs a browser."""
    return f"/bin/mkdir -p {browser.parent}; /bin/cp {add_browser(browser.with_name('made'))} {browser}"


def test_of_two_the_one_without_windows_is_taken(machine: Path) -> None:
    add_browser(machine / "bin" / "chromium")
    shell = add_browser(machine / "bin" / "chromium-headless-shell")
    assert find_installed() == shell


def test_a_given_browser_comes_first_and_is_the_only_one_tried(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_browser(machine / "bin" / "chromium")
    mine = add_browser(machine / "mine")
    monkeypatch.setenv("CUTAWAY_BROWSER", str(mine))
    assert find_installed() == mine
    add_browser(mine, runs=False)
    with pytest.raises(BrowserError, match=r"CUTAWAY_BROWSER=.*mine is no browser that runs"):
        find_or_install()


def test_the_path_comes_before_what_playwright_has(machine: Path) -> None:
    old = add_browser(machine / "cache" / "chromium_headless_shell-99" / "linux" / "headless_shell")
    assert find_installed() == old
    new = add_browser(machine / "cache" / "chromium_headless_shell-1254" / "linux64" / "chrome-headless-shell")
    assert find_installed() == new
    chrome = add_browser(machine / "bin" / "google-chrome")
    assert find_installed() == chrome


def test_a_browser_that_does_not_run_is_none(machine: Path) -> None:
    add_browser(machine / "bin" / "chromium-browser", runs=False)
    assert find_installed() is None


def test_playwright_installs_one_where_there_is_none(machine: Path) -> None:
    shell = machine / "cache" / "chromium_headless_shell-1254" / "linux64" / "chrome-headless-shell"
    said = machine / "asked"
    add_program(install.PYTHON, f'[ "$1" = -c ] && exit 0; echo "$*" > {said}; {installing(shell)}')
    assert find_or_install() == shell
    assert said.read_text() == "-m playwright install chromium-headless-shell\n"


def test_root_on_debian_gets_one_by_apt_where_playwright_cannot(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chromium, said = machine / "bin" / "chromium", machine / "asked"
    add_program(
        machine / "bin" / "apt-get",
        f'echo "$*" >> {said}; case "$*" in *update) ;; *) {installing(chromium)};; esac',
    )
    with pytest.raises(BrowserError, match="none could be installed"):
        find_or_install()
    monkeypatch.setattr(find_browser, "_is_root", lambda: True)
    monkeypatch.setattr(find_browser, "DEBIAN", machine)
    assert find_or_install() == chromium
    updated, installed = said.read_text().splitlines()
    assert updated.endswith(" update")
    assert installed.endswith("install --yes --no-install-recommends chromium-headless-shell")


def test_a_debian_without_a_headless_one_gives_the_whole(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chromium = machine / "bin" / "chromium"
    add_program(
        machine / "bin" / "apt-get",
        f'case "$*" in *update) ;; *headless-shell) exit 100;; *) {installing(chromium)};; esac',
    )
    monkeypatch.setattr(find_browser, "_is_root", lambda: True)
    monkeypatch.setattr(find_browser, "DEBIAN", machine)
    assert find_or_install() == chromium


def test_where_there_is_none_the_lines_to_run_are_said(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert find_browser.main() == 1
    said = capsys.readouterr().err
    for line in ("install", "CUTAWAY_BROWSER=", "BROWSER=skip make test"):
        assert line in said


def test_the_tests_can_be_left_out_but_not_under_ci(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not browser_tests_are_skipped({"BROWSER": "firefox"})
    assert not browser_tests_are_skipped({"CI": "true"})
    assert browser_tests_are_skipped({"BROWSER": "skip", "CI": "false"})
    monkeypatch.setenv("BROWSER", "skip")
    assert find_browser.main() == 0
    assert "left out" in capsys.readouterr().out
    monkeypatch.setenv("CI", "true")
    assert find_browser.main() == 1
    assert "CI must run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "succeeds"),
    [
        ("import time; time.sleep(60)", False),
        ("import sys; sys.exit(3)", False),
        ("print('done')", True),
        ("import time\nfor _ in range(8): print('.', flush=True); time.sleep(0.25)", True),
    ],
    ids=["silent", "failing", "quick", "slow and speaking"],
)
def test_a_command_is_waited_for_while_it_speaks(code: str, succeeds: bool) -> None:
    assert find_browser._run_while_it_speaks([sys.executable, "-c", code], quiet_seconds=1.5) is succeeds
