"""Runs side by side: curves over each other, best values, how the configs differ."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from tests.browser.looking import colour_of, count_of, difference_in_place, parameters, settled
from tests.browser.studios import Shown
from tests.browser.watched_pages import WatchedPages


def compared(studio: Shown, *runs: str) -> str:
    return f"{studio.url}/compare?" + "&".join(f"run={studio.id_of(run)}" for run in runs)


def chart(page: Any) -> Any:
    found = page.get_by_role("img", name=re.compile("^Chart of loss . TRAIN"))
    expect(found).to_be_visible()
    return found


def test_curves_of_both_runs_are_painted(open_page: WatchedPages, studio: Shown, theme: str) -> None:
    page = open_page(compared(studio, "healthy", "sick"), theme=theme)
    seen = settled(chart(page))
    for colour in ("series-1", "series-2"):
        assert count_of(seen, colour_of(page, colour)) > 60


def test_configs_differ_where_they_do(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(compared(studio, "healthy", "sick"))
    config = page.get_by_role("region", name="Config")
    width = config.get_by_role("row").filter(has_text="width")
    expect(width).to_contain_text("8")
    expect(width).to_contain_text("24")
    expect(config.get_by_role("row").filter(has_text="criterion")).to_have_count(0)
    differing = config.get_by_role("row").count()
    page.get_by_role("button", name="Show all keys").click()
    expect(config.get_by_role("row").nth(differing)).to_be_visible()


def test_the_best_is_said_and_a_baseline_shows_differences(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(compared(studio, "healthy", "sick"))
    values = page.get_by_role("region", name="Last and best values")
    expect(values.get_by_role("row").filter(has_text="healthy")).to_contain_text("best:")
    page.get_by_role("button", name="healthy is the baseline").click()
    expect(page).to_have_url(re.compile("base="))
    expect(values.get_by_role("row").filter(has_text="sick")).to_contain_text("+")


def test_a_view_is_restored_and_a_run_is_added_and_removed(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(compared(studio, "healthy") + "&smooth=0.8&log=1&from=10&to=60")
    before = settled(chart(page))
    page.reload()
    assert difference_in_place(before, settled(chart(page))) < 0.001
    page.get_by_role("button", name="Add a run").click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^broken")).click()
    page.keyboard.press("Escape")
    chosen = page.get_by_role("list", name="Compared runs").get_by_role("link")
    expect(chosen).to_have_text(["healthy", "broken"])
    assert len(parameters(page)["run"]) == 2
    page.get_by_role("button", name="Remove healthy").click()
    expect(chosen).to_have_text(["broken"])
    page.go_back()
    expect(chosen).to_have_text(["healthy", "broken"])


def test_a_run_that_there_is_not_is_said(open_page: WatchedPages, studio: Shown) -> None:
    open_page.expect("404")
    page = open_page(f"{studio.url}/compare?run=nothing-here")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("link", name="Choose other runs")).to_be_visible()
