"""Two runs on one map: what flipped for better and for worse, counted, coloured, listed and opened."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.looking import count_of, parameters, settled
from tests.browser.populations import DIGITS, WIDE
from tests.browser.studios import Shown
from tests.browser.watched_pages import WatchedPages

# As the legend has them: blue for better, orange for worse.
COLOURS = {
    "light": {"better": (0x1F, 0x6F, 0xD1), "worse": (0xC8, 0x50, 0x0A)},
    "dark": {"better": (0x6F, 0xB4, 0xFF), "worse": (0xFF, 0x9A, 0x4D)},
}


def address(studio: Shown, *runs: str, more: str = "") -> str:
    return f"{studio.url}/compare?" + "&".join(f"run={studio.id_of(run)}" for run in runs) + f"&view=samples{more}"


def shown_map(page: Any) -> Any:
    found = page.get_by_role("application", name=re.compile(r"^Map of \d+ samples coloured by what became of them"))
    expect(found).to_be_visible()
    return found


def listed(page: Any) -> Any:
    return page.get_by_role("list", name="Samples that flipped").get_by_role("listitem")


@pytest.mark.slow
def test_runs_that_were_not_compared_are_by_a_job_and_their_map_is_painted(
    open_page: WatchedPages, explored: Shown, axe: Any
) -> None:
    page = open_page(f"{explored.url}/compare?run={explored.id_of(WIDE)}&run={explored.id_of(DIGITS)}")
    page.get_by_role("button", name="Samples on one map").click()
    open_page.expect("status of 4(04|09)")
    expect(page.get_by_text("These two runs have not been compared sample by sample yet.")).to_be_visible()
    expect(page.get_by_text(re.compile(rf"cutaway analyze \S*{WIDE} compare --with \S*{DIGITS}"))).to_be_visible()
    assert axe(page) == []
    page.get_by_role("button", name="Compare sample by sample").click()
    expect(page.locator("[data-job]")).to_be_visible()
    shown_map(page)
    expect(page.get_by_text("These two runs have not been compared")).to_have_count(0)
    told = explored.ask("compare/samples", before=explored.id_of(WIDE), after=explored.id_of(DIGITS))
    assert told["total"] > 0
    expect(listed(page)).to_have_count(len(told["flips"]))


def test_flips_are_counted_coloured_and_dimmed_as_asked_and_the_address_keeps_it(
    open_page: WatchedPages, compared: Shown, axe: Any, theme: str
) -> None:
    told = compared.ask("compare/samples", before=compared.id_of(DIGITS), after=compared.id_of(WIDE))
    page = open_page(address(compared, DIGITS, WIDE), theme=theme)
    everything = settled(shown_map(page))
    colours = COLOURS[theme]
    legend = page.get_by_role("list", name="Colours")
    for flip in ("better", "worse"):
        assert told["counts"][flip] > 0
        assert count_of(everything, colours[flip]) > 8, flip
        expect(legend).to_contain_text(f"{flip} {told['counts'][flip]}")
    figures = page.get_by_role("definition")
    fields = [told["counts"].get(flip, 0) for flip in ("both right", "worse", "better", "both wrong")]
    expect(figures).to_have_text([str(one) for one in fields])
    expect(listed(page)).to_have_count(len(told["flips"]))
    assert axe(page) == []
    page.get_by_role("button", name="Worse only").click()
    expect(listed(page)).to_have_count(told["counts"]["worse"])
    expect(listed(page).filter(has_text="better")).to_have_count(0)
    worse = settled(shown_map(page))
    assert count_of(worse, colours["better"]) < count_of(everything, colours["better"]) / 2, "the rest is dimmed"
    assert count_of(worse, colours["worse"]) > 8
    assert parameters(page)["show"] == ["worse"]
    page.reload()
    expect(listed(page)).to_have_count(told["counts"]["worse"])
    expect(page.get_by_role("button", name="Worse only")).to_have_attribute("aria-pressed", "true")


def test_sides_are_swapped_and_a_flip_opens_its_sample(open_page: WatchedPages, compared: Shown) -> None:
    told = compared.ask("compare/samples", before=compared.id_of(DIGITS), after=compared.id_of(WIDE))
    page = open_page(address(compared, DIGITS, WIDE), width=700)
    shown_map(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 700
    first = told["flips"][0]
    row = listed(page).filter(has_text=first["sample"]).first
    expect(row).to_contain_text(f"{first['before']} → {first['after']}, labelled {first['label']}")
    row.get_by_role("button", name=f"Show {first['sample']} on the map").click()
    expect(row.get_by_role("button")).to_have_attribute("aria-pressed", "true")
    row.get_by_role("link").click()
    expect(page.get_by_role("heading", level=2)).to_have_text(first["sample"])
    page.go_back()
    open_page.expect("status of 4(04|09)")
    page.get_by_label("Before").select_option(compared.id_of(WIDE))
    expect(page.get_by_label("After")).to_have_value(compared.id_of(DIGITS))
    assert (parameters(page)["before"], parameters(page)["after"]) == (
        [compared.id_of(WIDE)],
        [compared.id_of(DIGITS)],
    )
    # Compared by the first test of this file, or to be compared now: never the other way round by mistake.
    swapped = page.get_by_text("right before, wrong after").or_(
        page.get_by_text("These two runs have not been compared")
    )
    expect(swapped.first).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Before")).to_have_value(compared.id_of(DIGITS))


def test_one_run_alone_is_asked_for_another(open_page: WatchedPages, explored: Shown) -> None:
    page = open_page(address(explored, DIGITS))
    expect(
        page.get_by_text("Comparing samples needs two runs that were evaluated on the same data set.")
    ).to_be_visible()
