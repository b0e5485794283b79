"""The tensors of a run: stripes that show the sick layer, the table that is their equal, and one tensor in detail."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from playwright.sync_api import expect

from tests.browser.looking import Pixels, count_of, difference, difference_in_place, parameters, settled
from tests.browser.studios import Shown
from tests.browser.trainings import DEAD_LAYER, MANY_LAYERS
from tests.browser.watched_pages import WatchedPages

# Of lib/colour.ts: what is not finite has a colour that no map holds.
NONFINITE = {"light": (0xB3, 0x00, 0x5E), "dark": (0xFF, 0x5F, 0xB0)}


def stripes(page: Any) -> Any:
    found = page.get_by_role("application", name=re.compile("^Stripes of"))
    expect(found).to_be_visible()
    return found


def tensors(page: Any) -> Any:
    return page.get_by_role("table", name="Tensors").locator("tbody")


def names_of(studio: Shown, run: str) -> list[str]:
    return [row["name"] for row in studio.ask(f"runs/{studio.id_of(run)}/tensors", sort="model", limit=1000)]


class Rows:
    """The stripes of a run, a row each, by the names of the tensors; few enough to be all in sight."""

    def __init__(self, page: Any, studio: Shown, run: str) -> None:
        self.names = names_of(studio, run)
        self.picture = settled(stripes(page).locator("canvas"))

    def of(self, tensor: str) -> Pixels:
        """The middle of a row: between rows are lines."""
        height = self.picture.shape[0] / len(self.names)
        middle = (self.names.index(tensor) + 0.5) * height
        return self.picture[int(middle - height / 4) : int(middle + height / 4) + 1]


def test_stripes_are_painted(open_page: WatchedPages, studio: Shown, theme: str) -> None:
    page = open_page(studio.address("healthy", "tensors"), theme=theme)
    picture = settled(stripes(page).locator("canvas"))
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 40


def test_a_dead_layer_does_not_look_like_a_calm_one(open_page: WatchedPages, studio: Shown, theme: str) -> None:
    page = open_page(studio.address("sick", "tensors"), theme=theme)
    rows = Rows(page, studio, "sick")
    dead = rows.of(f"gradient/Sequential_{DEAD_LAYER}.weight")
    calm = rows.of("first_relu_output_0")
    alive = rows.of("gradient/Sequential_head.bias")
    # Each pixel of the dead row is far from each of the calm one: nobody has to look twice.
    assert np.abs(dead.mean(axis=(0, 1)) - calm.mean(axis=(0, 1))).max() > 60
    assert difference(dead, alive) > 0.5
    assert np.abs(rows.of("dead_relu_output_0").mean(axis=(0, 1)) - calm.mean(axis=(0, 1))).max() > 60


def test_what_is_not_finite_has_its_own_colour(open_page: WatchedPages, studio: Shown, theme: str) -> None:
    page = open_page(studio.address("broken", "tensors"), theme=theme)
    rows = Rows(page, studio, "broken")
    row = rows.of("Sequential_0.weight")
    half = row.shape[1] // 2
    assert count_of(row[:, :half], NONFINITE[theme]) == 0
    assert count_of(row[:, -half // 2 :], NONFINITE[theme]) > 0.4 * row[:, -half // 2 :].shape[0] * (half // 2)
    expect(page.get_by_role("region", name="Overview").get_by_text("not finite")).to_be_visible()
    page.goto(studio.address("healthy", "tensors"))
    assert count_of(settled(stripes(page).locator("canvas")), NONFINITE[theme]) == 0


def test_a_click_on_a_stripe_chooses_its_tensor_in_map_and_table(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("sick", "tensors"))
    names = names_of(studio, "sick")
    plot = stripes(page)
    box = plot.bounding_box()
    wanted = 3
    plot.click(position={"x": box["width"] / 2, "y": box["height"] / len(names) * (wanted + 0.5)})
    expect(page.get_by_role("region", name=f"Tensor {names[wanted]}")).to_be_visible()
    assert parameters(page)["name"] == [names[wanted]]
    expect(tensors(page).locator("tr[aria-selected=true]")).to_contain_text(names[wanted][-12:])
    # The other way round: the table chooses, and the map shows it.
    before = settled(plot)
    tensors(page).get_by_role("link").first.click()
    expect(page.get_by_role("region", name=f"Tensor {names[0]}")).to_be_visible()
    assert difference(before, settled(plot)) > 0
    page.keyboard.press("Escape")
    expect(page.get_by_role("region", name=re.compile("^Tensor "))).to_have_count(0)


def test_the_map_goes_by_keys(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("sick", "tensors"))
    names = names_of(studio, "sick")
    stripes(page).focus()
    for key in ("ArrowUp", "Home", "ArrowDown"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    name = parameters(page)["name"][0]
    assert name in names
    expect(page.get_by_role("region", name=f"Tensor {name}")).to_be_visible()
    page.keyboard.press("+")
    expect(page).to_have_url(re.compile("from="))
    page.keyboard.press("0")
    expect(page).not_to_have_url(re.compile("from="))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "query",
    [
        {"name": "Sequential_head.weight"},
        {"stat": "zeros"},
        {"stat": "mean", "scale": "same"},
        {"first": 20, "last": 60},
        {"coll": "gradients"},
        {"q": "conv2", "sort": "-l2"},
    ],
)
def test_a_deep_link_restores_tensor_statistic_and_zoom(
    open_page: WatchedPages, studio: Shown, query: dict[str, Any]
) -> None:
    usual = open_page(studio.address("healthy", "tensors"))
    page = open_page(studio.address("healthy", "tensors", **query))
    plot, plain = settled(stripes(page)), settled(stripes(usual))
    assert difference(plot, plain) > 0.002
    if "stat" in query:
        expect(page.get_by_label("Statistic")).to_have_value(query["stat"])
    if "coll" in query:
        expect(tensors(page).get_by_role("link").first).to_contain_text("gradient")
    if "first" in query:
        expect(page.get_by_role("button", name="Show all steps")).to_be_visible()
    page.reload()
    assert difference_in_place(plot, settled(stripes(page))) < 0.001


def test_the_choices_above_the_stripes_go_into_the_address(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("healthy", "tensors"))
    before = settled(stripes(page))
    page.get_by_label("Statistic").select_option("zeros")
    assert difference(before, settled(stripes(page))) > 0.01
    page.get_by_role("button", name="Same scale for all").click()
    page.get_by_label("Collection").select_option("gradients")
    page.get_by_label("Search tensors").fill("conv1")
    expect(tensors(page).get_by_role("link")).to_have_count(2)
    found = parameters(page)
    assert {name: found[name] for name in ("stat", "scale", "coll", "q")} == {
        "stat": ["zeros"],
        "scale": ["same"],
        "coll": ["gradients"],
        "q": ["conv1"],
    }


def test_a_drag_over_the_steps_zooms(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("healthy", "tensors"))
    plot = stripes(page)
    before, box = settled(plot), plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 40, steps=4)
    page.mouse.up()
    expect(page.get_by_role("button", name="Show all steps")).to_be_visible()
    first, last = (int(parameters(page)[name][0]) for name in ("from", "to"))
    assert 25 <= first < last <= 65
    page.go_back()
    page.mouse.move(1, 1)
    assert difference(before, settled(plot)) < 0.001


def test_a_saved_tensor_has_its_bars_its_values_and_its_file(
    open_page: WatchedPages, studio: Shown, tmp_path: Path
) -> None:
    page = open_page(studio.address("healthy", "tensors", name="Sequential_conv1.weight"))
    panel = page.get_by_role("region", name="Tensor Sequential_conv1.weight")
    expect(panel).to_contain_text(" \N{MULTIPLICATION SIGN} ".join("6133"))
    histogram = panel.get_by_role("img", name=re.compile("^Histogram of 54 values"))
    expect(histogram).to_be_visible()
    tall = histogram.locator("rect").evaluate_all("bars => bars.filter(one => one.getBBox().height > 4).length")
    assert tall > 5
    drawn = settled(histogram)
    panel.get_by_role("button", name="Previous saved step").click()
    expect(page).to_have_url(re.compile("step="))
    assert difference(drawn, settled(histogram)) > 0.002
    assert len(np.unique(settled(panel.get_by_role("img", name=re.compile("^Picture of the values")))[::3, ::3])) > 5
    panel.get_by_role("button", name="Values as a table").click()
    expect(panel.get_by_role("table").get_by_role("row").nth(5)).to_be_visible()
    with page.expect_download() as downloaded:
        panel.get_by_role("link", name=re.compile("Download")).click()
    downloaded.value.save_as(tmp_path / "values.arrow")
    values = pa.ipc.open_stream(io.BytesIO((tmp_path / "values.arrow").read_bytes())).read_all()
    assert values.num_rows == 54


def test_a_tensor_that_was_not_saved_says_how_to_save_it(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("broken", "tensors", name="Sequential_0.weight"))
    panel = page.get_by_role("region", name="Tensor Sequential_0.weight")
    expect(panel).to_contain_text("are not finite")
    expect(panel).to_contain_text("SaveConfig")


def test_five_hundred_layers_scroll(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("large", "tensors"))
    expect(stripes(page)).to_have_attribute("aria-label", re.compile(r"^Stripes of 2.?001 tensors"))
    # Four rows a layer, and the loss.
    expect(page.get_by_role("table", name="Tensors")).to_have_attribute("aria-rowcount", str(4 * MANY_LAYERS + 2))
    assert tensors(page).get_by_role("link").count() < 100
    page.get_by_role("table", name="Tensors").evaluate("one => one.parentElement.scrollTo(0, one.scrollHeight)")
    expect(tensors(page).get_by_role("link").last).to_contain_text(re.compile("output_0$"))
    tensors(page).get_by_role("link").last.click()
    # What was chosen far below is brought into sight in the map.
    expect(page.get_by_text("MSELoss_output_0").first).to_be_visible()
