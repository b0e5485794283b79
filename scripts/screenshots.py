"""Takes the pictures of the studio's pages for the documentation: `make screenshots` writes docs/images/studio/.

Trains the demo's networks for a moment into a temporary folder, serves them, and photographs every page in both themes.
"""

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

from scripts.find_browser import find_or_install
from scripts.requirements import ROOT

__all__ = ["PAGES", "main"]

FOLDER = ROOT / "docs" / "images" / "studio"
THEMES = ("light", "dark")
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 700, "height": 900}


@dataclass(frozen=True)
class Runs:
    """The ids of the runs that are shown."""

    healthy: str
    sick: str


@dataclass(frozen=True)
class Page:
    """A page: its address with `{healthy}`, `{sick}` and `{finding}` in it, and what to wait for."""

    name: str
    address: str
    ready: str
    narrow: bool = False
    keys: str = ""


PAGES = (
    Page("runs", "runs", "tr[data-index] a"),
    Page("runs-narrow", "runs", "tr[data-index] a", narrow=True),
    Page("runs-parallel", "runs?view=parallel", "svg, canvas"),
    Page("compare", "compare?run={healthy}&run={sick}", ".uplot canvas"),
    Page("curves", "runs/{healthy}", ".uplot canvas"),
    Page("curves-narrow", "runs/{healthy}", ".uplot canvas", narrow=True),
    Page("sick", "runs/{sick}", ".uplot canvas"),
    Page("tensors", "runs/{sick}/tensors", "[role=application] canvas"),
    Page("tensor", "runs/{sick}/tensors?name={tensor}", ".uplot canvas"),
    Page("layers", "runs/{sick}/layers", "table, [role=treegrid]"),
    Page("findings", "runs/{sick}/findings", "main a[href*='findings/']"),
    Page("finding", "runs/{sick}/findings/{finding}", "h2"),
    Page("samples", "runs/{sick}/samples?from=0&to=5", "main img, main table, main li"),
    Page("config", "runs/{healthy}/config", "h2"),
    Page("steering", "runs/{healthy}/steering", "h2, p"),
    Page("keys", "runs", "tr[data-index] a", keys="?"),
    Page("palette", "runs", "tr[data-index] a", keys="Control+k"),
)


def main(arguments: list[str] | None = None) -> int:
    """Take the pictures, all or those that are named."""
    parser = argparse.ArgumentParser(prog="python -m scripts.screenshots", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these pages")
    parser.add_argument("--out", type=Path, default=FOLDER, help="where to write them (default: docs/images/studio)")
    parser.add_argument("--runs", type=Path, help="a folder with the demo's runs, instead of training them")
    options = parser.parse_args(arguments)
    wanted = [page for page in PAGES if not options.names or page.name in options.names]
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        runs = options.runs or _train(Path(folder))
        with _serving(runs, Path(folder)) as studio, _browser() as browser:
            for theme in THEMES:
                for page in wanted:
                    _take(browser, studio, page, theme, options.out)
    return 0


def _train(folder: Path) -> Path:
    """Train in a folder of its own, and stay there: what is shown then names no folder of this machine."""
    print("Training the demo's networks ...", flush=True)
    project = folder / "digits"
    project.mkdir()
    variables = {name: value for name, value in os.environ.items() if name != "CUTAWAY_HOME"}
    command = [sys.executable, "-m", "cutaway", "demo", "--json"]
    subprocess.run(command, check=True, cwd=project, env=variables, stdout=subprocess.DEVNULL)
    for config in project.glob("runs/*/config.yaml"):
        config.write_text(re.sub(r"(?m)^(\s*- )/.*__main__\.py$", r"\1cutaway/__main__.py", config.read_text()))
    os.chdir(project)
    return project / "runs"


@contextmanager
def _serving(runs: Path, folder: Path) -> Iterator[str]:
    from cutaway.studio.serving import serve_in_thread
    from cutaway.studio.the_studio import Studio

    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    with serve_in_thread(Studio.open(runs)) as served:
        yield served.url


@contextmanager
def _browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(find_or_install()), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def _take(browser: Any, studio: str, page: Page, theme: str, out: Path) -> None:
    context = browser.new_context(viewport=NARROW if page.narrow else WIDE, color_scheme=theme, reduced_motion="reduce")
    try:
        shown = context.new_page()
        shown.goto(f"{studio}/{_address(studio, page)}")
        shown.wait_for_selector(page.ready)
        if page.keys:
            shown.keyboard.press(page.keys)
        shown.wait_for_timeout(700)  # numbers and pictures that come one after the other
        path = out / f"{page.name}-{theme}.png"
        path.write_bytes(_smaller(shown.screenshot()))
        print(path.name, flush=True)
    finally:
        context.close()


def _address(studio: str, page: Page) -> str:
    if "{" not in page.address:
        return page.address
    runs = _ids(studio)
    about = {"healthy": runs.healthy, "sick": runs.sick, "finding": "", "tensor": ""}
    if "{finding}" in page.address:
        rows = _ask(studio, f"runs/{runs.sick}/findings")
        about["finding"] = next(row["id"] for row in rows if row["code"] == "DeadRelu")
    if "{tensor}" in page.address:
        names = [one["name"] for one in _ask(studio, f"runs/{runs.sick}/tensors?search=conv2")]
        about["tensor"] = quote(next(name for name in names if "gradient" in name))
    return page.address.format(**about)


def _ids(studio: str) -> Runs:
    while True:  # until the first look at the folder is done
        found = {row["name"].split("-")[0]: row["id"] for row in _ask(studio, "runs")}
        if {"demo", "demo_sick"} <= set(found):
            return Runs(found["demo"], found["demo_sick"])


def _ask(studio: str, path: str) -> list[dict[str, Any]]:
    with urlopen(f"{studio}/api/{path}") as answer:
        rows: list[dict[str, Any]] = json.load(answer)["data"]
    return rows


def _smaller(png: bytes) -> bytes:
    """With 256 colours: a page has few, and the pictures are kept in the repository."""
    from PIL import Image

    sink = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(sink, "PNG", optimize=True)
    return sink.getvalue()


if __name__ == "__main__":
    sys.exit(main())
