"""The model of an evaluation on its page: what it is, and what it says to a file; and a studio to look at."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect
from sklearn.datasets import load_digits

from cutaway.studio.serving.server import serve_in_thread
from cutaway.studio.the_studio import Studio
from tests.browser.looking import difference, eventually, settled
from tests.browser.populations import DIGITS, TEXT, TRAINING, TWINS
from tests.browser.studios import Shown
from tests.browser.watched_pages import WatchedPages


def part(page: Any, name: str | re.Pattern[str]) -> Any:
    return page.get_by_role("region", name=name)


def picture_of(sample: str) -> bytes:
    """A digit of validation as a PNG, ten times as large as the model takes them."""
    order = np.random.default_rng(0).permutation(1797)
    digit = load_digits().images[order[TRAINING + int(sample.removeprefix("validation/"))]]
    written = io.BytesIO()
    Image.fromarray(np.kron(digit / 16 * 255, np.ones((10, 10))).astype(np.uint8)).save(written, "PNG")
    return written.getvalue()


def looked_at(studio: Shown) -> tuple[str, str]:
    """A sample of validation whose heat map is not empty, as those of this method may be, and what it is taken for."""
    run = studio.id_of(DIGITS)
    for sample in (f"validation/{place}" for place in range(40)):
        values = studio.ask(f"runs/{run}/sample/heat-maps", sample=sample, sanity="false")["maps"][0]["values"]
        if np.frombuffer(base64.b64decode(values["data"]), values["dtype"]).max() > 0:
            return sample, studio.ask(f"runs/{run}/sample", sample=sample)["prediction"]
    raise AssertionError("every heat map is empty")


def upload(page: Any, name: str, kind: str, content: bytes) -> None:
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": kind, "buffer": content})


def test_layers_inputs_and_outputs_are_told_and_a_picture_is_tried(
    open_page: WatchedPages, explored: Shown, axe: Any, theme: str
) -> None:
    told = explored.ask(f"runs/{explored.id_of(DIGITS)}/model")
    sample, prediction = looked_at(explored)
    page = open_page(explored.address(DIGITS, "model"), theme=theme)
    facts = part(page, "The model of evaluation 1")
    expect(facts).to_contain_text("pt2")
    expect(facts).to_contain_text(re.compile("any . 1 . 8 . 8"))
    expect(facts).to_contain_text(re.compile("any . 10"))
    rows = part(page, "Table of layers").locator("tbody tr")
    expect(rows).to_have_count(len(told["layers"]))
    latent = [one["name"] for one in told["layers"] if one["latent"]]
    expect(rows.filter(has_text="latent space")).to_have_count(len(latent))
    expect(rows.filter(has_text="latent space").first).to_contain_text(latent[0])
    expect(page.get_by_text("model ready")).to_be_visible()
    upload(page, "a digit.png", "image/png", picture_of(sample))
    tried = part(page, "Try it")
    expect(tried).to_contain_text("a digit.png")
    expect(tried.locator(".large")).to_have_text(prediction)
    expect(tried.get_by_role("table", name="Probability").get_by_role("row").first).to_contain_text("predicted")
    given = settled(tried.locator("figure").first.get_by_role("img"))
    heat = tried.get_by_role("img", name=re.compile("^Heat map of"))
    expect(heat).to_be_visible()
    assert len(np.unique(given.reshape(-1, 3), axis=0)) > 1, "what the model was given is drawn"
    seen = settled(heat)
    assert given.shape == seen.shape
    assert difference(given, seen) > 0.05, "the heat map lies over it"
    similar = tried.get_by_role("listitem").get_by_role("link", name=re.compile(", label "))
    # The nearest to a sample's own picture is that sample.
    expect(similar.first).to_have_attribute("title", sample)
    eventually(lambda: all(similar.locator("img").evaluate_all("all => all.map(one => one.naturalWidth > 0)")))
    assert axe(page) == []


def test_a_file_that_is_no_picture_is_refused_in_words_and_a_sample_is_found_by_keys(
    open_page: WatchedPages, explored: Shown
) -> None:
    open_page.expect(r"status of 4\d\d")
    page = open_page(explored.address(DIGITS, "model"))
    upload(page, "not.png", "image/png", b"this is no picture")
    expect(part(page, "Try it").get_by_role("alert")).to_contain_text("is no PNG")
    expect(part(page, "Try it").get_by_text("Prediction", exact=True)).to_have_count(0)
    upload(page, "a digit.png", "image/png", picture_of("validation/0"))
    expect(part(page, "Try it").get_by_text("Prediction", exact=True)).to_be_visible()
    expect(part(page, "Try it").get_by_role("alert")).to_have_count(0)
    page.get_by_role("combobox", name="A sample, by its id").focus()
    page.keyboard.type(TWINS[1])
    expect(page.get_by_role("option").filter(has_text=TWINS[1])).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=2)).to_have_text(TWINS[1])
    expect(page).to_have_url(re.compile("/sample"))


@pytest.mark.slow
def test_a_model_of_words_says_why_no_file_can_be_tried(
    open_page: WatchedPages, explored: Shown, axe: Any, theme: str
) -> None:
    # Its binding reads sentences of whole packages first.
    assert explored.ask(f"runs/{explored.id_of(TEXT)}/model")["uploads"] == []
    page = open_page(explored.address(TEXT, "model"), theme=theme)
    expect(part(page, re.compile("^The model of evaluation"))).to_contain_text("onnx")
    expect(page.get_by_text(re.compile("takes numbers of words"))).to_be_visible()
    expect(page.get_by_text("This model cannot take a file")).to_be_visible()
    expect(part(page, "Table of layers").locator("tbody tr").filter(has_text="latent space")).to_have_count(1)
    assert axe(page) == []


def test_a_model_that_is_gone_is_said_and_its_samples_stay(
    open_page: WatchedPages, explored: Shown, digits_run: Path
) -> None:
    kept = digits_run / "samples" / "0" / "model.pt2"
    away = kept.rename(kept.with_name("model.away"))
    open_page.expect(r"status of (4|5)\d\d")
    try:
        page = open_page(explored.address(DIGITS, "model", evaluation=0))
        why = page.get_by_role("note").filter(has_text="Model unavailable")
        expect(why).to_contain_text("No model at 'model.pt2'.")
        expect(page.get_by_text("its layers are not known")).to_be_visible()
        assert str(digits_run.parent) not in why.text_content()
        page.goto(explored.address(DIGITS, "sample", evaluation=0, sample=TWINS[0]))
        expect(part(page, "Truth and prediction").get_by_role("definition").first).to_be_visible()
        expect(part(page, "Where the model looked").get_by_role("note")).to_be_visible()
        expect(page.get_by_role("list", name=re.compile("^Similar")).get_by_role("link").first).to_be_visible()
    finally:
        away.rename(kept)


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_a_studio_to_look_at_changes_nothing_and_says_so_but_finds_similars(
    open_page: WatchedPages, populations: Path, digits_run: Path, axe: Any
) -> None:
    open_page.expect(r"status of 403")
    with serve_in_thread(Studio.open(populations, read_only=True)) as served:
        studio = Shown(served)
        sample = studio.ask(f"runs/{studio.id_of(DIGITS)}/suggestions")[0]["sample"]
        page = open_page(studio.address(DIGITS, "sample", sample=sample))
        expect(page.get_by_text("model not available")).to_be_visible()
        expect(part(page, "Where the model looked").get_by_role("note")).to_contain_text("read-only")
        similar = page.get_by_role("list", name=re.compile("^Similar")).get_by_role("link")
        expect(similar).to_have_count(20)
        eventually(lambda: all(similar.locator("img").evaluate_all("all => all.map(one => one.naturalWidth > 0)")))
        accept = part(page, "Is the label right?").get_by_role("button", name=re.compile("^Accept"))
        if accept.count():
            accept.click()
            expect(part(page, "Is the label right?").get_by_role("alert")).to_contain_text("read-only")
        assert axe(page) == []
        page.goto(studio.address(DIGITS, "model"))
        expect(page.get_by_text(re.compile("read-only")).first).to_be_visible()
        page.goto(studio.address(DIGITS, "insights") + "?tab=tests")
        if page.get_by_label("New test").count():
            page.get_by_label("New test").fill("accuracy at least 10 %")
            page.keyboard.press("Enter")
            expect(page.get_by_role("alert")).to_contain_text("read-only")
        open_page.close()
    assert not (digits_run / "tests.yaml").exists()
    assert not list(digits_run.glob("overlays/*"))
    assert not (digits_run / "jobs").exists()
