"""The page of a population, of digits and of sentences: what is painted, and what is selected in every way there is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.looking import Pixels, colour_of, count_of, difference, eventually, parameters, settled
from tests.browser.maps import SeenMap, read_points
from tests.browser.studios import PATIENCE, Shown
from tests.browser.watched_pages import WatchedPages

CLUSTERS, CONFUSION = "Clusters", "Confusion matrix"


@pytest.fixture(params=["digits_run", "text_run"])
def either_run(request: pytest.FixtureRequest) -> Path:
    """Digits and sentences, one after the other."""
    return Path(request.getfixturevalue(request.param))


@pytest.fixture
def open_map(open_page: WatchedPages, explored: Shown) -> Callable[..., SeenMap]:
    """Opens the page of a run's population and waits for its map."""

    def opened(run: Path, *columns: str, theme: str = "light", width: int = 1280, **query: Any) -> SeenMap:
        page = open_page(explored.address(run.name, "population", **query), theme=theme, width=width)
        expect(page.get_by_role("application")).to_be_visible()
        return SeenMap(page, read_points(explored, run, *columns))

    return opened


def number_in(part: Any) -> int:
    """The only number that a part of the page says."""
    return int(re.sub(r"\D", "", part.inner_text()))


def said(page: Any) -> Any:
    """The words that say how many samples there are, or are selected."""
    return page.get_by_role("status").filter(has_text=re.compile(r"(selected|\d samples)\s*$"))


def selected(page: Any) -> int:
    """How many are selected, once some are; the table has as many rows."""
    expect(said(page)).to_contain_text("selected")
    count = number_in(said(page).locator("b"))
    expect(table(page)).to_have_attribute("aria-rowcount", str(count + 1))
    return count


def chooser(page: Any, name: str) -> Any:
    return page.get_by_role("combobox", name=name, exact=True)


def choose(page: Any, name: str, column: str) -> None:
    chooser(page, name).select_option(column)


def table(page: Any) -> Any:
    return page.get_by_role("table", name="Samples of the selection")


def first_samples(page: Any, count: int) -> list[str]:
    """The ids of the first rows of the table, once they are there."""
    rows = table(page).locator("tbody tr[data-index] th a")
    expect(rows.nth(count - 1)).to_be_visible()
    return [str(rows.nth(i).inner_text()) for i in range(count)]


def on_server(shown: Shown, run: Path, **query: Any) -> tuple[int, list[str]]:
    """How many samples the server finds by a condition or lasso, and which, those with the largest loss first."""
    url = f"{shown.url}/api/runs/{shown.id_of(run.name)}/population/search"
    answer = httpx.get(url, params={"limit": 200, **query}, timeout=PATIENCE).json()
    return answer["total"], [row["sample"] for row in answer["data"]]


def swatches(page: Any) -> list[tuple[int, int, int]]:
    """The colours of the legend."""
    colours = page.locator("section[aria-label^='Legend'] li .swatch").evaluate_all(
        "all => all.map(one => getComputedStyle(one).backgroundColor)"
    )
    return [tuple(int(part) for part in re.findall(r"\d+", colour)[:3]) for colour in colours]  # type: ignore[misc]


class TestTheMap:
    @pytest.mark.one_in(2)
    def test_is_painted_in_the_colours_of_its_legend(
        self, open_map: Callable[..., SeenMap], either_run: Path, theme: str, axe: Any
    ) -> None:
        seen_map = open_map(either_run, "label", theme=theme)
        page = seen_map.page
        before, painted = seen_map.painted()
        assert count_of(before, colour_of(page, "panel"), 0) > before.shape[0] * before.shape[1] / 2, "the ground"
        assert painted.sum() > 10 * len(seen_map.points.x), "many pixels for each point"
        labels = swatches(page)
        assert len(labels) == len(set(seen_map.points.columns["label"]))
        assert all(count_of(before, colour, 8) > 20 for colour in labels), "each class in its colour"

        choose(page, "Colour", "loss")
        expect(page.get_by_role("region", name="Legend: loss")).to_be_visible()
        by_loss, _ = seen_map.painted()
        assert difference(before, by_loss) > 0.01
        choose(page, "Colour", "subset")
        expect(page.locator("section[aria-label='Legend: subset'] li")).to_have_count(2)
        by_subset, _ = seen_map.painted()
        assert all(count_of(by_subset, colour, 8) > 100 for colour in swatches(page))
        assert count_of(by_subset, labels[2], 8) == 0, "no class is a colour any more"

        table(page).locator("tbody tr[data-index] td").last.click()
        expect(page.locator("[data-sample]")).to_be_visible()
        assert axe(page) == []

    @pytest.mark.one_in(2)
    def test_draws_points_larger_the_larger_their_loss(
        self, open_map: Callable[..., SeenMap], either_run: Path
    ) -> None:
        seen_map = open_map(either_run, "loss")
        page = seen_map.page
        seen_map.part.focus()
        for _ in range(3):
            page.keyboard.press("+")
        eventually(lambda: "at" in parameters(page))
        reach = 9
        points = seen_map.alone(2 * reach)
        loss = np.array([seen_map.points.columns["loss"][one] for one in points])
        assert len(points) > 5, "points that can be looked at one by one"
        by_loss = seen_map.sizes(points, reach)
        ranks = np.corrcoef(loss.argsort().argsort(), by_loss.argsort().argsort())[0, 1]
        assert ranks > 0.7
        assert by_loss[loss.argmax()] > 1.5 * by_loss[loss.argmin()]

        choose(page, "Size", "")
        alike = seen_map.sizes(points, reach)
        assert alike.std() < 0.15 * alike.mean(), "all alike where the loss sets no size"

    def test_shows_the_sample_under_the_pointer(self, open_map: Callable[..., SeenMap], digits_run: Path) -> None:
        seen_map = open_map(digits_run, "label")
        point = seen_map.alone(12)[0]
        seen_map.point_at(point)
        card = seen_map.page.locator("[data-hover]")
        expect(card.locator("img")).to_be_visible()
        eventually(lambda: card.locator("img").evaluate("one => one.complete && one.naturalWidth > 0"))
        expect(card).to_contain_text(seen_map.points.columns["label"][point])
        expect(card).to_contain_text("loss")
        sample = card.get_attribute("data-hover")
        seen_map.page.mouse.click(*_middle(seen_map, point))
        expect(seen_map.page.locator("[data-sample]")).to_have_attribute("data-sample", sample)

    def test_moves_with_the_evaluation(
        self, open_map: Callable[..., SeenMap], explored: Shown, digits_run: Path
    ) -> None:
        seen_map = open_map(digits_run, sample="training/3")
        page = seen_map.page
        expect(page.locator("[data-sample='training/3']")).to_be_visible()
        after = settled(seen_map.part)
        slider = page.get_by_role("slider", name="Evaluation")
        expect(slider).to_have_attribute("aria-valuetext", re.compile("^evaluation 1:"))
        slider.focus()
        page.keyboard.press("ArrowLeft")
        expect(slider).to_have_attribute("aria-valuetext", re.compile("^evaluation 0:"))
        assert parameters(page)["evaluation"] == ["0"]
        earlier = read_points(explored, digits_run, evaluation=0)
        assert len(earlier.x) == len(seen_map.points.x), "the same samples"
        assert not np.allclose(earlier.x, seen_map.points.x), "in other places"
        at_first = seen_map.showing(earlier)
        eventually(lambda: difference(after, settled(seen_map.part)) > 0.01)
        alone = at_first.alone(8)
        assert alone
        eventually(lambda: bool((at_first.sizes(alone, 3) > 0).all()))
        expect(said(page)).to_have_text("700 samples")
        expect(page.locator("[data-sample='training/3']")).to_be_visible()
        page.keyboard.press("ArrowRight")
        expect(slider).to_have_attribute("aria-valuetext", re.compile("^evaluation 1:"))
        eventually(lambda: difference(after, settled(seen_map.part)) < 0.001)
        assert "evaluation" not in parameters(page)

    def test_is_painted_without_webgl_too(self, open_page: WatchedPages, explored: Shown, digits_run: Path) -> None:
        page = open_page(explored.address(digits_run.name, "config"))
        page.add_init_script(
            "const kept = HTMLCanvasElement.prototype.getContext;"
            "HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {"
            " return String(kind).startsWith('webgl') ? null : kept.call(this, kind, ...rest); };"
        )
        page.goto(explored.address(digits_run.name, "population"))
        expect(page.get_by_text("This browser has no WebGL2")).to_be_visible()
        seen_map = SeenMap(page, read_points(explored, digits_run))
        seen, painted = seen_map.painted()
        assert painted.sum() > 10 * 700
        assert all(count_of(seen, colour) > 20 for colour in swatches(page))
        seen_map.drag((0.1, 0.1), (0.6, 0.1), (0.6, 0.6), (0.1, 0.6))
        assert 0 < selected(page) < 700


def inner(seen_map: SeenMap) -> Pixels:
    """What the map looks like below no bar, and without its edge, which shows whether it has the focus."""
    seen_map.page.evaluate("() => scrollTo(0, 0)")
    return settled(seen_map.part)[4:-4, 4:-4]


def _middle(seen_map: SeenMap, point: int) -> tuple[float, float]:
    box = seen_map.part.bounding_box()
    left, top = seen_map.places()
    return box["x"] + float(left[point]), box["y"] + float(top[point])


class TestSelecting:
    @pytest.mark.one_in(2)
    def test_by_drawing_takes_what_lies_inside_and_can_be_taken_back(
        self, open_map: Callable[..., SeenMap], explored: Shown, either_run: Path
    ) -> None:
        seen_map = open_map(either_run)
        page = seen_map.page
        everything = len(seen_map.points.x)
        whole = inner(seen_map)
        seen_map.drag((0.1, 0.1), (0.55, 0.05), (0.6, 0.7), (0.3, 0.9), (0.08, 0.6))
        by_lasso = selected(page)
        assert 0 < by_lasso < everything
        assert on_server(explored, either_run, lasso=parameters(page)["lasso"][0])[0] == by_lasso
        assert difference(whole, inner(seen_map)) > 0.005, "the others are dimmed"
        page.keyboard.press("Escape")
        expect(said(page)).to_contain_text("samples")
        assert "lasso" not in parameters(page)
        assert difference(whole, inner(seen_map)) == 0
        page.keyboard.press("Control+z")
        assert selected(page) == by_lasso
        page.get_by_role("button", name="Redo").click()
        expect(said(page)).to_contain_text("samples")
        page.get_by_role("button", name="Undo").click()
        assert selected(page) == by_lasso

        page.keyboard.press("b")
        seen_map.drag((0.2, 0.2), (0.7, 0.8))
        eventually(lambda: len(parameters(page)["lasso"][0].split()) == 4)
        corners = np.array([[float(part) for part in one.split(",")] for one in parameters(page)["lasso"][0].split()])
        inside = seen_map.points.inside(*corners.min(axis=0), *corners.max(axis=0))
        eventually(lambda: selected(page) == inside)

    def test_by_a_condition_that_is_typed_in(
        self, open_map: Callable[..., SeenMap], explored: Shown, either_run: Path
    ) -> None:
        page = open_map(either_run).page
        field = page.get_by_label("Add a condition")
        field.fill("los > 0.5")
        field.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text(re.compile("no column .*los.*loss", re.DOTALL))
        expect(said(page)).to_contain_text("samples")
        field.fill("loss > 0.5")
        field.press("Enter")
        expect(page.get_by_role("alert")).to_have_count(0)
        chips = page.get_by_role("group", name="Conditions")
        expect(chips).to_have_text(re.compile(r"loss > 0\.5"))
        assert parameters(page)["where"] == ["loss > 0.5"]
        count, samples = on_server(explored, either_run, where="loss > 0.5")
        assert selected(page) == count
        assert first_samples(page, 4) == samples[:4]
        subset = page.get_by_role("group", name="Subsets").get_by_role("button").first
        subset.click()
        expect(subset).to_have_attribute("aria-pressed", "true")
        assert selected(page) == on_server(explored, either_run, where=parameters(page)["where"])[0] < count
        chips.get_by_role("button", name="Remove the condition loss > 0.5").click()
        expect(chips).not_to_contain_text("loss")
        assert number_in(subset) == selected(page)

    def test_by_the_legend(self, open_map: Callable[..., SeenMap], either_run: Path) -> None:
        seen_map = open_map(either_run, "label")
        page, counts = seen_map.page, Counter(seen_map.points.columns["label"])
        first, second = sorted(counts)[:2]
        legend = page.get_by_role("region", name="Legend: label")
        legend.locator(f"button[title^='{first}:']").click()
        assert selected(page) == counts[first]
        legend.locator(f"button[title^='{second}:']").click(modifiers=["Shift"])
        assert selected(page) == counts[first] + counts[second]
        legend.locator(f"button[title^='{second}:']").click()
        assert selected(page) == counts[second]

    @pytest.mark.one_in(2)
    def test_by_the_panels_beside_the_map(
        self, open_map: Callable[..., SeenMap], explored: Shown, either_run: Path
    ) -> None:
        seen_map = open_map(either_run, "label", "prediction", "subset")
        page = seen_map.page

        def agrees() -> int:
            conditions = parameters(page)["where"]
            count = selected(page)
            assert count == on_server(explored, either_run, where=conditions)[0]
            page.keyboard.press("Escape")
            expect(said(page)).to_contain_text("samples")
            return count

        _drag_over(page, page.locator("figure[data-histogram='loss'] svg"), 0.5, 0.98)
        expect(page.get_by_role("group", name="Conditions")).to_contain_text("loss")
        assert agrees() > 0
        against = page.get_by_role("img", name=re.compile("^Mean loss by"))
        _drag_over(page, against, 0.45, 0.45)
        assert agrees() > 0
        columns = (seen_map.points.columns[name] for name in ("label", "prediction", "subset"))
        pairs = Counter((label, said) for label, said, subset in zip(*columns, strict=True) if subset != "training")
        (label, prediction), most = max(
            ((pair, count) for pair, count in pairs.items() if pair[0] != pair[1]), key=lambda one: one[1]
        )
        cell = page.get_by_role("region", name=CONFUSION).get_by_label(f"{label} predicted as {prediction}: {most}")
        cell.click()
        assert selected(page) == most
        asked = [f"label = {label}", f"prediction = {prediction}", "subset != training"]
        wanted = on_server(explored, either_run, where=asked)[1]
        some = min(most, 8)
        assert first_samples(page, some) == wanted[:some], "these samples and no others"
        cell.click()
        expect(said(page)).to_contain_text("samples")
        group = page.get_by_role("region", name=CLUSTERS, exact=True).get_by_role("button").first
        group.click()
        expect(group).to_have_attribute("aria-pressed", "true")
        assert agrees() == number_in(group.locator(".facts span").first)

    def test_the_confusion_matrix_is_of_held_out_samples_until_subsets_are_chosen(
        self, open_map: Callable[..., SeenMap], digits_run: Path
    ) -> None:
        seen_map = open_map(digits_run, "label", "prediction", "subset")
        page, columns = seen_map.page, seen_map.points.columns
        rows = list(zip(columns["label"], columns["prediction"], columns["subset"], strict=True))
        wrong = Counter(subset for label, said, subset in rows if label != said)
        training = sum(subset == "training" for *_, subset in rows)
        assert 0 < wrong["training"] != wrong["validation"] > 0
        part = page.get_by_role("region", name="Confusion", exact=True)
        expect(part).to_contain_text(f" right, {wrong['validation']} wrong")
        expect(part).to_contain_text(f"{training} training samples, which inflate accuracy, are left out.")
        subsets = page.get_by_role("group", name="Subsets")
        subsets.get_by_role("button", name="training").click()
        expect(part).to_contain_text(f" right, {wrong['training']} wrong")
        expect(part).not_to_contain_text("left out")
        subsets.get_by_role("button", name="validation").click()
        expect(part).to_contain_text(f" right, {wrong.total()} wrong, training included")

    @pytest.mark.one_in(2)
    def test_is_there_again_after_a_reload(self, open_map: Callable[..., SeenMap], either_run: Path) -> None:
        seen_map = open_map(either_run)
        page = seen_map.page
        choose(page, "Colour", "subset")
        field = page.get_by_label("Add a condition")
        field.fill("loss > 0.01")
        field.press("Enter")
        seen_map.part.hover()
        page.mouse.wheel(0, -240)
        eventually(lambda: "at" in parameters(page))
        seen_map.drag((0.1, 0.1), (0.9, 0.1), (0.9, 0.9), (0.1, 0.9))
        eventually(lambda: "lasso" in parameters(page))
        count = selected(page)
        assert count > 0
        table(page).locator("tbody tr[data-index] td").last.click()
        expect(page.locator("[data-sample]")).to_be_visible()
        page.mouse.move(1, 1)
        page.keyboard.press("h")
        eventually(lambda: "tool" in parameters(page))
        address, before = page.url, inner(seen_map)
        sample = page.locator("[data-sample]").get_attribute("data-sample")
        page.reload()
        expect(page.locator("[data-sample]")).to_have_attribute("data-sample", sample)
        assert selected(page) == count
        expect(chooser(page, "Colour")).to_have_value("subset")
        expect(page.get_by_role("button", name="Pan")).to_have_attribute("aria-pressed", "true")
        eventually(lambda: difference(before, inner(seen_map)) < 0.001)
        assert page.url == address


def _drag_over(page: Any, part: Any, first: float, last: float) -> None:
    part.scroll_into_view_if_needed()
    box = part.bounding_box()
    page.mouse.move(box["x"] + first * box["width"], box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + last * box["width"], box["y"] + box["height"] / 2, steps=3)
    page.mouse.up()
