"""What holds on every page: both themes, no barrier that axe finds, keys, a narrow window, links, errors that help."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.axe import AXE
from tests.browser.looking import difference, eventually, pixels, settled
from tests.browser.studios import Shown, showing
from tests.browser.watched_pages import WatchedPages

# Each page: its run, its tab and what it shows when it is there. `finding` stands for the first one of the run.
PAGES: dict[str, tuple[str, str, str]] = {
    "runs": ("", "", "tbody tr a"),
    "parallel": ("", "?view=parallel", "svg[role=img]"),
    "compare": ("", "compare", ".uplot canvas"),
    "curves": ("healthy", "", ".uplot canvas"),
    "sick curves": ("broken", "", ".uplot canvas"),
    "tensors": ("sick", "tensors", "[role=application] canvas"),
    "tensor": ("healthy", "tensors?name=Sequential_conv1.weight", "section svg rect"),
    "broken tensors": ("broken", "tensors", "[role=application] canvas"),
    "large tensors": ("large", "tensors", "[role=application] canvas"),
    "findings": ("sick", "findings", "tbody tr a"),
    "finding": ("sick", "findings/finding", ".uplot canvas"),
    "samples": ("sick", "samples", "main img"),
    "table of samples": ("sick", "samples?view=table", "tbody tr th"),
    "layers": ("large", "layers", "tbody tr a"),
    "config": ("healthy", "config", "section h2"),
    "steering": ("healthy", "steering", "section h2"),
}


def address(studio: Shown, name: str) -> str:
    run, tab, _ = PAGES[name]
    if name == "compare":
        return f"{studio.url}/compare?run={studio.id_of('healthy')}&run={studio.id_of('sick')}"
    if tab == "findings/finding":
        tab = f"findings/{studio.ask(f'runs/{studio.id_of(run)}/findings')[0]['id']}"
    return studio.address(run, tab) if not tab.startswith("?") else studio.address() + tab


def opened(open_page: WatchedPages, studio: Shown, name: str, **settings: Any) -> Any:
    page = open_page(address(studio, name), **settings)
    expect(page.locator(PAGES[name][2]).first).to_be_visible()
    return page


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(
    open_page: WatchedPages, studio: Shown, axe: Callable[[Any], list[str]], name: str, theme: str
) -> None:
    if not AXE.exists():
        pytest.skip("ui/node_modules is not there; `make setup` installs it")
    page = opened(open_page, studio, name, theme=theme)
    assert page.locator("html").get_attribute("data-theme") == theme
    assert axe(page) == []


@pytest.mark.parametrize("keys", ["?", "Control+k", "o", "f"], ids=["help", "palette", "columns", "filter"])
def test_axe_finds_nothing_serious_in_what_opens(
    open_page: WatchedPages, studio: Shown, axe: Callable[[Any], list[str]], keys: str, theme: str
) -> None:
    if not AXE.exists():
        pytest.skip("ui/node_modules is not there; `make setup` installs it")
    page = opened(open_page, studio, "runs", theme=theme)
    page.keyboard.press(keys)
    expect(page.locator("dialog, form").first).to_be_visible()
    assert axe(page) == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", PAGES)
def test_a_narrow_window_never_scrolls_sideways(open_page: WatchedPages, studio: Shown, name: str) -> None:
    page = opened(open_page, studio, name, width=700)
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 700


# What Tab has reached, and whether that could be seen: an outline or a shadow that was not there before.
STEP = """() => {
    const at = document.activeElement;
    if (!at || at === document.body) return null;
    at.dataset.reached = 'yes';
    const style = getComputedStyle(at);
    const parent = getComputedStyle(at.parentElement);
    const seen = style.outlineStyle !== 'none' || style.boxShadow !== 'none' || parent.outlineStyle !== 'none';
    return { seen, what: at.outerHTML.slice(0, 160) };
}"""
LEFT = """() => [...document.querySelectorAll('button, a[href], input, select, textarea')]
    .filter(one => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0)
    .filter(one => !one.dataset.reached && !(one.type === 'radio' && !one.checked))
    .map(one => one.outerHTML.slice(0, 160))"""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["runs", "compare", "curves", "tensors", "findings", "finding", "samples", "config"])
def test_tab_reaches_every_control_and_it_is_seen(open_page: WatchedPages, studio: Shown, name: str) -> None:
    page = opened(open_page, studio, name)
    settled(page)
    unseen = []
    for _ in range(300):
        page.keyboard.press("Tab")
        at = page.evaluate(STEP)
        if at is None:
            break
        if not at["seen"]:
            unseen.append(at["what"])
    assert unseen == []
    assert page.evaluate(LEFT) == []


def test_the_first_tab_skips_to_the_content(open_page: WatchedPages, studio: Shown) -> None:
    page = opened(open_page, studio, "runs")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()


@pytest.mark.parametrize("name", ["runs", "curves", "tensors", "findings", "samples"])
def test_help_lists_the_keys_of_this_page(open_page: WatchedPages, studio: Shown, name: str) -> None:
    page = opened(open_page, studio, name)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_contain_text("Switch between light and dark")
    own = {"runs": "Next run", "curves": "Show the whole run", "tensors": "Next tensor", "findings": "Next finding"}
    expect(dialog).to_contain_text(own.get(name, "Steps after"))
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_a_key_changes_the_theme_and_it_stays(open_page: WatchedPages, studio: Shown) -> None:
    page = opened(open_page, studio, "curves")
    light = pixels(page)
    page.keyboard.press("d")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert pixels(page).mean() < light.mean() - 100
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("Object.keys(localStorage)") == ["cutaway.theme"]


def test_a_page_of_a_dark_system_is_dark_from_its_first_paint(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(f"{studio.url}/nowhere", theme="dark")
    # As if the page's own script never came: what is painted before it is dark already.
    page.route("**/assets/*.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto(studio.address())
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_who_wants_little_motion_gets_none(open_page: WatchedPages, studio: Shown) -> None:
    page = opened(open_page, studio, "runs", reduced_motion="reduce")
    moving = """() => document.getAnimations().length + [...document.querySelectorAll('*')].filter(one => {
        const style = getComputedStyle(one);
        return parseFloat(style.transitionDuration) > 0.01 || parseFloat(style.animationDuration) > 0.01;
    }).length"""
    assert page.evaluate(moving) == 0


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", [name for name in PAGES if name != "steering"])
def test_a_reload_shows_the_same(open_page: WatchedPages, studio: Shown, name: str) -> None:
    page = opened(open_page, studio, name)
    before, url = settled(page), page.url
    page.reload()
    expect(page.locator(PAGES[name][2]).first).to_be_visible()
    assert page.url == url
    assert difference(before, settled(page)) < 0.002


def test_back_and_forward_go_where_one_was(open_page: WatchedPages, studio: Shown) -> None:
    page = opened(open_page, studio, "runs")
    page.get_by_role("link", name="sick", exact=True).click()
    titles = ["Tensors", "Findings", "Layers"]
    for title in titles:
        page.get_by_role("navigation", name="Run").get_by_role("link", name=title).click()
    for title in reversed(titles):
        current = page.get_by_role("navigation", name="Run").locator("[aria-current=page]")
        expect(current).to_contain_text(title)
        page.go_back()
    page.go_back()
    expect(page.get_by_role("table", name="Runs")).to_be_visible()
    page.go_forward()
    expect(page.get_by_role("heading", level=1)).to_have_text("sick")


@pytest.mark.parametrize(
    ("path", "said", "way_out"),
    [
        ("nowhere/at/all", "Page not found", "All runs"),
        ("runs/sick-000000000000", "sick-000000000000", "runs"),
        ("runs/healthy/nonsense", "Page not found", "All runs"),
    ],
)
def test_what_there_is_not_says_what_to_do(
    open_page: WatchedPages, studio: Shown, path: str, said: str, way_out: str
) -> None:
    open_page.expect("404")
    page = open_page(f"{studio.url}/{path}")
    expect(page.get_by_role("main")).to_contain_text(said)
    page.get_by_role("link", name=re.compile(way_out, re.IGNORECASE)).last.click()
    expect(page.get_by_role("table", name="Runs")).to_be_visible()


def test_a_finding_that_there_is_not_is_said(open_page: WatchedPages, studio: Shown) -> None:
    open_page.expect("404")
    page = open_page(studio.address("sick", "findings/none"))
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_role("link", name="All findings").click()
    expect(page.get_by_role("table", name="Findings")).to_be_visible()


@pytest.mark.usefixtures("own_cache")
def test_a_part_that_never_comes_is_said_and_is_no_error_of_the_page(open_page: WatchedPages, studio: Shown) -> None:
    open_page.expect("ERR_FAILED")
    page = open_page(studio.url + "/nowhere")
    asked: list[str] = []

    def never(route: Any) -> None:
        asked.append(route.request.url)
        route.abort()

    page.route(re.compile("/assets/(RunningMark|ParallelView)"), never)
    page.goto(address(studio, "parallel"))
    missing = page.get_by_role("alert").filter(has_text="Part of this page could not be loaded")
    expect(missing).to_have_count(1)
    # How many jobs run is asked later, and is no part that anybody waits for.
    eventually(lambda: page.wait_for_timeout(20) is None and any("RunningMark" in one for one in asked))
    expect(missing).to_have_count(1)
    page.unroute_all()
    missing.first.get_by_role("button", name="Reload").click()
    expect(page.locator(PAGES["parallel"][2]).first).to_be_visible()


def test_a_studio_that_is_gone_is_said_and_tried_again(
    open_page: WatchedPages, made_runs: Path, tmp_path: Path
) -> None:
    shutil.copytree(made_runs / "healthy", tmp_path / "healthy")
    open_page.expect("ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET")
    with showing(tmp_path) as studio:
        port = studio.served.port
        page = open_page(studio.address("healthy"))
        expect(page.locator(".uplot canvas").first).to_be_visible()
    page.get_by_role("navigation", name="Run").get_by_role("link", name="Layers").click()
    # The part of the page may already be there; what it asks for is not.
    alert = page.get_by_role("alert").first
    expect(alert).to_be_visible()
    with showing(tmp_path, port=port) as studio:
        studio.id_of("healthy")
        again = page.get_by_role("button", name=re.compile("Try again|Reload"))
        again.first.click()
        expect(page.get_by_role("link", name="conv1", exact=True)).to_be_visible()
