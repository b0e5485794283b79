"""Takes the pictures of the studio's pages for the documentation: `make screenshots` writes docs/images/studio/.

Trains and makes runs below a temporary folder, serves them, and photographs every page in both themes.
"""

import argparse
import io
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from scripts.find_browser import find_or_install
from scripts.requirements import ROOT
from scripts.screenshot_pages import MNIST, PAGES, Page
from scripts.screenshot_runs import make_runs

__all__ = ["main", "smaller"]

FOLDER = ROOT / "docs" / "images" / "studio"
TUTORIAL = ROOT / "docs" / "images" / "mnist"
THEMES = ("light", "dark")
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 700, "height": 900}
# As high as the windows are that people have at these widths; any other is as high as WIDE.
HEIGHTS = {390: 844, 1920: 1080}
# What a run is given before its picture is taken.
TESTS = ("accuracy where label = 8 at least 80 %", "accuracy at least 99 %", "loss of training at most 0.5")


class Place:
    """Something that serves pages: a studio with the ids of its runs, or a frozen copy."""

    def __init__(self, base: str, known: dict[str, str]) -> None:
        self.base = base
        self.known = known

    def address(self, page: Page) -> str:
        """Return the whole address of a page; what it names beyond runs is asked for now."""
        for name in re.findall(r"\{([\w-]+)\}", page.address):
            if name not in self.known:
                self.known[name] = quote(str(_FINDERS[name](self)), safe="")
        path = re.sub(r"\{([\w-]+)\}", lambda found: self.known[found[1]], page.address)
        return f"{self.base}/{path}"

    def ask(self, path: str) -> Any:
        """Return what a route answers."""
        with urlopen(f"{self.base}/api/{path}") as answer:
            return json.load(answer)["data"]

    def tell(self, path: str, body: dict[str, Any]) -> Any:
        """Change something, and return what became of it."""
        request = Request(f"{self.base}/api/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urlopen(request) as answer:
            return json.load(answer)["data"]


def _finding(place: Place) -> str:
    rows = place.ask(f"runs/{place.known['demo_sick']}/findings")
    return str(next(row["id"] for row in rows if row["code"] == "DeadRelu"))


def _tensor(place: Place) -> str:
    names = [one["name"] for one in place.ask(f"runs/{place.known['demo_sick']}/tensors?search=conv2")]
    return str(next(name for name in names if "gradient" in name))


def _hardest(run: str, where: str) -> Any:
    def found(place: Place) -> str:
        rows = place.ask(f"runs/{place.known[run]}/population/search?limit=1&where={quote(where)}")
        return str(rows[0]["sample"])

    return found


def _running(place: Place) -> str:
    """A job that takes a while: one that was started for an earlier page has ended where the machine is busy."""
    started = place.tell("jobs", {"kind": "analyze", "run": place.known["a-million"], "what": "outliers"})["id"]
    while place.ask(f"jobs/{started}")["state"] == "waiting":
        time.sleep(0.2)
    return str(started)


_FINDERS: dict[str, Any] = {
    "finding": _finding,
    "tensor": _tensor,
    "error": _hardest("demo_labels", "subset = validation"),
    "sentence": _hardest("text", "correct = false"),
    "suspect": lambda place: place.ask(f"runs/{place.known['demo_labels']}/suggestions?limit=1")[0]["sample"],
    "running": _running,
    "ended": lambda place: next(job["id"] for job in place.ask("jobs") if job["state"] == "finished"),
}


def main(arguments: list[str] | None = None) -> int:
    """Take the pictures, all or those that are named."""
    parser = argparse.ArgumentParser(prog="python -m scripts.screenshots", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these pages")
    parser.add_argument("--out", type=Path, default=FOLDER, help="where to write them (default: docs/images/studio)")
    parser.add_argument("--work", type=Path, help="where runs are made, and found the next time, instead of a moment")
    parser.add_argument("--width", type=int, nargs="+", help="instead of those of the documentation: 390, 1280, 1920")
    parser.add_argument("--mnist", type=Path, metavar="RUN", help="take those of this run for the tutorial instead")
    options = parser.parse_args(arguments)
    if options.mnist:
        return _take_mnist(options.mnist, options.names)
    wanted = [page for page in PAGES if not options.names or page.name in options.names]
    out, work = options.out.resolve(), options.work and options.work.resolve()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        os.environ["XDG_CACHE_HOME"] = str(Path(folder) / "cache")
        trained, made = make_runs(work or Path(folder) / "digits")
        os.chdir(trained.parent)
        browser = stack.enter_context(_browser())
        places = {"trained": stack.enter_context(_serving(trained)), "made": stack.enter_context(_serving(made))}
        _prepare(places["trained"])
        places["made"].tell(
            "jobs", {"kind": "analyze", "run": places["made"].known["three-classes"], "what": "confusion"}
        )
        if any(page.of == "frozen" for page in wanted):
            places["frozen"] = _frozen(next(trained.glob("demo_labels-*")), Path(folder) / "copy", places["trained"])
        for page in wanted:
            for theme in THEMES:
                for width in options.width or [None]:
                    name = f"{page.name}-{theme}.png" if width is None else f"{page.name}-{width}-{theme}.png"
                    _take(browser, places[page.of], page, theme, out / name, width=width)
        _end_jobs(places["made"])
    return 0


def _take_mnist(run: Path, names: list[str]) -> int:
    """Photograph the run of examples/explore_mnist, as the tutorial shows it: in one theme."""
    with _serving(run) as place, _browser() as browser:
        for page in MNIST:
            if not names or page.name in names:
                _take(browser, place, page, "light", TUTORIAL / f"{page.name}.png")
    return 0


def _prepare(place: Place) -> None:
    """Give a run some tests: pages that show what people did need people."""
    for line in TESTS:
        place.tell(f"runs/{place.known['demo_labels']}/tests", {"line": line})


def _end_jobs(place: Place) -> None:
    for job in place.ask("jobs"):
        with suppress(HTTPError):  # over in the meantime
            place.tell(f"jobs/{job['id']}/cancel", {})


def _frozen(run: Path, folder: Path, place: Place) -> Place:
    from cutaway.studio.freezing.freeze import freeze
    from cutaway.studio.index.places import Places

    freeze(run, folder)
    [run_id] = Places(run).look()
    return Place(folder.as_uri(), {"demo_labels": run_id, "suspect": quote(_FINDERS["suspect"](place))})


@contextmanager
def _serving(runs: Path) -> Iterator[Place]:
    from cutaway.studio.serving.server import serve_in_thread
    from cutaway.studio.the_studio import Studio

    with serve_in_thread(Studio.open(runs)) as served:
        place = Place(served.url, {})
        names = {path.parent.name for path in [runs / "run.json", *runs.glob("*/run.json")] if path.is_file()}
        while len(place.known) < len(names):  # until the first look at the folder is done
            place.known = {re.sub(r"-\d{8}-.*", "", row["name"]): row["id"] for row in place.ask("runs")}
        yield place


@contextmanager
def _browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(find_or_install()), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def _take(browser: Any, place: Place, page: Page, theme: str, path: Path, *, width: int | None = None) -> None:
    window = NARROW if page.narrow else WIDE
    if width is not None:
        window = {"width": width, "height": HEIGHTS.get(width, WIDE["height"])}
    context = browser.new_context(viewport=window, color_scheme=theme, reduced_motion="reduce")
    try:
        shown = context.new_page()
        shown.goto(place.address(page))
        shown.wait_for_selector(page.ready, state="attached", timeout=120_000)
        shown.wait_for_timeout(700)  # numbers and pictures that come one after the other
        if page.keys:
            shown.keyboard.press(page.keys)
        if page.act:
            page.act(shown)
        shown.wait_for_timeout(700)
        path.write_bytes(smaller(shown.screenshot()))
        print(path.name, flush=True)
    finally:
        context.close()


def smaller(png: bytes) -> bytes:
    """With 256 colours, none of them far from its own: the pictures are kept in the repository."""
    from PIL import Image

    sink = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        few = image.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
        few.save(sink, "PNG", optimize=True)
    return sink.getvalue()


if __name__ == "__main__":
    sys.exit(main())
