"""Finds a browser for the tests, or installs one: `python -m scripts.find_browser`, the first thing `make test` does.

In this order: CUTAWAY_BROWSER, which is then the only one tried; Chromium or Chrome on the path, or among the
applications of macOS; what playwright has installed, or installs now; as root on Debian, apt. A browser counts that
says its version. Where there is none it says so within a minute, with the line to run: a test that is left out because
of a missing browser tests nothing. BROWSER=skip leaves those tests out, and is refused under CI.
"""

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from scripts import install
from scripts.requirements import pins

__all__ = ["BrowserError", "browser_tests_are_skipped", "find_installed", "find_or_install"]

HEADLESS_SHELL = "chromium-headless-shell"
# The one without windows first: tests take three quarters of the time in it.
COMMANDS = (HEADLESS_SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
APPLICATIONS = ("Google Chrome.app/Contents/MacOS/Google Chrome", "Chromium.app/Contents/MacOS/Chromium")
PLAYWRIGHT_CACHES = ("~/.cache/ms-playwright", "~/Library/Caches/ms-playwright")
DEBIAN = Path("/etc/debian_version")
# Long enough for a slow download to say something, short enough that a dead one is given up within the first minute.
PLAYWRIGHT_QUIET_SECONDS, APT_QUIET_SECONDS = 25, 20
INSTALL_SECONDS = 300
APT_PATIENCE = ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=10", "-o", "Acquire::https::Timeout=10"]


class BrowserError(Exception):
    """There is no browser; the message has the line to run."""


def browser_tests_are_skipped(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether BROWSER=skip was given. Raises `BrowserError` under CI, where nothing is left out."""
    skip = environment.get("BROWSER") == "skip"
    if skip and environment.get("CI", "").lower() not in {"", "0", "false"}:
        raise BrowserError(
            "BROWSER=skip leaves out the browser's tests, which CI must run. Unset one of BROWSER and CI."
        )
    return skip


def find_installed() -> Path | None:
    """Return a browser that is there and runs. Raises `BrowserError` where CUTAWAY_BROWSER names none."""
    if given := os.environ.get("CUTAWAY_BROWSER"):
        path = shutil.which(given)
        if path is None or not _runs(Path(path)):
            raise BrowserError(f"CUTAWAY_BROWSER={given} is no browser that runs. Give another, or unset it.")
        return Path(path)
    return next((path for path in _candidates() if _runs(path)), None)


def find_or_install() -> Path:
    """Return a browser, installed now if there was none. Raises `BrowserError` where it cannot be."""
    found = find_installed() or _by_playwright() or _by_apt()
    if found is None:
        raise BrowserError(_what_to_do())
    return found


def _candidates() -> Iterator[Path]:
    yield from (Path(found) for command in COMMANDS if (found := shutil.which(command)))
    for folder in (Path("/Applications"), Path("~/Applications").expanduser()):
        yield from (path for name in APPLICATIONS if (path := folder / name).exists())
    chosen = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    for cache in [chosen] if chosen else PLAYWRIGHT_CACHES:
        programs = Path(cache).expanduser().glob("chromium_headless_shell-*/*/*headless*shell")
        yield from sorted(programs, key=_build_number, reverse=True)


def _build_number(program: Path) -> int:
    numbers = re.findall(r"chromium_headless_shell-(\d+)", str(program))
    return int(numbers[-1])


def _runs(program: Path) -> bool:
    # Ubuntu's `chromium-browser` may be a note that points to a snap, and a downloaded one may lack libraries.
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and re.search(r"\d+\.\d+", done.stdout) is not None


def _by_playwright() -> Path | None:
    with install.one_at_a_time():
        install.prepare_venv()
        if subprocess.run([install.PYTHON, "-c", "import playwright"], capture_output=True, check=False).returncode:
            playwright = pins()["playwright"]
            install.say(f"Installing playwright, {playwright.megabytes:.0f} MB to download")
            install.pip("install", "--no-compile", f"playwright=={playwright.version}")
    install.say("No Chromium or Chrome is on the path; playwright installs a headless one, about 110 MB to download")
    command = [str(install.PYTHON), "-m", "playwright", "install", HEADLESS_SHELL]
    return find_installed() if _run_while_it_speaks(command, PLAYWRIGHT_QUIET_SECONDS) else None


def _by_apt() -> Path | None:
    if not (_is_root() and DEBIAN.exists() and shutil.which("apt-get")):
        return None
    install.say("playwright could not; apt-get installs a headless chromium, about 70 MB to download")
    if not _run_while_it_speaks(["apt-get", *APT_PATIENCE, "update"], APT_QUIET_SECONDS):
        return None
    command = ["apt-get", *APT_PATIENCE, "install", "--yes", "--no-install-recommends"]
    # Older Debians have the whole one only.
    done = any(_run_while_it_speaks([*command, name], INSTALL_SECONDS) for name in (HEADLESS_SHELL, "chromium"))
    return find_installed() if done else None


def _run_while_it_speaks(command: Sequence[str], quiet_seconds: float) -> bool:
    """Run a command that may hang on a dead network: ended when it prints nothing for so long. True: it succeeded."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        start_new_session=True,
    )
    spoke = threading.Event()

    def listen() -> None:
        assert process.stdout is not None
        while os.read(process.stdout.fileno(), 65536):
            spoke.set()
        spoke.set()  # it has ended, or is about to

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    while process.poll() is None:
        if not spoke.wait(quiet_seconds):
            os.killpg(process.pid, 9)
            break
        spoke.clear()
        _wait(process, 0.2)
    return process.wait() == 0


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def _is_root() -> bool:
    return os.geteuid() == 0


def _what_to_do() -> str:
    sudo = "" if _is_root() else "sudo "
    line = "brew install --cask google-chrome" if sys.platform == "darwin" else f"{sudo}apt-get install -y chromium"
    return (
        "The tests drive the studio's page in a browser. There is no Chromium or Chrome, and none could be installed.\n"
        f"Install one:                {line}\n"
        "or say where one is:        CUTAWAY_BROWSER=/path/to/chrome make test\n"
        "or leave those tests out:   BROWSER=skip make test"
    )


def main() -> int:
    """Say which browser the tests will use."""
    try:
        if browser_tests_are_skipped():
            print("BROWSER=skip: the tests that need a browser are left out.", flush=True)
        else:
            print(f"The tests use {find_or_install()}.", flush=True)
    except (BrowserError, install.InstallError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
