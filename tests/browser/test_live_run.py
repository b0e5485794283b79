"""A training in another process, watched and steered from the page while it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.looking import difference, eventually, parameters, settled
from tests.browser.studios import Shown, showing
from tests.browser.trainings import live_training
from tests.browser.watched_pages import WatchedPages

# What a tab that is not seen says of itself.
HIDE = """hidden => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event('visibilitychange'));
}"""


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory, own_cache: None) -> Iterator[tuple[Shown, Any]]:
    """A studio, and a training that runs until the last test of this file asks it to stop."""
    folder: Path = tmp_path_factory.mktemp("live")
    with live_training(folder / "live") as process, showing(folder) as studio:
        studio.id_of("live")
        eventually(lambda: studio.ask("runs")[0]["steps"] > 5)
        yield studio, process


def state(page: Any, word: str) -> Any:
    """The state of the run at the top of its pages: a sign and a word."""
    return page.get_by_text(re.compile(rf"^\S+ {word}$"))


def last_step(page: Any) -> int:
    words = page.get_by_role("img", name=re.compile("^Chart of loss,")).get_attribute("aria-label")
    found = re.search(r"step \d+ to (\d+)", words.replace("\u202f", "").replace("\u00a0", ""))
    assert found is not None, words
    return int(found.group(1))


def test_a_curve_grows_while_it_is_looked_at(open_page: WatchedPages, training: tuple[Shown, Any]) -> None:
    page = open_page(training[0].address("live"))
    expect(page.locator("header").get_by_role("status")).to_have_text(re.compile("^Live$"))
    expect(state(page, "running")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^Chart of loss,"))).to_be_visible()
    begun = last_step(page)
    eventually(lambda: page.wait_for_timeout(20) is None and last_step(page) > begun + 10)


def test_a_zoom_stays_while_the_curve_grows(open_page: WatchedPages, training: tuple[Shown, Any]) -> None:
    studio, _ = training
    page = open_page(studio.address("live", first=1, last=5))
    chart = page.get_by_role("img", name=re.compile(r"^Chart of loss, step 1 to 5\b"))
    expect(chart).to_be_visible()
    before = settled(chart)
    steps = studio.ask("runs")[0]["steps"]
    eventually(lambda: page.wait_for_timeout(20) is None and studio.ask("runs")[0]["steps"] > steps + 20)
    expect(chart).to_be_visible()
    assert difference(before, settled(chart)) == 0
    assert parameters(page) == {"from": ["1"], "to": ["5"]}


def test_a_hidden_tab_hears_nothing_and_catches_up(open_page: WatchedPages, training: tuple[Shown, Any]) -> None:
    studio, _ = training
    page = open_page(studio.address("live"))
    live = page.locator("header").get_by_role("status")
    expect(live).to_have_text("Live")
    expect(page.get_by_role("img", name=re.compile("^Chart of loss,"))).to_be_visible()
    with page.expect_event("requestfailed", lambda request: "/api/live?" in request.url):
        page.evaluate(HIDE, True)
    expect(live).to_have_text("Paused")
    heard: list[Any] = []

    def hear(request: Any) -> None:  # playwright marks what it calls, which a built-in method does not allow
        heard.append(request)

    page.on("request", hear)

    def hears_nothing_while_steps_are_made() -> bool:
        heard.clear()
        stood, steps = last_step(page), studio.ask("runs")[0]["steps"]
        eventually(lambda: page.wait_for_timeout(20) is None and studio.ask("runs")[0]["steps"] > steps + 10)
        return not heard and last_step(page) == stood

    # What was on its way when the tab was hidden may still come.
    eventually(hears_nothing_while_steps_are_made)
    stood = last_step(page)
    page.evaluate(HIDE, False)
    expect(live).to_have_text("Live")
    eventually(lambda: page.wait_for_timeout(20) is None and last_step(page) > stood + 10)


def test_where_a_stream_does_not_get_through_the_page_asks(
    open_page: WatchedPages, training: tuple[Shown, Any]
) -> None:
    studio, _ = training
    open_page.expect("502|api/live")
    page = open_page(studio.url + "/nowhere")
    page.route("**/api/live?*", lambda route: route.fulfill(status=502))
    page.goto(studio.address("live"))
    expect(page.locator("header").get_by_role("status")).to_have_text(re.compile("checked every 2 s"))
    expect(page.get_by_role("img", name=re.compile("^Chart of loss,"))).to_be_visible()
    begun = last_step(page)
    eventually(lambda: page.wait_for_timeout(20) is None and last_step(page) > begun + 10)


def answer(page: Any, asked: str) -> Any:
    rows = page.get_by_role("region", name="Requests").get_by_role("row")
    # What was asked stands in a cell of its own; reasons and answers of other requests may name it, too.
    return rows.filter(has=page.locator("td.what", has_text=asked)).first


def test_a_training_is_paused_changed_resumed_and_stopped(open_page: WatchedPages, training: tuple[Shown, Any]) -> None:
    studio, process = training
    page = open_page(studio.address("live", "steering"))
    page.get_by_label("Reason (saved with the run)").fill("to look at it")
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(answer(page, "pause")).to_contain_text("done")
    expect(answer(page, "pause")).to_contain_text("to look at it")
    expect(state(page, "paused")).to_be_visible()
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(answer(page, "resume")).to_contain_text("done")
    page.get_by_role("textbox", name="Learning rate").fill("0.025")
    page.get_by_role("button", name="Set", exact=True).click()
    expect(answer(page, "0.025")).to_contain_text("done")
    eventually(lambda: learning_rate(studio) == 0.025)
    page.get_by_role("button", name="Checkpoint", exact=True).click()
    expect(answer(page, "checkpoint")).to_contain_text("refused")
    stop = page.get_by_role("button", name="Stop", exact=True)
    stop.click()
    expect(page.get_by_role("button", name="Click again to stop")).to_be_visible()
    assert process.poll() is None
    page.get_by_role("button", name="Click again to stop").click()
    expect(answer(page, "stop")).to_contain_text("done")
    expect(state(page, "finished")).to_be_visible()
    assert process.wait(60) == 0
    expect(page.get_by_role("button", name="Pause", exact=True)).to_have_count(0)


def learning_rate(studio: Shown) -> float:
    rows = studio.ask(f"runs/{studio.id_of('live')}/scalars")
    return float(next(row["last"] for row in rows if row["name"] == "lr"))


@pytest.mark.usefixtures("own_cache")
def test_a_training_that_was_killed_is_said_to_be_gone_with_how_to_go_on(
    open_page: WatchedPages, tmp_path: Path
) -> None:
    with live_training(tmp_path / "killed") as process, showing(tmp_path) as studio:
        page = open_page(studio.address("killed", "steering"))
        expect(state(page, "running")).to_be_visible()
        # Also where that happens between the first answer and the beginning of the stream.
        process.kill()
        process.wait()
        expect(state(page, "crashed")).to_be_visible()
        expect(page.get_by_role("button", name="Pause", exact=True)).to_have_count(0)
        expect(page.get_by_role("main")).to_contain_text("resume=True")
        open_page.close()
