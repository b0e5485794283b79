"""Texts of strangers: whatever a run is called or holds is shown as text. None of it makes an element, or runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.hostile_run import ADDRESS, EMOJI, IMAGE, LONG, SCRIPT, evaluate_hostile
from tests.browser.looking import settled
from tests.browser.studios import Shown
from tests.browser.watched_pages import WatchedPages

# What could only come from such a text: the page has no inline script, no handler in its markup, and no such picture.
MADE = """() => [...document.querySelectorAll('script, img, iframe, object, embed, a, [onerror], [onclick], [onload]')]
    .filter(one => one.matches('script:not([src]), img[src="x"], iframe, object, embed, [onerror], [onclick], [onload]')
        || (one.href || '').startsWith('javascript:'))
    .map(one => one.outerHTML.slice(0, 200))"""

TABS = {
    "": (IMAGE, SCRIPT),
    "tensors": (IMAGE,),
    "findings": (IMAGE, SCRIPT, ADDRESS, EMOJI),
    "finding": (IMAGE,),
    "samples": (IMAGE, ADDRESS),
    "layers": (IMAGE, EMOJI),
    "config": (IMAGE, SCRIPT, ADDRESS, EMOJI, LONG),
    "steering": (IMAGE,),
}


def assert_only_text(page: Any) -> None:
    assert page.evaluate(MADE) == []
    assert page.evaluate("window.__hacked === undefined")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("tab", TABS)
def test_every_tab_of_a_run_shows_them_as_text(
    open_page: WatchedPages, studio: Shown, hostile_run: str, tab: str
) -> None:
    run = studio.id_of(hostile_run)
    path = tab
    if tab == "finding":
        findings = studio.ask(f"runs/{run}/findings")
        path = f"findings/{next(one['id'] for one in findings if one['message'] == IMAGE)}"
    page = open_page(studio.address(hostile_run, path))
    expect(page.get_by_role("heading", level=1)).to_have_text(IMAGE)
    for text in TABS[tab]:
        expect(page.get_by_role("main")).to_contain_text(text)
    settled(page)
    assert_only_text(page)
    assert IMAGE in page.title()


def test_the_table_of_runs_the_palette_and_a_comparison_too(
    open_page: WatchedPages, studio: Shown, hostile_run: str
) -> None:
    columns = ["tags", "note", f"config.{IMAGE}.{IMAGE}"]
    page = open_page(studio.address(columns=columns, search=IMAGE))
    expect(page.get_by_role("link", name=IMAGE)).to_be_visible()
    page.get_by_role("link", name=IMAGE).hover()
    assert_only_text(page)
    page.keyboard.press("Control+k")
    page.keyboard.type("onerror")
    expect(page.get_by_role("option").filter(has_text=IMAGE).first).to_be_visible()
    assert_only_text(page)
    page.goto(f"{studio.url}/compare?run={studio.id_of(hostile_run)}&run={studio.id_of('sick')}&only=all")
    expect(page.get_by_role("region", name="Config")).to_contain_text(IMAGE)
    settled(page)
    assert_only_text(page)


def test_parallel_coordinates_and_tooltips_too(open_page: WatchedPages, studio: Shown, hostile_run: str) -> None:
    studio.id_of(hostile_run)
    columns = ["steps", f"config.{SCRIPT}.{SCRIPT}", f"config.{IMAGE}.{IMAGE}"]
    page = open_page(studio.address(columns=columns, view="parallel"))
    plot = page.get_by_role("img", name=re.compile("^Parallel coordinates"))
    expect(plot).to_be_visible()
    box = plot.bounding_box()
    for share in (0.2, 0.5, 0.8):
        page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * share)
    assert_only_text(page)


def test_a_tensor_of_such_a_name_is_opened(open_page: WatchedPages, studio: Shown, hostile_run: str) -> None:
    name = f"Sequential_{IMAGE}.weight"
    page = open_page(studio.address(hostile_run, "tensors", name=name))
    panel = page.get_by_role("region", name=f"Tensor {name}")
    expect(panel.get_by_role("heading", level=2)).to_have_text(name)
    expect(panel.get_by_role("img", name=re.compile("^Histogram"))).to_be_visible()
    download = panel.get_by_role("link", name=re.compile("Download")).get_attribute("download")
    assert re.fullmatch(r"[\w.-]+\.arrow", download)
    assert_only_text(page)


def test_what_is_in_the_address_is_only_text_too(open_page: WatchedPages, studio: Shown) -> None:
    open_page.expect("404|400")
    for query in ("search", "where", "columns", "sort", "sel", "view", "colour"):
        page = open_page(studio.address(**{query: IMAGE}))
        expect(page.get_by_role("main")).not_to_be_empty()
        assert_only_text(page)
    for tab in ("", "tensors", "layers", "config", "samples", "findings"):
        everything = dict.fromkeys(
            ("q", "name", "stat", "coll", "series", "x", "group", "code", "sort", "from"), SCRIPT
        )
        page = open_page(studio.address("healthy", tab, **everything))
        expect(page.get_by_role("heading", level=1)).to_have_text("healthy")
        assert_only_text(page)


@pytest.mark.parametrize("text", [IMAGE, SCRIPT])
def test_what_a_person_writes_is_only_text_too(open_page: WatchedPages, studio: Shown, text: str) -> None:
    page = open_page(studio.address("long"))
    page.get_by_role("button", name=re.compile("tags")).click()
    page.get_by_label(re.compile("^Tags")).fill(text)
    page.get_by_label("Note").fill(text)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Note")).to_have_text(text)
    assert_only_text(page)


@pytest.fixture(scope="module")
def hostile_sample(runs: Path, hostile_run: str, studio: Shown) -> str:
    """A sample of an evaluation whose ids, classes, metadata, selections, tests and jobs are such texts."""
    sample = evaluate_hostile(runs / hostile_run)
    studio.id_of(hostile_run)
    return sample


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("tab", "query"),
    [
        ("population", {}),
        ("population", {"color": f"metadata.{IMAGE}", "where": f'label = "{IMAGE}"'}),
        ("sample", {}),
        ("insights", {}),
        ("model", {}),
    ],
)
def test_samples_of_such_names_are_shown_as_text(
    open_page: WatchedPages, studio: Shown, hostile_run: str, hostile_sample: str, tab: str, query: dict[str, str]
) -> None:
    # Its data set was made in Python: the model cannot be opened again, and the page says so.
    open_page.expect(r"status of [45]\d\d")
    named = {"sample": hostile_sample} if tab == "sample" else query
    page = open_page(studio.address(hostile_run, tab, **named))
    expect(page.get_by_role("heading", level=1)).to_have_text(IMAGE)
    settled(page)
    if tab == "sample":
        expect(page.get_by_role("main")).to_contain_text(hostile_sample)
    assert_only_text(page)
    page.set_viewport_size({"width": 700, "height": 800})
    settled(page)
    assert_only_text(page)


def test_jobs_of_such_words_are_shown_as_text(open_page: WatchedPages, studio: Shown, hostile_sample: str) -> None:
    assert hostile_sample
    [job] = studio.ask("jobs")
    page = open_page(f"{studio.url}/jobs")
    expect(page.get_by_role("main")).to_contain_text(IMAGE)
    assert_only_text(page)
    page.goto(f"{studio.url}/jobs/{job['id']}")
    for text in (IMAGE, SCRIPT, ADDRESS):
        expect(page.get_by_role("main")).to_contain_text(text)
    # What a stranger's file calls a command is not offered for copying.
    assert job["command"] == ""
    settled(page)
    assert_only_text(page)
