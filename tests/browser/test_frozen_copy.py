"""A frozen copy, opened as a file in a browser: no studio runs, and nothing is fetched from anywhere."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from cutaway.cli import main
from cutaway.studio.freezing import freeze
from cutaway.studio.freezing.freeze import FROZEN_PAGE
from tests.browser.looking import colour_of, count_of, settled
from tests.browser.test_hostile_strings import assert_only_text
from tests.browser.watched_pages import WatchedPages
from tests.unit.studio.evaluated import evaluated_run
from tests.unit.studio.frozen_files import index_of

SICK, HEALTHY = "sick", "healthy"


class Copies:
    """Frozen copies of runs, each made once, in a folder whose name has a space and umlauts."""

    def __init__(self, runs: Path, folder: Path) -> None:
        self._runs = runs
        self._folder = folder
        self._made: dict[str, Path] = {}

    def of(self, run: str) -> Path:
        if run not in self._made:
            self._made[run] = self._folder / f"Köpie {len(self._made)}"
            freeze(self._runs / run, self._made[run])
        return self._made[run]

    def address(self, run: str, tab: str = "", query: str = "") -> str:
        return address_in(self.of(run), tab, query)


def address_in(copy: Path, tab: str = "", query: str = "") -> str:
    place = "/".join(["runs", index_of(copy)["run"], *([tab] if tab else [])])
    return f"{(copy / 'index.html').as_uri()}#/{place}{'?' if query else ''}{query}"


@pytest.fixture(scope="module")
def copies(runs: Path, own_cache: None, tmp_path_factory: pytest.TempPathFactory) -> Copies:
    if not (FROZEN_PAGE / "index.html").is_file():
        pytest.skip("the page of frozen copies is not built; `make ui` builds it")
    return Copies(runs, tmp_path_factory.mktemp("frozen") / "Ergebnisse für Zoë")


def test_a_double_click_opens_the_curves(open_page: WatchedPages, copies: Copies, theme: str) -> None:
    page = open_page((copies.of(HEALTHY) / "index.html").as_uri(), theme=theme)
    expect(page.get_by_role("heading", level=1)).to_have_text(HEALTHY)
    expect(page.get_by_role("note").first).to_contain_text(
        re.compile("A frozen copy of healthy, made 20.* with cutaway")
    )
    chart = page.locator("canvas").first
    expect(chart).to_be_visible()
    assert count_of(settled(chart), colour_of(page, "series-1")) > 50, "a curve is painted"
    expect(page.get_by_role("link", name="Jobs")).to_be_hidden()
    expect(page.get_by_role("link", name="Steering")).to_be_hidden()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("tab", ["tensors", "findings", "samples", "layers", "config"])
def test_every_page_of_a_training_is_there(open_page: WatchedPages, copies: Copies, axe: Any, tab: str) -> None:
    # axe fetches style sheets by itself, which the policy of a copy refuses.
    open_page.expect(r"style\.css|ProgressEvent")
    page = open_page(copies.address(SICK, tab))
    expect(
        page.get_by_role("navigation", name="Run").get_by_role("link", name=re.compile(tab, re.IGNORECASE))
    ).to_have_attribute("aria-current", "page")
    settled(page)
    expect(page.get_by_role("alert")).to_have_count(0)
    assert axe(page) == []


def test_a_way_through_it_is_in_the_address_and_back_leads_back(open_page: WatchedPages, copies: Copies) -> None:
    page = open_page((copies.of(SICK) / "index.html").as_uri())
    page.get_by_role("navigation", name="Run").get_by_role("link", name="Tensors").click()
    row = page.get_by_role("table").get_by_role("row").nth(1)
    row.get_by_role("button").or_(row.get_by_role("link")).first.click()
    expect(page).to_have_url(re.compile(r"index\.html#/runs/[^/]+/tensors\?.*name="))
    expect(page.get_by_role("region", name=re.compile("^Tensor "))).to_be_visible()
    address = page.url
    page.go_back()
    expect(page.get_by_role("region", name=re.compile("^Tensor "))).to_have_count(0)
    again = open_page(address)
    expect(again.get_by_role("region", name=re.compile("^Tensor "))).to_be_visible()
    expect(again.get_by_role("alert")).to_have_count(0)


def test_a_finding_leads_to_its_samples(open_page: WatchedPages, copies: Copies) -> None:
    page = open_page(copies.address(SICK, "findings"))
    page.get_by_role("main").get_by_role("link").filter(
        has_text=re.compile("step|nan|NaN|not finite|never", re.IGNORECASE)
    ).first.click()
    expect(page).to_have_url(re.compile("#/runs/[^/]+/findings/"))
    page.get_by_role("link", name=re.compile("^Samples of")).first.click()
    expect(page).to_have_url(re.compile(r"#/runs/[^/]+/samples\?from=\d+&to=\d+"))
    expect(page.get_by_role("alert")).to_have_count(0)


def test_what_it_does_not_hold_it_says(open_page: WatchedPages, copies: Copies) -> None:
    page = open_page(copies.address(HEALTHY, "tensors", f"name={quote('no such tensor')}"))
    expect(page.get_by_role("alert").first).to_contain_text("This copy does not include that.")
    expect(page.get_by_role("alert").first).to_contain_text("cutaway studio healthy")
    expect(page.get_by_role("button", name="Try again")).to_be_hidden()


def test_it_may_be_moved(open_page: WatchedPages, copies: Copies, tmp_path: Path) -> None:
    moved = Path(shutil.move(shutil.copytree(copies.of(HEALTHY), tmp_path / "first"), tmp_path / "#2 100 % moved"))
    page = open_page(address_in(moved, "tensors"))
    expect(page.get_by_role("table").first).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("tab", ["", "tensors", "findings", "config"])
def test_texts_that_mean_harm_are_shown_as_text(
    open_page: WatchedPages, copies: Copies, hostile_run: str, tab: str
) -> None:
    page = open_page(copies.address(hostile_run, tab))
    expect(page.get_by_role("heading", level=1)).to_have_text(hostile_run)
    settled(page)
    assert_only_text(page)


TAKEN, LEFT = "training/0", "training/100"


@pytest.fixture(scope="module")
def insects(tmp_path_factory: pytest.TempPathFactory, own_cache: None) -> Path:
    """A copy of an evaluated run whose model can be asked, with one sample in full."""
    if not (FROZEN_PAGE / "index.html").is_file():
        pytest.skip("the page of frozen copies is not built; `make ui` builds it")
    folder = tmp_path_factory.mktemp("insects")
    run = evaluated_run(folder)
    assert main(["analyze", str(run), "map"]) == 0
    made = freeze(run, folder / "copy", samples=[TAKEN])
    assert made.samples == 1
    return folder / "copy"


def test_the_population_is_painted_and_filtered_without_a_studio(open_page: WatchedPages, insects: Path) -> None:
    # Of software drawing the browser says that reading it back is slow.
    open_page.expect("GPU stall due to ReadPixels")
    page = open_page(address_in(insects, "population"))
    expect(page.get_by_role("main")).to_contain_text(re.compile(r"330\ssamples"))
    chart = page.locator("canvas").first
    expect(chart).to_be_visible()
    seen = settled(chart)
    assert len({tuple(colour) for colour in seen[::3, ::3].reshape(-1, 3).tolist()}) > 3, "points of several kinds"
    expect(page.get_by_role("alert")).to_have_count(0)
    page.goto(address_in(insects, "population", "where=label+%3D+ant"))
    expect(page.get_by_role("main")).to_contain_text(re.compile(r"of\s330"))
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_chosen_sample_is_shown_in_full_and_another_says_that_it_needs_the_studio(
    open_page: WatchedPages, insects: Path
) -> None:
    page = open_page(address_in(insects, "sample", f"sample={TAKEN}"))
    expect(page.get_by_role("main")).to_contain_text(TAKEN)
    similar = page.get_by_role("list", name=re.compile("^Similar samples"))
    expect(similar.get_by_role("listitem")).to_have_count(20)
    expect(page.get_by_role("main")).not_to_contain_text("This copy does not include that.")
    page = open_page(address_in(insects, "sample", f"sample={LEFT}"))
    expect(page.get_by_role("main")).to_contain_text("This copy does not include that.")
    expect(page.get_by_role("main")).to_contain_text("cutaway studio insects")
