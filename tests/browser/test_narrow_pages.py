"""A phone held upright: no page is wider than its window, and what the header offers is within reach."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.looking import settled
from tests.browser.populations import DIGITS, TEXT, TWINS, WIDE
from tests.browser.studios import Shown
from tests.browser.test_every_page import PAGES, opened
from tests.browser.watched_pages import WatchedPages

WIDTH = 390

# Pages about samples: the address, and what shows that they are there. Names in braces stand for ids.
ABOUT_SAMPLES = {
    "population": ("runs/{digits}/population", ".panels [role=grid]"),
    "population of texts": ("runs/{text}/population", ".panels [role=grid]"),
    "sample": (f"runs/{{digits}}/sample?sample={TWINS[1]}", "#sample-similar"),
    "sample of a text": ("runs/{text}/sample?sample={sentence}", "#sample-similar"),
    "insights": ("runs/{digits}/insights", "[data-insight]"),
    "labels": ("runs/{digits}/insights?tab=labels", "[data-sample]"),
    "tests": ("runs/{digits}/insights?tab=tests", "main form"),
    "tests by run": ("runs/{digits}/insights?tab=tests&by=run", "main form, main table, main p"),
    "model": ("runs/{digits}/model", "#model-facts"),
    "jobs": ("jobs", "main table"),
    "a new job": ("jobs?start=yes", "dialog"),
    "samples of two runs": (
        "compare?run={digits}&run={digits-wide}&view=samples",
        "main canvas",
    ),
    "nowhere": ("nowhere", "h1"),
}
# Buttons of the header that lie beyond the window, by their names.
OUT_OF_REACH = """width => [...document.querySelectorAll("header button, header a")]
    .filter(one => one.checkVisibility({ visibilityProperty: true }) && !one.matches(".skip"))
    .filter(one => one.getBoundingClientRect().left < 0 || one.getBoundingClientRect().right > width)
    .map(([one]) => one.getAttribute("aria-label") ?? one.textContent)"""
# What lies beyond the window and widens the page, to be read where this fails.
TOO_WIDE = """width => [...document.querySelectorAll("body *")]
    .filter(one => one.getBoundingClientRect().right > width + 1)
    .slice(0, 5).map(one => one.outerHTML.slice(0, 120))"""


def assert_fits(page: Any) -> None:
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH, page.evaluate(TOO_WIDE, WIDTH)
    for name in ("Keyboard shortcuts", "Dark theme"):
        expect(page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    assert page.evaluate(OUT_OF_REACH, WIDTH) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_a_training_fits_on_a_phone(open_page: WatchedPages, studio: Shown, name: str) -> None:
    assert_fits(opened(open_page, studio, name, width=WIDTH, height=844))


@pytest.mark.parametrize("name", ABOUT_SAMPLES)
def test_a_page_about_samples_fits_on_a_phone(open_page: WatchedPages, compared: Shown, name: str) -> None:
    address, ready = ABOUT_SAMPLES[name]
    ids = {run: compared.id_of(run) for run in (DIGITS, WIDE, TEXT)}
    [sentence] = compared.ask(f"runs/{ids[TEXT]}/population/search", limit=1)
    ids["sentence"] = quote(sentence["sample"], safe="")
    page = open_page(f"{compared.url}/{address.format_map(ids)}", width=WIDTH, height=844)
    expect(page.locator(ready).first).to_be_attached()
    assert_fits(page)
