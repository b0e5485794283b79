"""A browser for the tests of this folder, pages that are watched, both themes, and axe.

Which browser, see scripts/find_browser.py. Without one these tests are skipped with a reason; under CI they fail.
"""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

import httpx
import pytest

from cutaway.studio.serving.page import STATIC
from scripts.find_browser import BrowserError, browser_tests_are_skipped, find_installed
from tests.browser.axe import serious_findings
from tests.browser.hostile_run import IMAGE, train_hostile
from tests.browser.looking import eventually
from tests.browser.populations import DIGITS, TEXT, WIDE, make_populations
from tests.browser.studios import Shown, showing
from tests.browser.trainings import MAKERS
from tests.browser.watched_pages import WatchedPages

HERE = Path(__file__).parent
PATIENCE_MS = 30_000
THEMES = ("light", "dark")
HOSTILE_RUN = IMAGE.replace("/", "")
WITHOUT = "there is no Chromium or Chrome; `make test` installs one, CUTAWAY_BROWSER names one"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    ours = [item for item in items if item.path.is_relative_to(HERE)]
    for item in ours:
        item.add_marker(pytest.mark.browser)
        if _left_to_test_all(item):
            item.add_marker(pytest.mark.slow)
    try:
        skipped = bool(ours) and browser_tests_are_skipped()
    except BrowserError as error:
        raise pytest.UsageError(str(error)) from error
    if skipped:
        # Left out and counted, in a line of its own at the end.
        wanted = [item for item in items if item.get_closest_marker("browser") is None]
        config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
        config.stash[LEFT_OUT] = len(items) - len(wanted)
        items[:] = wanted


def _left_to_test_all(item: pytest.Item) -> bool:
    """Whether this is a test in that of the two themes which `make test` does not try, half of them in each."""
    called = getattr(item, "callspec", None)
    theme = called.params.get("theme") if called else None
    return bool(theme) and theme != THEMES[zlib.crc32(item.nodeid.replace(theme, "").encode()) % len(THEMES)]


LEFT_OUT = pytest.StashKey[int]()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if count := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"BROWSER=skip: {count} tests that need a browser were left out.", yellow=True)


@pytest.fixture(scope="session")
def browser_path() -> Path:
    """The browser that is there."""
    found = find_installed()
    if found is None:
        _without(WITHOUT)
    return found


def _without(reason: str) -> NoReturn:
    if os.environ.get("CI", "").lower() in {"", "0", "false"}:
        pytest.skip(reason)
    pytest.fail(reason)


class OneBrowser:
    """Playwright and the browser that it drives, for all tests of this folder that follow each other.

    Not for the whole session: while playwright is open this thread has a running event loop, and the tests of other
    folders start their own.
    """

    def __init__(self) -> None:
        self._ending = ExitStack()
        self._playwright: Any = None
        self._browser: Any = None

    def playwright(self) -> Any:
        if self._playwright is None:
            sync_api = pytest.importorskip("playwright.sync_api")
            # What is waited for comes within a second; a machine that is busy with other things may take much longer.
            sync_api.expect.set_options(timeout=PATIENCE_MS)
            self._playwright = self._ending.enter_context(sync_api.sync_playwright())
        return self._playwright

    def browser(self, path: Path) -> Any:
        if self._browser is None or not self._browser.is_connected():
            # Chromium's own sandbox does not start as root or in a container.
            opened = self.playwright().chromium.launch(executable_path=str(path), chromium_sandbox=False)
            self._browser = self._ending.enter_context(opened)
        return self._browser

    def close(self) -> None:
        self._ending.close()
        self._playwright = self._browser = None


ONE = OneBrowser()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    yield
    if nextitem is None or not nextitem.path.is_relative_to(HERE):
        ONE.close()


@pytest.fixture
def playwright() -> Any:
    """Playwright, started."""
    return ONE.playwright()


@pytest.fixture
def browser(browser_path: Path) -> Any:
    """A browser that playwright drives, without a window."""
    return ONE.browser(browser_path)


@pytest.fixture
def open_page(browser: Any) -> Iterator[WatchedPages]:
    """Opens pages; at the end none of them may have complained or called another host."""
    pages = WatchedPages(browser)
    yield pages
    pages.close()
    assert pages.complaints == []


@pytest.fixture(params=THEMES)
def theme(request: pytest.FixtureRequest) -> str:
    """One theme after the other; `make test` tries one of them, see `pytest_collection_modifyitems`."""
    return str(request.param)


@pytest.fixture(scope="session")
def axe() -> Callable[[Any], list[str]]:
    """What axe finds on a page that is serious or critical."""
    return serious_findings


def _need_page_and_torch() -> None:
    if not (STATIC / "index.html").is_file():
        _without("the page is not built; `make ui` builds it")
    pytest.importorskip("torch")


@pytest.fixture(scope="session")
def made_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of every kind, trained for real, once. Nobody changes it: `runs` is a copy of it."""
    _need_page_and_torch()
    folder = tmp_path_factory.mktemp("made") / "runs"
    for name, make in MAKERS.items():
        make(folder / name)
    train_hostile(folder / HOSTILE_RUN)
    return folder


@pytest.fixture(scope="module")
def runs(made_runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs for one file of tests, which may write into them."""
    return Path(shutil.copytree(made_runs, tmp_path_factory.mktemp("runs") / "runs"))


@pytest.fixture(scope="module")
def studio(runs: Path, own_cache: None) -> Iterator[Shown]:
    """One studio over the runs for a file of tests."""
    with showing(runs) as shown:
        yield shown


@pytest.fixture(scope="session")
def made_populations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs that have a population. Nobody changes it: `populations` is a copy of it."""
    _need_page_and_torch()
    return make_populations(tmp_path_factory.mktemp("populations"))


@pytest.fixture(scope="module")
def populations(made_populations: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs with a population for one file of tests, which may write into them."""
    return Path(shutil.copytree(made_populations, tmp_path_factory.mktemp("explored") / "runs"))


@pytest.fixture(scope="module")
def digits_run(populations: Path) -> Path:
    """Digits: a training with a spike in its loss, wrong labels, two evaluations with maps, and every analysis."""
    return populations / DIGITS


@pytest.fixture(scope="module")
def wide_run(populations: Path) -> Path:
    """Another model of the same digits, evaluated and analysed."""
    return populations / WIDE


@pytest.fixture(scope="module")
def text_run(populations: Path) -> Path:
    """Sentences, evaluated and analysed: no pictures, no training."""
    return populations / TEXT


@pytest.fixture(scope="module")
def explored(populations: Path, own_cache: None) -> Iterator[Shown]:
    """One studio over the runs with a population for a file of tests."""
    with showing(populations) as shown:
        yield shown


@pytest.fixture(scope="module")
def compared(explored: Shown, digits_run: Path, wide_run: Path) -> Shown:
    """The studio over the runs with a population, once two of them were compared sample by sample."""
    body = {"run": explored.id_of(digits_run.name), "kind": "compare", "other": explored.id_of(wide_run.name)}
    job = httpx.post(f"{explored.url}/api/jobs", json=body, timeout=60).json()["data"]["id"]
    eventually(lambda: bool(explored.ask(f"jobs/{job}")["state"] == "finished"), 120)
    return explored


@pytest.fixture(scope="session")
def hostile_run() -> str:
    """The name of the run whose every text means harm."""
    return HOSTILE_RUN
