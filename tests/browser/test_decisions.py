"""Decisions of a confusion metric on the page of a population, at a threshold and in a selection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from cutaway.dataset import Dataset
from cutaway.evaluation import evaluate
from cutaway.studio.serving.page import STATIC
from cutaway.tensors.softmax import softmax
from tests.browser.looking import eventually
from tests.browser.studios import Shown, showing
from tests.browser.watched_pages import WatchedPages
from tests.unit.evaluation.linear_model import WEIGHTS, linear_model, samples

METRIC = "ConfusionMatrixClassification"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """A studio over a run with a confusion metric."""
    if not (STATIC / "index.html").is_file():
        pytest.skip("the page is not built; `make ui` builds it")
    folder = tmp_path_factory.mktemp("decisions")
    x, y = samples(60)
    dataset = Dataset.from_arrays({"x": x}, {"y": y}, labels="abc", subset="validation")
    evaluate(dataset, linear_model(), folder / "decided", metrics=[METRIC])
    with showing(folder) as served:
        yield served


def counts(threshold: float, of: str = "abc") -> list[list[str]]:
    """Count by hand what is found, missed and falsely said of each label."""
    x, y = samples(60)
    likely, chosen = softmax((x @ WEIGHTS).astype(np.float64)), np.isin(y, ["abc".index(one) for one in of])
    rows = []
    for number, name in enumerate("abc"):
        holds, said = (y == number)[chosen], (likely[:, number] > threshold)[chosen]
        rows.append([name, *(str(int(one.sum())) for one in (holds & said, holds & ~said, ~holds & said))])
    return rows


def table(page: Any) -> list[list[str]]:
    rows = page.get_by_role("region", name="Decisions by label").locator("tbody tr")
    return [one.locator("th, td").all_inner_texts()[:4] for one in rows.all()]


@pytest.mark.parametrize("width", [390, 1280])
def test_it_counts_at_the_threshold_that_is_asked_for(open_page: WatchedPages, shown: Shown, width: int) -> None:
    page = open_page(shown.address("decided", "population"), width=width)
    expect(page.get_by_role("region", name="Decisions by label").locator("tbody tr")).to_have_count(3)
    assert table(page) == counts(0.5)
    page.get_by_label("above").fill("0.9")
    page.get_by_label("above").press("Enter")
    eventually(lambda: table(page) == counts(0.9))
    # No part of it is wider than the panel that it lies in.
    panel = page.get_by_role("region", name="Decisions", exact=True)
    assert panel.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_it_counts_the_selection_and_the_matrix_says_what_it_leaves_aside(
    open_page: WatchedPages, shown: Shown
) -> None:
    page = open_page(shown.address("decided", "population", where="label in (a, b)"))
    eventually(lambda: table(page) == counts(0.5, "ab"))
    expect(page.get_by_text("Conditions on label and prediction are not applied here")).to_be_visible()
    page = open_page(shown.address("decided", "population", where="loss > 0"))
    expect(page.get_by_role("region", name="Decisions by label")).to_be_visible()
    expect(page.get_by_text("Conditions on label and prediction are not applied here")).to_have_count(0)


def test_a_value_that_no_sample_has_is_said(open_page: WatchedPages, shown: Shown) -> None:
    page = open_page(shown.address("decided", "population", where="label = z"))
    expect(page.get_by_text("No sample has 'z' in column 'label'").first).to_be_visible()
