"""The curves of a run: painted, marked, zoomed, smoothed, and all of that in the address."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.looking import colour_of, count_of, difference, difference_in_place, parameters, pixels, settled
from tests.browser.studios import Shown
from tests.browser.watched_pages import WatchedPages

# Shares of the pixels of a chart. A curve is thin: another one changes few of them.
CHANGED, SAME = 0.003, 0.001


def figure(page: Any, name: str) -> Any:
    """The chart of that name, which has its picture."""
    found = page.locator("figure").filter(has=page.get_by_role("img", name=re.compile(f"^Chart of {name},")))
    expect(found).to_be_visible()
    return found


def picture(page: Any, name: str) -> Any:
    return figure(page, name).locator("canvas")


def drag(page: Any, part: Any, begin: float, end: float) -> None:
    """Drag over a part of a chart, from one share of its width to another."""
    box = part.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * begin, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * end, middle, steps=5)
    page.mouse.up()
    # Away, else the line under the pointer is in the picture.
    page.mouse.move(1, 1)


def test_curves_are_painted_in_the_colours_of_their_legend(open_page: WatchedPages, studio: Shown, theme: str) -> None:
    page = open_page(studio.address("healthy"), theme=theme)
    seen = settled(picture(page, "accuracy"))
    for mode, colour in (("train", "series-1"), ("eval", "series-2")):
        expect(page.get_by_role("list", name="Values of accuracy")).to_contain_text(mode)
        assert count_of(seen, colour_of(page, colour)) > 60


@pytest.mark.parametrize("name", ["loss", "accuracy", "learning_rate"])
def test_every_curve_has_its_words_and_its_table(open_page: WatchedPages, studio: Shown, name: str) -> None:
    page = open_page(studio.address("healthy"))
    drawn = figure(page, name)
    expect(drawn.get_by_role("img")).to_have_attribute("aria-label", re.compile("step 0 to 1[01][0-9].* ends at "))
    drawn.get_by_role("button", name=f"Show {name} as table").click()
    expect(drawn.get_by_role("row").nth(10)).to_be_visible()


def test_findings_are_marks_that_lead_to_the_finding(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("broken"))
    marks = page.get_by_role("list", name="Findings on loss")
    mark = marks.get_by_role("link", name=re.compile("ExplodingTensor|exploded")).first
    expect(mark).to_be_visible()
    # As a dashed line over the whole picture, not only as a sign above it.
    seen = settled(picture(page, "loss"))
    assert count_of(seen, colour_of(page, "bad")) > 30
    mark.click()
    expect(page).to_have_url(re.compile("/findings/"))
    expect(page.get_by_role("heading", level=2, name=re.compile("ExplodingTensor"))).to_be_visible()


def test_what_is_not_finite_is_marked_and_counted(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("broken"))
    expect(page.get_by_role("list", name="Values of score")).to_contain_text("10 not finite")
    # Ten ticks at the foot of the picture, where the ten steps without a value are.
    seen = settled(picture(page, "score"))
    foot = seen[int(seen.shape[0] * 0.6) :, int(seen.shape[1] * 0.35) : int(seen.shape[1] * 0.6)]
    assert count_of(foot, colour_of(page, "bad")) > 60
    # A healthy curve has none of it.
    expect(page.get_by_role("list", name="Values of learning_rate")).not_to_contain_text("not finite")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("change", "query"),
    [
        (lambda page: page.get_by_label("Smooth").fill("0.9"), {"smooth": ["0.9"]}),
        (lambda page: page.get_by_role("button", name="Log scale").click(), {"log": ["1"]}),
        (lambda page: page.get_by_label("Over").select_option("Epoch"), {"x": ["epoch"]}),
        (lambda page: page.get_by_label("Over").select_option(index=2), {}),
        (lambda page: drag(page, picture(page, "loss"), 0.4, 0.7), {"from": [""], "to": [""]}),
        (lambda page: page.get_by_role("button", name="Show only loss").click(), {"series": ["loss"]}),
    ],
    ids=["smoothing", "log scale", "epochs", "time", "zoom", "one chart"],
)
def test_a_change_is_seen_and_in_the_address_and_a_link_restores_it(
    open_page: WatchedPages, studio: Shown, change: Any, query: dict[str, list[str]]
) -> None:
    page = open_page(studio.address("healthy"))
    before = settled(picture(page, "loss"))
    change(page)
    expect(page).not_to_have_url(studio.address("healthy"))
    now = settled(picture(page, "loss"))
    assert difference(before, now) > CHANGED
    found = parameters(page)
    assert set(found) >= set(query)
    for name, values in query.items():
        assert found[name][0].startswith(values[0])
    other = open_page(page.url)
    assert difference_in_place(now, settled(picture(other, "loss"))) < SAME


def test_all_of_it_together_is_restored_and_can_be_left(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(
        studio.address("healthy", smooth=0.5, log=1, first=20, last=80, series=["loss@TRAIN", "loss@EVAL"])
    )
    large = settled(picture(page, "loss"))
    expect(page.get_by_label("From step")).to_have_value("20")
    expect(page.get_by_label("To step")).to_have_value("80")
    expect(page.get_by_role("button", name="Log scale")).to_have_attribute("aria-pressed", "true")
    page.reload()
    assert difference_in_place(large, settled(picture(page, "loss"))) < SAME
    page.get_by_role("button", name="Whole run").click()
    assert difference(large, settled(picture(page, "loss"))) > CHANGED
    page.get_by_role("button", name="Show all charts").click()
    expect(page.get_by_role("img", name=re.compile("^Chart of accuracy,"))).to_be_visible()


def test_a_zoom_is_one_step_back(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("healthy"))
    whole = settled(picture(page, "loss"))
    drag(page, picture(page, "loss"), 0.3, 0.6)
    expect(page).to_have_url(re.compile("from="))
    assert difference(whole, settled(picture(page, "loss"))) > CHANGED
    page.go_back()
    assert difference(whole, settled(picture(page, "loss"))) < SAME
    page.go_forward()
    expect(page.get_by_label("From step")).not_to_have_value("")
    page.keyboard.press("0")
    expect(page.get_by_label("From step")).to_have_value("")


def test_a_curve_that_was_thinned_says_so_and_a_whole_one_too(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("long"))
    expect(figure(page, "loss").locator("figcaption")).to_contain_text(re.compile(r"2.500"))
    page.goto(studio.address("healthy"))
    expect(figure(page, "loss").locator("figcaption")).to_contain_text("all 100 values")


def test_a_run_without_numbers_says_how_to_save_some(open_page: WatchedPages, studio: Shown) -> None:
    from cutaway.run import Run

    Run.create(studio.root / "without")
    page = open_page(studio.address("without"))
    expect(page.get_by_text("hook.save_scalar")).to_be_visible()
    assert pixels(page).std() > 0
