"""Pages of figures in a real browser: they draw, answer to pointer and keys, and call nobody."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from cutaway.analysis.figures import Figure, map_figure
from tests.unit.analysis.figures.made import KINDS, every_figure, png, positions, table
from tests.unit.analysis.figures.reading_pages import HOSTILE

Open = Callable[..., Any]


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Open a figure's file; at the end nothing may have been said, raised or called for."""
    complaints: list[str] = []
    pages: dict[tuple[bool, int], Any] = {}

    def page_of(dark: bool, width: int) -> Any:
        scheme = "dark" if dark else "light"
        context = browser.new_context(
            color_scheme=scheme, viewport={"width": width, "height": 800}, reduced_motion="reduce"
        )
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: complaints.append(request.url) if request.url[:5] not in OWN else None)
        return page

    def opening(figure: Figure, *, dark: bool = False, width: int = 1200) -> Any:
        # Making a page takes longer than showing a figure in it.
        page = pages.get((dark, width)) or page_of(dark, width)
        pages[dark, width] = page
        file = tmp_path / "figure.html"
        figure.html(file)
        page.goto(file.as_uri())
        if figure.content.scripts:
            page.wait_for_selector("html[data-ready=yes]", state="attached")
        return page

    yield opening
    for page in pages.values():
        page.context.close()
    assert complaints == []


OWN = ("file:", "data:")


def pixels(page: Any) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_drawn_on_its_ground(show: Open, kind: str, theme: str) -> None:
    seen = pixels(show(every_figure()[kind], dark=theme == "dark"))
    assert seen[2, 2].tolist() == ([20, 23, 28] if theme == "dark" else [255, 255, 255])
    assert len(np.unique(seen.reshape(-1, 3), axis=0)) > 50


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_fits_a_narrow_window(show: Open, kind: str) -> None:
    page = show(every_figure()[kind], width=420)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


@pytest.mark.one_in(3)
@pytest.mark.parametrize("text", HOSTILE)
def test_texts_that_mean_harm_run_nothing(show: Open, text: str) -> None:
    for figure in every_figure(text).values():
        page = show(figure)
        assert page.evaluate("document.querySelectorAll('figure script, figure img[src=x]').length") == 0


def line_of_samples() -> Figure:
    """Five samples in a row: the third one is in the middle of the map."""
    samples = pa.table(
        {
            "sample": ["a", "b", "the <middle>", "d", "e"],
            "label": ["x", "x", "y", "y", "y"],
            "prediction": ["x", "x", "y", "y", "x"],
            "correct": [True, True, True, True, False],
            "loss": [0.1, 0.2, 0.3, 0.4, 5.0],
        }
    )
    places = np.stack([np.arange(5.0), np.zeros(5)], axis=1)
    return map_figure(places, samples, previews={"the <middle>": png(side=8)})


def middle_of(page: Any) -> tuple[float, float]:
    box = page.locator("#marks").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_point_under_the_pointer_tells_its_sample_and_a_click_pins_it(show: Open) -> None:
    page = show(line_of_samples())
    page.mouse.move(*middle_of(page))
    tip = page.locator("#tip")
    assert tip.is_visible()
    for said in ("the <middle>", "label", "y", "loss", "0.3"):
        assert said in tip.inner_text()
    assert page.evaluate("document.querySelector('#tip img').naturalWidth") == 8
    page.mouse.click(*middle_of(page))
    page.mouse.move(5, 5)
    assert tip.is_hidden()
    assert "the <middle>" in page.locator("#sample").inner_text()
    page.get_by_role("button", name="Unpin").click()
    assert page.locator("#sample").is_hidden()


def drawn_points(page: Any) -> str:
    page.wait_for_timeout(100)
    return str(page.evaluate("document.getElementById('points').toDataURL()"))


def test_wheel_and_drag_move_the_map_and_all_comes_back(show: Open) -> None:
    page = show(line_of_samples())
    before = drawn_points(page)
    page.mouse.move(*middle_of(page))
    page.mouse.wheel(0, -800)
    nearer = drawn_points(page)
    page.mouse.down()
    page.mouse.move(400, 300, steps=3)
    page.mouse.up()
    assert len({before, nearer, drawn_points(page)}) == 3
    page.get_by_role("button", name="Show all").click()
    assert drawn_points(page) == before


def test_the_legend_dims_and_hides_nothing(show: Open) -> None:
    page = show(line_of_samples())
    button = page.get_by_role("button", name="x 2")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert page.locator("#status").inner_text() == "2 of 5 points in full colour."
    page.mouse.move(*middle_of(page))
    assert "the <middle>" in page.locator("#tip").inner_text()
    page.get_by_role("button", name="Show all alike").click()
    page.get_by_role("button", name="misclassified 1").click()
    assert page.locator("#status").inner_text() == "1 of 5 points in full colour."


def test_a_sample_is_found_by_a_part_of_its_id(show: Open) -> None:
    page = show(map_figure(positions(), table()))
    field = page.get_by_label("Find a sample by id")
    field.fill("S1")
    field.press("Enter")
    # The whole id comes before those that only begin so.
    assert page.locator("#status").inner_text() == "Pinned s1."
    field.fill("s4")
    field.press("Enter")
    assert page.locator("#sample .id").inner_text() == "s4"
    field.fill("nothing")
    field.press("Enter")
    assert page.locator("#status").inner_text() == "No sample has “nothing” in its id."


def test_the_map_answers_to_keys_alone(show: Open) -> None:
    page = show(line_of_samples())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "marks"
    page.keyboard.press("j")
    assert page.locator("#sample .id").inner_text() == "e"
    page.keyboard.press("j")
    assert page.locator("#sample .id").inner_text() == "d"
    page.keyboard.press("k")
    assert page.locator("#sample .id").inner_text() == "e"
    before = pixels(page)
    for key in ("+", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
    page.wait_for_timeout(100)
    assert (pixels(page) != before).any()
    page.keyboard.press("Escape")
    assert page.locator("#sample").is_hidden()


def test_a_chart_reads_its_numbers_to_keys_and_pointer(show: Open) -> None:
    page = show(every_figure()["curve"])
    page.locator("svg").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator("#status").inner_text() == "1 to 2: mean plain 0.4 (0.3 to 0.5), samples 20"
    page.keyboard.press("Escape")
    assert page.locator("#status").inner_text() == ""


def test_a_map_of_nothing_is_no_error(show: Open) -> None:
    page = show(map_figure(np.full((60, 2), np.nan), table()))
    page.mouse.click(*middle_of(page))
    page.keyboard.press("j")
    assert page.locator("#sample").is_hidden()


def test_several_figures_live_in_one_notebook(browser: Any, tmp_path: Path) -> None:
    figures = every_figure(HOSTILE[0])
    file = tmp_path / "notebook.html"
    file.write_text(
        "<!DOCTYPE html><title>n</title>" + figures["map"]._repr_html_() * 2 + figures["curve"]._repr_html_()
    )
    page = browser.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(file.as_uri())
    for frame in page.frames[1:]:
        frame.wait_for_selector("html[data-ready=yes]", state="attached")
    assert len(page.frames) == 4
    assert complaints == []
    page.close()
