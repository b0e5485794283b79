"""The places where numbers stand: the studio's page in a browser, its HTTP API, and the commands. Compares nothing."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pyarrow as pa

from scripts.find_browser import find_or_install

__all__ = ["Commands", "Studio", "Table", "open_studio"]

# So long a loaded machine may take for one page; nobody waits for it on a quiet one.
PATIENCE_MS = 90_000
_TABLE = """table => [...table.querySelectorAll("tr")].map(row => ({head: row.closest("thead") !== null,
  cells: [...row.children].map(cell => ({text: cell.innerText.trim(), title: cell.title,
    names: cell.tagName === "TH", wide: cell.colSpan, tall: cell.rowSpan}))}))"""

Cells = dict[str, str]


class Table:
    """A table of the page: its rows by the text of their heads, the cells by the titles of their columns."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.titles = _titles([row["cells"] for row in rows if row["head"]])
        self.rows: dict[str, Cells] = {}
        for cells in (row["cells"] for row in rows if not row["head"]):
            if len(cells) == len(self.titles):
                texts = [cell["text"] for cell in cells]
                # A name that is cut off is whole under the pointer.
                name = next((cell["title"] or cell["text"] for cell in cells if cell["names"]), texts[0])
                self.rows[name.split("\n")[0]] = dict(zip(self.titles, texts, strict=True))

    def cell(self, row: str, column: str) -> str | None:
        """Return what stands in a cell; None where there is no such row or column."""
        return self.rows.get(row, {}).get(column)


def _titles(heads: list[list[dict[str, Any]]]) -> list[str]:
    """Return the titles of the columns: those of two rows of heads are joined."""
    if not heads:
        return []
    first = [(cell["text"], cell["tall"] > 1) for cell in heads[0] for _ in range(cell["wide"])]
    below = iter([cell["text"] for cell in heads[1]] if len(heads) > 1 else [])
    return [text if tall else f"{text} {next(below, '')}".strip() for text, tall in first]


class Studio:
    """A studio that serves the runs of a folder, and a browser that looks at it."""

    def __init__(self, base: str, page: Any) -> None:
        self.base = base
        self.page = page
        self._ids: dict[str, str] = {}

    def id_of(self, run: str) -> str:
        """Return the id of a run, waiting until the studio has seen it."""
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while run not in self._ids:
            self._ids = {row["name"]: row["id"] for row in self.ask("runs")}
            if time.monotonic() > deadline:
                raise TimeoutError(f"the studio has no run {run!r}")
            time.sleep(0.05)
        return self._ids[run]

    def ask(self, path: str, **query: Any) -> Any:
        """Return what a route answers."""
        with urlopen(self._address(f"api/{path}", query)) as answer:
            return json.load(answer)["data"]

    def ask_page(self, path: str, **query: Any) -> dict[str, Any]:
        """Return a page of rows with how many there are."""
        with urlopen(self._address(f"api/{path}", query)) as answer:
            return dict(json.load(answer))

    def columns(self, path: str, **query: Any) -> pa.Table:
        """Return the columns that a route answers."""
        with urlopen(self._address(f"api/{path}", query)) as answer:
            return pa.ipc.open_stream(io.BytesIO(answer.read())).read_all()

    def tell(self, run: str, path: str, body: dict[str, Any]) -> Any:
        """Change something of a run, and return what became of it."""
        return self._post(f"runs/{self.id_of(run)}/{path}", body)

    def start(self, body: dict[str, Any]) -> None:
        """Have a job done, and wait for its end."""
        job = self._post("jobs", body)
        deadline = time.monotonic() + 10 * PATIENCE_MS / 1000
        while job["state"] in ("waiting", "running"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the job {job['id']} does not end")
            time.sleep(0.2)
            job = self.ask(f"jobs/{job['id']}")
        if job["state"] != "finished":
            raise RuntimeError(f"the job {body} ended as {job['state']!r}")

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        request = Request(f"{self.base}/api/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urlopen(request) as answer:
            return json.load(answer)["data"]

    def _address(self, path: str, query: dict[str, Any]) -> str:
        return f"{self.base}/{path}" + (f"?{urlencode(query, doseq=True)}" if query else "")

    # The page.

    def show(self, path: str, ready: str, **query: Any) -> Any:
        """Open an address, wait for what says that it is there, and return playwright's page."""
        self.page.goto(self._address(path, query))
        self.page.wait_for_selector(ready, state="attached", timeout=PATIENCE_MS)
        return self.page

    def table(self, selector: str) -> Table:
        """Return the first table that a selector finds; one without rows where it finds none."""
        found = self.page.locator(selector).first
        return Table(found.evaluate(_TABLE) if found.count() else [])

    def text(self, selector: str) -> str | None:
        """Return the text of the first that a selector finds, None where it finds none."""
        found = self.page.locator(selector).first
        return str(found.inner_text()).strip() if found.count() else None

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all that a selector finds."""
        return [str(one).strip() for one in self.page.locator(selector).all_inner_texts()]

    def facts(self, selector: str) -> dict[str, list[str]]:
        """Return the terms of a list with what is said of each."""
        read = "lists => lists.flatMap(list => [...list.querySelectorAll('dt')].map(term => [term.innerText.trim(), " \
               "[...term.parentElement.querySelectorAll('dd')].map(one => one.innerText.trim())]))"  # fmt: skip
        return {str(term): list(said) for term, said in self.page.locator(selector).evaluate_all(read)}


class Commands:
    """The `cutaway` command, run in the folder of a session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def text(self, *words: str) -> str:
        """Return what a command prints; the words of a wide terminal."""
        return self._run(*words)

    def json(self, *words: str) -> Any:
        """Return what a command prints with `--json`."""
        return json.loads(self._run(*words, "--json"))

    def python(self, *words: str, **variables: str) -> None:
        """Run a module of this program."""
        self._run(*words, program=("-m",), **variables)

    def _run(self, *words: str, program: tuple[str, ...] = ("-m", "cutaway"), **variables: str) -> str:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CUTAWAY_")}
        environment |= {"COLUMNS": "400", "NO_COLOR": "1", **variables}
        root = str(Path(__file__).parents[2])
        environment["PYTHONPATH"] = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        command = [sys.executable, *program, *words]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done.stdout


@contextmanager
def open_studio(runs: Path) -> Iterator[Studio]:
    """Serve a folder of runs, with a browser that looks at it, while the block runs."""
    from playwright.sync_api import sync_playwright

    from cutaway.studio.serving.server import serve_in_thread
    from cutaway.studio.the_studio import Studio as Served

    with serve_in_thread(Served.open(runs)) as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(find_or_install()), args=["--no-sandbox"])
        try:
            context = browser.new_context(viewport={"width": 1600, "height": 1400}, reduced_motion="reduce")
            page = context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            yield Studio(served.url, page)
        finally:
            browser.close()
