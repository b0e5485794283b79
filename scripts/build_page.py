"""Builds the studio's page from ui/ into the package: for the wheel's build hook, and for `make`.

The page lies in src/cutaway/studio/static, which git ignores, and in its folder `frozen` the same page as one classic
script, for copies that are opened without a studio. Beside it lies the digest of the sources that it was
built from, so that a page of other sources is noticed and never shipped. Where there can be no page, `missing.txt`
lies there in its place and says why; `cutaway studio` shows it. Needs only the standard library.

Everything that npm installs is pinned by ui/package-lock.json. Scripts of packages are not run.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.node import NodeMissing, npm, run_node
from scripts.requirements import ROOT

__all__ = ["MISSING", "STATIC", "PageNotBuilt", "build", "forgo", "install_tools", "is_current", "tools_are_installed"]

UI = ROOT / "ui"
STATIC = ROOT / "src" / "cutaway" / "studio" / "static"
BUILD = ROOT / "build"
BUILT_FROM = "built-from.txt"
MISSING = "missing.txt"
SOURCES = (
    "index.html",
    "package.json",
    "package-lock.json",
    "svelte.config.js",
    "tsconfig.json",
    "vite.config.ts",
    "vite.frozen.config.ts",
)
SOURCE_FOLDERS = ("src", "public")
FROZEN = ["build", "--mode", "frozen", "--config", "vite.frozen.config.ts"]
CI = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error"]
# One small question tells a registry that cannot be reached from one that is slow: the first is given up at once, the
# second may take its time.
PROBE = ["view", "uplot", "version", "--prefer-online", "--fetch-retries=0", "--fetch-timeout=8000", "--loglevel=error"]
PROBE_SECONDS, CI_SECONDS, VITE_SECONDS = 20, 300, 240


class PageNotBuilt(Exception):
    """There is no page; the message says why in one line, and `output` has the tool's last words."""

    def __init__(self, reason: str, output: str = "") -> None:
        super().__init__(reason)
        plain = re.sub(r"\x1b\[[0-9;]*m", "", output)  # the bundler paints what it says, whoever reads it
        self.output = "\n".join(plain.strip().splitlines()[-40:])


def is_current() -> bool:
    """Whether the page is there and was built from the sources as they are."""
    digest = STATIC / BUILT_FROM
    return (STATIC / "index.html").is_file() and digest.is_file() and digest.read_text() == source_digest()


def source_digest() -> str:
    """Return one number for everything that the page is built from."""
    digest = hashlib.sha256()
    for path in _sources():
        content = path.read_bytes()
        digest.update(f"{path.relative_to(UI).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def tools_are_installed(*, checks: bool) -> bool:
    """Whether ui/node_modules has what building the page needs, or also what checking it needs, as it is pinned."""
    there = UI / "node_modules" / ".package-lock.json"  # npm's own record of what it has installed
    if not there.is_file():
        return False
    installed = json.loads(there.read_text())["packages"]
    return all(
        installed.get(name, {}).get("version") == package["version"]
        for name, package in json.loads((UI / "package-lock.json").read_text())["packages"].items()
        # Of those that are made for one system each, npm installs the ones for this.
        if name and not package.get("optional") and (checks or not package.get("dev"))
    )


def install_tools() -> None:
    """Install into ui/node_modules what building and checking the page needs. Raises `PageNotBuilt`."""
    _npm_ci(UI)


def build() -> None:
    """Build the page and put it in the place of the one that was there. Raises `PageNotBuilt`."""
    with _workplace() as workplace:
        digest, folder, made = source_digest(), UI, workplace / "page"
        if not tools_are_installed(checks=False):
            # A half-installed ui/node_modules is somebody's own; the copy is ours.
            folder = workplace / "ui"
            for path in _sources():
                copy = folder / path.relative_to(UI)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
            _npm_ci(folder, "--omit=dev")
        vite = folder / "node_modules" / "vite" / "bin" / "vite.js"
        _run("vite", vite, ["build", "--outDir", str(made), "--emptyOutDir"], folder, VITE_SECONDS)
        _run("vite", vite, [*FROZEN, "--outDir", str(made / "frozen"), "--emptyOutDir"], folder, VITE_SECONDS)
        (made / BUILT_FROM).write_text(digest)
        _replace(made)


def forgo(reason: str) -> None:
    """Leave no page, not even one of other sources, and say why in its place."""
    with _workplace() as workplace:
        made = workplace / "page"
        made.mkdir()
        (made / MISSING).write_text(reason + "\n")
        _replace(made)


def _sources() -> Iterator[Path]:
    yield from (UI / name for name in SOURCES if (UI / name).is_file())
    for folder in SOURCE_FOLDERS:
        # An editor's hidden files and tests have no part in the page.
        yield from sorted(
            path
            for path in (UI / folder).rglob("*")
            if path.is_file() and not path.name.startswith(".") and not path.name.endswith(".test.ts")
        )


def _npm_ci(folder: Path, *options: str) -> None:
    try:
        _run("npm", None, PROBE, folder, PROBE_SECONDS)
    except PageNotBuilt as unreachable:
        try:
            _run("npm", None, [*CI, *options, "--offline"], folder, CI_SECONDS)  # it may have everything cached
        except PageNotBuilt:
            raise unreachable from None
    else:
        _run("npm", None, [*CI, *options], folder, CI_SECONDS)


def _run(name: str, script: Path | None, arguments: list[str], folder: Path, seconds: float) -> None:
    try:
        done = run_node(script or npm(), arguments, folder=folder, environment={"NO_COLOR": "1"}, seconds=seconds)
    except NodeMissing as error:
        raise PageNotBuilt(str(error)) from error
    except subprocess.TimeoutExpired as error:
        raise PageNotBuilt(f"{name} took longer than {seconds:.0f} s.") from error
    if done.returncode:
        code = re.search(r"(?m)^npm error (?:code|errno) (\S+)", done.stdout)
        said = f" ({code[1]})" if code else ""
        what = "npm could not fetch what the page is built with" if name == "npm" else f"{name} failed"
        raise PageNotBuilt(f"{what}{said}.", done.stdout)


@contextmanager
def _workplace() -> Iterator[Path]:
    """A folder on the disk of the package, so that what is made there can be moved into place whole."""
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        yield Path(folder)


def _replace(made: Path) -> None:
    """Move a folder into the place of the page."""
    if STATIC.exists():
        STATIC.rename(made.with_name("old"))
    made.rename(STATIC)


def main(arguments: list[str]) -> int:
    """Build the page unless it is current; `--with-checks` also installs what checks it. What `make` runs."""
    try:
        if "--with-checks" in arguments and not tools_are_installed(checks=True):
            install_tools()
        if not is_current():
            build()
    except PageNotBuilt as error:
        if not is_current():
            forgo(str(error))
        print(f"{error.output}\n{error}".strip(), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
