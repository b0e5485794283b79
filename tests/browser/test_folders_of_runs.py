"""Folders of runs of every size: none, thousands, and one that grows while it is looked at."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from cutaway.run import Run
from tests.browser.studios import showing
from tests.browser.watched_pages import WatchedPages

MANY = 2000
pytestmark = pytest.mark.usefixtures("own_cache")


def test_an_empty_folder_shows_the_commands_that_make_a_run(open_page: WatchedPages, tmp_path: Path) -> None:
    with showing(tmp_path) as studio:
        page = open_page(studio.address())
        for command in ("cutaway demo", "cutaway.attach(model, optimizer)", "cutaway evaluate"):
            expect(page.locator("code").filter(has_text=command)).to_be_visible()
        page.goto(f"{studio.url}/compare")
        expect(page.get_by_role("button", name="Add a run")).to_be_visible()
        open_page.close()


def test_a_run_that_appears_on_disk_appears_on_the_page(
    open_page: WatchedPages, made_runs: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    with showing(folder) as studio:
        page = open_page(studio.address())
        expect(page.get_by_text("cutaway demo")).to_be_visible()
        shutil.copytree(made_runs / "sick", folder / "sick")
        expect(page.get_by_role("link", name="sick", exact=True)).to_be_visible()
        shutil.copytree(made_runs / "healthy", folder / "healthy")
        expect(page.get_by_role("link", name="healthy", exact=True)).to_be_visible()
        shutil.rmtree(folder / "sick")
        expect(page.get_by_role("link", name="sick", exact=True)).to_have_count(0)
        open_page.close()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thousands of runs: one, and links to its files."""
    folder = tmp_path_factory.mktemp("many")
    Run.create(folder / "run-0000").write_config({"lr": 0.1})
    for number in range(1, MANY):
        shutil.copytree(folder / "run-0000", folder / f"run-{number:04}", copy_function=os.link)
    return folder


@pytest.mark.slow
def test_thousands_of_runs_are_scrolled_without_loading_all(open_page: WatchedPages, many: Path) -> None:
    asked: list[str] = []
    with showing(many) as studio:
        studio.id_of(f"run-{MANY - 1:04}")
        page: Any = open_page(studio.address(sort="name"))
        page.on("request", lambda request: asked.append(request.url) if "/api/runs?" in request.url else None)
        expect(page.get_by_text(re.compile(r"^2.000 runs$"))).to_be_visible()
        lines = page.get_by_role("table", name="Runs").locator("tbody").get_by_role("link")
        expect(lines.first).to_have_text("run-0000")
        expect(page.get_by_role("table", name="Runs")).to_have_attribute("aria-rowcount", str(MANY + 1))
        before = len(asked)
        page.get_by_role("table", name="Runs").evaluate("one => one.parentElement.scrollTo(0, one.scrollHeight)")
        expect(page.get_by_role("link", name=f"run-{MANY - 1:04}")).to_be_in_viewport()
        assert lines.count() < 100
        # The first rows and the last ones, not the two thousand between them.
        assert len(asked) - before <= 4
        open_page.close()
