"""The two ways that the studio is for: from an alarm to its cause, and from a confusion to a corrected label."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from cutaway.run.overlays import read_overlay
from tests.browser.looking import eventually
from tests.browser.populations import DIGITS, SPIKE, planted
from tests.browser.studios import Shown, showing
from tests.browser.watched_pages import WatchedPages

MOST_CLICKS = 4


class Clicks:
    """Counts how often one clicks."""

    def __init__(self) -> None:
        self.count = 0

    def on(self, part: Any) -> None:
        """Click on a part of the page."""
        part.click()
        self.count += 1


@pytest.fixture
def alone(made_populations: Path, tmp_path: Path, open_page: WatchedPages, own_cache: None) -> Iterator[Shown]:
    """A studio over a copy of the digits that one test may write into; its pages are closed before it ends."""
    shutil.copytree(made_populations / DIGITS, tmp_path / "runs" / DIGITS)
    with showing(tmp_path / "runs") as shown:
        yield shown
        open_page.close()


def test_from_a_rule_that_fired_to_what_is_like_the_samples_that_did_it(open_page: WatchedPages, alone: Shown) -> None:
    page, clicks = open_page(alone.address(DIGITS, "findings")), Clicks()
    clicks.on(page.get_by_role("main").get_by_role("link").filter(has_text="spikes").first)
    clicks.on(page.get_by_role("link", name=f"Samples of step {SPIKE}"))
    expect(page).to_have_url(re.compile(rf"/samples\?from={SPIKE}&to={SPIKE}"))
    clicks.on(page.get_by_role("main").get_by_role("link", name="training/").first)
    expect(page).to_have_url(re.compile(r"/sample\?.*sample=training"))
    fed = {row["sample"] for row in alone.ask(f"runs/{alone.id_of(DIGITS)}/samples", **{"from": SPIKE, "to": SPIKE})}
    assert _sample_of(page) in fed, "one that was in the batch"
    _expect_similars(page)
    assert clicks.count <= MOST_CLICKS


def test_the_same_way_over_the_map(open_page: WatchedPages, alone: Shown) -> None:
    page, clicks = open_page(alone.address(DIGITS, "findings")), Clicks()
    clicks.on(page.get_by_role("main").get_by_role("link").filter(has_text="spikes").first)
    clicks.on(page.get_by_role("link", name="Show on the map"))
    expect(page.get_by_role("application")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="selected")).to_have_text(re.compile(r"^\s*24 of 700 selected"))
    clicks.on(page.get_by_role("table", name="Samples of the selection").locator("tbody th a").first)
    _expect_similars(page)
    assert clicks.count <= MOST_CLICKS


def test_from_a_confusion_to_a_corrected_label_and_back(open_page: WatchedPages, alone: Shown) -> None:
    run = alone.root / DIGITS
    hardest = alone.ask(f"runs/{alone.id_of(DIGITS)}/population/search", limit=100)
    wrong = next(row for row in hardest if planted(row["sample"]) and row["suggested"] == row["prediction"])
    sample, label, prediction = wrong["sample"], wrong["label"], wrong["prediction"]
    assert int(prediction) == (int(label) - 1) % 10, "the digit that it is"
    page = open_page(alone.address(DIGITS, "population"))
    # The matrix is of held-out samples, and labels are corrected in training.
    page.get_by_role("group", name="Subsets").get_by_role("button", name="training").click()
    page.get_by_role("region", name="Confusion matrix").get_by_label(f"{label} predicted as {prediction}:").click()
    rows = page.get_by_role("table", name="Samples of the selection").locator("tbody tr[data-index]")
    row = rows.filter(has=page.get_by_text(sample, exact=True))
    expect(row).to_contain_text(label)
    row.get_by_role("cell").last.click()
    drawer = page.locator(f"[data-sample='{sample}']")
    expect(drawer).to_be_visible()
    # So few labels have no score: the page of the sample says what is worth a look.
    page.get_by_role("link", name="Open sample", exact=True).click()
    page.get_by_role("button", name=f"Accept “{prediction}”").click()
    expect(page.get_by_text(f"Corrected to {prediction}")).to_be_visible()

    assert _corrections(run) == [(sample, "label", label, prediction)]

    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name=f"Accept “{prediction}”")).to_be_visible()
    eventually(lambda: _corrections(run) == [])


def _sample_of(page: Any) -> str:
    return str(page.evaluate("() => new URL(location.href).searchParams.get('sample')"))


def _expect_similars(page: Any) -> None:
    """Pictures of what is like the sample are in sight."""
    pictures = page.get_by_role("list", name="Similar samples, nearest first").locator("img")
    expect(pictures.nth(5)).to_be_visible()
    pictures.nth(0).scroll_into_view_if_needed()
    eventually(lambda: pictures.nth(0).evaluate("one => one.complete && one.naturalWidth > 0"))
    expect(pictures.nth(0)).to_be_in_viewport()


def _corrections(run: Path) -> list[tuple[str, str, str, str]]:
    """What the overlay of the studio holds on disk: the sample, what is changed, from what and to what."""
    path = run / "overlays" / "studio.parquet"
    if not path.exists():
        return []
    return [(one.sample, one.field, one.old, one.new) for one in read_overlay(path).corrections]
