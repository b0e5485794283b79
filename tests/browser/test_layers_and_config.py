"""The layers of a model, three or five hundred of them, and what a run was made of."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.looking import parameters
from tests.browser.studios import Shown
from tests.browser.trainings import DEAD_LAYER, MANY_LAYERS
from tests.browser.watched_pages import WatchedPages


def line(page: Any, layer: str) -> Any:
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=layer, exact=True))


def test_layers_have_their_health(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("sick", "layers"))
    expect(line(page, DEAD_LAYER)).to_contain_text("warning")
    expect(line(page, "dead_relu")).to_contain_text("100 %")
    expect(line(page, "first_relu")).to_contain_text("fine")
    page.goto(studio.address("healthy", "layers"))
    expect(line(page, "conv1")).to_contain_text("fine")
    page.goto(studio.address("broken", "layers"))
    expect(line(page, "0")).to_contain_text("error")


def test_a_layer_leads_to_its_tensors(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("healthy", "layers"))
    page.get_by_role("link", name="conv2", exact=True).click()
    expect(page).to_have_url(re.compile(r"/tensors\?q="))
    expect(page.get_by_role("table", name="Tensors").locator("tbody").get_by_role("link").first).to_contain_text(
        "conv2"
    )


def test_the_findings_of_a_layer_are_those_that_are_counted(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("sick", "layers"))
    everything = len(studio.ask(f"runs/{studio.id_of('sick')}/findings"))
    counted = line(page, "dead_relu").get_by_role("cell").last.get_by_role("link")
    number = int(counted.inner_text())
    assert 0 < number < everything
    counted.click()
    listed = page.get_by_role("table", name="Findings").locator("tbody").get_by_role("row")
    expect(listed).to_have_count(number)
    page.get_by_role("button", name="Show all findings").click()
    expect(listed).to_have_count(everything)


def test_three_layers_and_five_hundred_are_both_a_table(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("long", "layers"))
    expect(page.get_by_text(re.compile("^3 layers"))).to_be_visible()
    expect(page.locator("tbody").get_by_role("link")).to_have_text(["0", "1", "2"])
    page.goto(studio.address("large", "layers"))
    expect(page.get_by_text(re.compile(f"^{MANY_LAYERS} layers"))).to_be_visible()
    expect(page.locator("tbody").get_by_role("link").first).to_have_text("layer000")
    assert page.locator("tbody").get_by_role("link").count() < 120
    page.get_by_role("region", name="Layers").evaluate("one => one.scrollTo(0, one.scrollHeight)")
    expect(page.get_by_role("link", name=f"layer{MANY_LAYERS - 1}")).to_be_in_viewport()


def test_layers_are_searched_and_sorted_and_a_link_keeps_it(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("healthy", "layers"))
    page.get_by_role("button", name="Parameters").click()
    expect(page.locator("tbody").get_by_role("link").first).to_have_text("head")
    page.get_by_label("Search among the layers").fill("conv")
    expect(page.locator("tbody").get_by_role("link")).to_have_text(["conv2", "conv1"])
    page.reload()
    expect(page.locator("tbody").get_by_role("link")).to_have_text(["conv2", "conv1"])


def test_the_config_is_searched_by_key_and_by_value(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("healthy", "config"))
    search = page.get_by_label("Search the config")
    search.fill("depth")
    values = page.locator("section").filter(has=search)
    expect(values).to_contain_text("depth")
    expect(values).not_to_contain_text("augment")
    search.fill("cnn")
    expect(values).to_contain_text("kind")
    assert parameters(page)["q"] == ["cnn"]
    page.reload()
    expect(search).to_have_value("cnn")
    search.fill("nowhere to be found")
    expect(values).to_contain_text("contains “nowhere to be found”")


@pytest.mark.parametrize("word", ["Commands", "Identity", "Attempts"])
def test_a_run_says_what_it_was_made_of(open_page: WatchedPages, studio: Shown, word: str) -> None:
    page = open_page(studio.address("healthy", "config"))
    part = page.locator("section").filter(has=page.get_by_role("heading", name=word))
    expect(part).to_be_visible()
    expect(part).to_contain_text({"Commands": "cutaway watch", "Identity": "torch", "Attempts": "119"}[word])
