"""Pages about samples on a phone."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.phones import HEIGHT, WIDTH, assert_fits
from tests.browser.populations import DIGITS, TEXT, TWINS, WIDE
from tests.browser.studios import Shown
from tests.browser.watched_pages import WatchedPages

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


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ABOUT_SAMPLES)
def test_a_page_about_samples_fits_on_a_phone(open_page: WatchedPages, compared: Shown, name: str) -> None:
    address, ready = ABOUT_SAMPLES[name]
    ids = {run: compared.id_of(run) for run in (DIGITS, WIDE, TEXT)}
    [sentence] = compared.ask(f"runs/{ids[TEXT]}/population/search", limit=1)
    ids["sentence"] = quote(sentence["sample"], safe="")
    page = open_page(f"{compared.url}/{address.format_map(ids)}", width=WIDTH, height=HEIGHT)
    expect(page.locator(ready).first).to_be_attached()
    assert_fits(page)
