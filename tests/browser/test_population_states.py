"""The page of a population beside its map: table, kept selections, keyboard, and what is said where parts lack."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.looking import eventually, parameters
from tests.browser.maps import SeenMap, read_points
from tests.browser.populations import DIGITS, TEXT, WIDE
from tests.browser.studios import Shown
from tests.browser.watched_pages import WatchedPages

UNTOUCHED, UNMAPPED, UNSEEN = "only trained", "unmapped", "unseen"
# A job loads the libraries that it needs anew; nobody waits for so long on a quiet machine.
JOB_MS = 120_000


@pytest.fixture(scope="module")
def populations(made_populations: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs, and some that lack a part: an evaluation, a map, the pictures of a subset."""
    runs = Path(shutil.copytree(made_populations, tmp_path_factory.mktemp("states") / "runs"))
    shutil.copytree(runs / DIGITS, runs / UNTOUCHED)
    shutil.rmtree(runs / UNTOUCHED / "samples")
    shutil.copytree(runs / WIDE, runs / UNMAPPED)
    for kept in (runs / UNMAPPED / "samples" / "0").glob("*.latent.parquet"):
        kept.unlink()
    shutil.copytree(runs / DIGITS, runs / UNSEEN)
    (runs / UNSEEN / "previews" / "validation.arrow").unlink()
    return runs


@pytest.fixture
def open_population(open_page: WatchedPages, explored: Shown) -> Callable[..., Any]:
    """Opens the page of a run's population."""

    def opened(run: str, *, theme: str = "light", width: int = 1280, **query: Any) -> Any:
        return open_page(explored.address(run, "population", **query), theme=theme, width=width)

    return opened


def rows(page: Any) -> Any:
    return page.get_by_role("table", name="Samples of the selection").locator("tbody tr[data-index]")


def said(page: Any) -> Any:
    return page.get_by_role("status").filter(has_text=re.compile(r"(selected|\d samples)\s*$"))


class TestTheTable:
    def test_is_sorted_by_any_column_and_leads_to_the_sample(
        self, open_population: Callable[..., Any], explored: Shown, digits_run: Path
    ) -> None:
        page = open_population(DIGITS)
        heads = page.get_by_role("table", name="Samples of the selection").get_by_role("columnheader")
        loss, label = heads.filter(has_text="loss"), heads.filter(has_text="label")
        expect(loss).to_have_attribute("aria-sort", "descending")
        hardest = explored.ask(f"runs/{explored.id_of(DIGITS)}/population/search", sort="-loss", limit=2)
        expect(rows(page).nth(0)).to_contain_text(hardest[0]["sample"])
        expect(rows(page).nth(1)).to_contain_text(hardest[1]["sample"])
        loss.get_by_role("button").click()
        expect(loss).to_have_attribute("aria-sort", "ascending")
        [easiest] = explored.ask(f"runs/{explored.id_of(DIGITS)}/population/search", sort="loss", limit=1)
        expect(rows(page).nth(0)).to_contain_text(easiest["sample"])
        label.get_by_role("button").click()
        expect(label).to_have_attribute("aria-sort", "ascending")
        assert parameters(page)["sort"] == ["label"]
        labels = read_points(explored, digits_run, "label").columns["label"]
        expect(rows(page).nth(0).get_by_role("cell").nth(1)).to_have_text(min(labels))
        sample = str(rows(page).nth(0).get_by_role("link").inner_text())
        page.keyboard.press("j")
        expect(page.locator(f"[data-sample='{sample}']")).to_be_visible()
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(r"/sample\?"))
        expect(page.get_by_role("main")).to_contain_text(sample)


def test_a_selection_is_kept_listed_shown_again_downloaded_and_removed(
    open_population: Callable[..., Any], digits_run: Path
) -> None:
    page = open_population(DIGITS, where="label = 4")
    expect(said(page).locator("b")).to_be_visible()
    count = int(said(page).locator("b").inner_text())
    page.get_by_role("button", name="Selections…").click()
    dialog = page.get_by_role("dialog")
    with page.expect_download() as downloading:
        dialog.get_by_role("link", name="CSV").click()
    lines = Path(downloading.value.path()).read_text(encoding="utf-8").splitlines()
    assert len(lines) == count + 1
    dialog.get_by_label("Save as").fill("all fours")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog.get_by_role("region", name="Saved selections")).to_contain_text("all fours")
    assert [path.stem for path in (digits_run / "selections").glob("*.json")] != []

    page = open_population(DIGITS)
    expect(said(page)).to_have_text("700 samples")
    page.get_by_role("button", name="Selections…").click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^all fours")).click()
    expect(said(page)).to_contain_text(f"{count} of 700 selected")
    assert parameters(page)["where"] == ["label = 4"]
    page.get_by_role("button", name="Selections…").click()
    page.get_by_role("button", name="Remove the selection all fours").click()
    expect(page.get_by_role("region", name="Saved selections")).to_contain_text("None yet")
    assert list((digits_run / "selections").glob("*.json")) == []


def test_everything_can_be_done_without_a_mouse(open_population: Callable[..., Any]) -> None:
    page = open_population(DIGITS)
    expect(page.get_by_role("application")).to_be_visible()
    _tab_to(page, "one => one.textContent.trim() === 'Box'")
    page.keyboard.press("Enter")
    eventually(lambda: parameters(page).get("tool") == ["box"])
    page.keyboard.press("l")
    eventually(lambda: "tool" not in parameters(page))
    page.keyboard.press("h")
    eventually(lambda: parameters(page).get("tool") == ["pan"])
    _tab_to(page, "one => one.getAttribute('aria-label') === 'Add a condition'")
    page.keyboard.type("loss > 0.3")
    page.keyboard.press("Enter")
    expect(said(page)).to_contain_text("selected")
    _tab_to(page, "one => one.getAttribute('role') === 'application'")
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    eventually(lambda: "at" in parameters(page))
    page.keyboard.press("0")
    eventually(lambda: "at" not in parameters(page))
    _tab_to(page, "one => one.dataset.cell !== undefined")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.dataset.cell") == "0 1"
    _tab_to(page, "one => one.getAttribute('aria-label') === 'Table of samples'")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("[data-sample]")).to_be_visible()
    sample = page.locator("[data-sample]").get_attribute("data-sample")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/sample\?"))
    assert page.evaluate("() => new URL(location.href).searchParams.get('sample')") == sample


def _tab_to(page: Any, is_it: str) -> None:
    """Press Tab until what has the focus fits."""
    for _ in range(150):
        if page.evaluate(f"() => ({is_it})(document.activeElement)"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab leads nowhere to {is_it}")


@pytest.mark.parametrize("run", [DIGITS, TEXT])
def test_a_narrow_window_has_everything_below_each_other(
    open_population: Callable[..., Any], axe: Any, run: str
) -> None:
    page = open_population(run, width=700)
    expect(page.get_by_role("application")).to_be_visible()
    expect(rows(page).first).to_be_visible()
    expect(page.get_by_role("region", name="Confusion matrix")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "nothing lies beside the window"
    assert axe(page) == []


class TestWhereAPartLacks:
    def test_pictures_that_are_missing_have_their_label_in_their_place(
        self, open_population: Callable[..., Any]
    ) -> None:
        page = open_population(UNSEEN, where="subset = validation")
        first = rows(page).first
        expect(said(page)).to_contain_text("220 of 700 selected")
        expect(first).to_contain_text("validation/")
        label = first.get_by_role("cell").nth(1).inner_text()
        expect(first.locator(".frame img")).to_have_count(0)
        expect(first.locator(".frame")).to_have_text(label)
        page.get_by_role("button", name="Remove the condition subset = validation").click()
        page.get_by_role("group", name="Subsets").get_by_role("button", name=re.compile("^training")).click()
        expect(rows(page).first).to_contain_text("training/")
        eventually(lambda: rows(page).first.locator(".frame img").evaluate("one => one.naturalWidth > 0"))

    def test_a_run_without_an_evaluation_says_what_makes_one(self, open_page: WatchedPages, explored: Shown) -> None:
        page = open_page(explored.address(UNTOUCHED, "config"))
        page.get_by_role("navigation", name="Run").get_by_role("link", name="Population").click()
        expect(page.get_by_role("main")).to_contain_text("This run has no evaluation yet")
        named = explored.ask(f"runs/{explored.id_of(UNTOUCHED)}")["command"]
        expect(page.locator("code")).to_have_text(f"cutaway evaluate BINDING MODEL --into '{named}'")

    def test_a_map_that_was_not_made_is_made_by_a_job_that_outlives_the_page(
        self, open_population: Callable[..., Any], explored: Shown, populations: Path
    ) -> None:
        page = open_population(UNMAPPED)
        place = page.get_by_role("region", name="Make the map")
        expect(place).to_contain_text("This evaluation has no map yet")
        named = explored.ask(f"runs/{explored.id_of(UNMAPPED)}")["command"]
        expect(place.locator("code")).to_have_text(f"cutaway analyze {named} map")
        expect(rows(page).first).to_be_visible()
        place.get_by_role("button", name="Make the map").click()
        expect(place.get_by_role("progressbar")).to_be_visible()
        page.reload()
        expect(place.get_by_role("progressbar").or_(page.get_by_role("application"))).to_be_visible()
        expect(page.get_by_role("application")).to_be_visible(timeout=JOB_MS)
        _, painted = SeenMap(page, read_points(explored, populations / UNMAPPED)).painted()
        assert painted.sum() > 10 * 700
