"""One sample on its page: what it is, what the model made of it, where it looked, what is like it, and its label."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect
from sklearn.datasets import load_digits

from cutaway.run.decisions import read_decisions
from cutaway.run.identity import Run
from cutaway.run.overlays import overlays
from tests.browser.looking import Pixels, difference, difference_in_place, eventually, parameters, settled
from tests.browser.populations import DIGITS, TEXT, TWINS, planted
from tests.browser.studios import Shown
from tests.browser.watched_pages import WatchedPages
from tests.unit.studio.asked_model import digits_run as torn_digits


def part(page: Any, name: str) -> Any:
    return page.get_by_role("region", name=name, exact=True)


def drawn_input(page: Any) -> Any:
    return part(page, "Input").get_by_role("img", name=re.compile("^large"))


def heat_maps(page: Any) -> Any:
    return part(page, "Where the model looked").get_by_role("img", name=re.compile("^Heat map of"))


def heat_map(page: Any) -> Pixels:
    """The first heat map once it is there and at rest."""
    expect(part(page, "Where the model looked")).to_have_attribute("aria-busy", "false")
    return settled(heat_maps(page).first)


def similars(page: Any) -> Any:
    return page.get_by_role("list", name=re.compile("^Similar samples")).get_by_role("link")


def loaded_pictures(links: Any) -> list[bool]:
    found: list[bool] = links.locator("img").evaluate_all("all => all.map(one => one.complete && one.naturalWidth > 0)")
    return found


def detail(studio: Shown, run: str, sample: str) -> dict[str, Any]:
    found: dict[str, Any] = studio.ask(f"runs/{studio.id_of(run)}/sample", sample=sample)
    return found


def opened(studio: Shown, run: str, sample: str) -> None:
    """Wait until the binding is open, which takes a busy machine its time."""
    assert studio.ask(f"runs/{studio.id_of(run)}/sample/visuals", sample=sample) != []


def doubted(studio: Shown, place: int = 0) -> dict[str, Any]:
    """A sample whose label was made wrong, which was found."""
    found: list[dict[str, Any]] = studio.ask(f"runs/{studio.id_of(DIGITS)}/suggestions")
    return [one for one in found if planted(one["sample"])][place]


def seen_as_digit(seen: Pixels) -> np.ndarray[Any, Any]:
    """The middle of each of the 8 x 8 squares that a drawn digit has."""
    height, width = seen.shape[:2]
    rows = [int((row + 0.5) * height / 8) for row in range(8)]
    columns = [int((column + 0.5) * width / 8) for column in range(8)]
    middles: np.ndarray[Any, Any] = seen[np.ix_(rows, columns)].mean(axis=-1)
    return middles


def test_the_input_is_what_the_users_visualizer_draws_and_the_answer_is_said(
    open_page: WatchedPages, explored: Shown, axe: Any, theme: str
) -> None:
    suggestion = doubted(explored)
    told = detail(explored, DIGITS, suggestion["sample"])
    opened(explored, DIGITS, suggestion["sample"])
    page = open_page(explored.address(DIGITS, "sample", sample=suggestion["sample"]), theme=theme)
    expect(page.get_by_role("heading", level=2)).to_have_text(suggestion["sample"])
    expect(drawn_input(page)).to_be_visible()
    given = load_digits().images[np.random.default_rng(0).permutation(1797)[int(suggestion["sample"].split("/")[1])]]
    assert np.corrcoef(seen_as_digit(settled(drawn_input(page))).ravel(), given.ravel())[0, 1] > 0.99
    answer = part(page, "Truth and prediction")
    expect(answer.get_by_role("definition")).to_have_text([told["label"], told["prediction"]])
    expect(answer.get_by_text("right" if told["correct"] else "wrong", exact=True)).to_be_visible()
    expect(answer).to_contain_text(re.compile(r"Loss [\d.]+, higher than [\d.]+ % of samples"))
    probable = answer.get_by_role("table", name="Probability").get_by_role("row")
    likeliest = max(told["classes"], key=lambda one: one["probability"])
    expect(probable.first).to_contain_text(re.compile(f"{likeliest['name']}.*predicted"))
    expect(probable.filter(has_text="label")).to_have_count(1)
    near = answer.get_by_role("table", name=re.compile("^Distance to the centre")).get_by_role("row")
    nearest = min(told["classes"], key=lambda one: one["distance"])
    expect(near.first.get_by_role("rowheader")).to_contain_text(nearest["name"])
    # Everything that comes later is there before somebody looks at it with other eyes.
    heat_map(page)
    expect(part(page, "Where the model looked").get_by_text(re.compile("random"))).not_to_have_count(0)
    expect(similars(page)).to_have_count(20)
    assert axe(page) == []


def test_a_heat_map_lies_over_the_input_and_follows_class_method_and_layer(
    open_page: WatchedPages, explored: Shown
) -> None:
    sample = doubted(explored)["sample"]
    told = detail(explored, DIGITS, sample)
    page = open_page(explored.address(DIGITS, "sample", sample=sample, method="occlusion"))
    first = heat_map(page)
    assert difference(first, settled(drawn_input(page))) > 0.05, "the map changes what is seen of the input"
    looked = part(page, "Where the model looked")
    expect(looked.get_by_role("img", name=re.compile("^Trust in the heat map"))).to_be_visible()
    expect(looked.get_by_text("Lower is better.")).to_be_visible()
    classes = looked.get_by_role("group", name=re.compile("^Classes to explain"))
    other = next(one["name"] for one in told["classes"] if one["name"] != told["prediction"])
    classes.get_by_role("button", name=re.compile(f"^{other}")).click()
    expect(heat_maps(page)).to_have_count(2)
    classes.get_by_role("button", name=re.compile(f"^{told['prediction']} ?predicted")).click()
    expect(heat_maps(page)).to_have_count(1)
    another = heat_map(page)
    assert difference(first, another) > 0.02, "another class has another map"
    looked.get_by_role("combobox", name=re.compile("^Method")).select_option("layer_cam")
    by_method = heat_map(page)
    assert difference(another, by_method) > 0.02, "another method has another map"
    looked.get_by_role("combobox", name=re.compile("^Layer")).select_option(index=1)
    expect(looked.get_by_text(re.compile(r", layer \d$"))).to_be_visible()
    layered = heat_map(page)
    assert difference(by_method, layered) > 0.02, "another layer has another map"
    chosen = parameters(page)
    assert (chosen["method"], chosen["target"]) == (["layer_cam"], [other])
    assert "layer" in chosen
    # The address alone brings it back.
    again = open_page(page.url)
    assert difference_in_place(layered, heat_map(again)) < 0.01
    expect(part(again, "Where the model looked").get_by_role("combobox", name=re.compile("^Method"))).to_have_value(
        "layer_cam"
    )
    looked.get_by_role("button", name="loss", exact=True).click()
    expect(heat_maps(page)).to_have_count(1)
    expect(looked.get_by_role("img", name="Heat map of the loss")).to_be_visible()


def test_similars_have_pictures_and_labels_and_lead_on(open_page: WatchedPages, explored: Shown) -> None:
    sample = doubted(explored)["sample"]
    told = explored.ask(f"runs/{explored.id_of(DIGITS)}/sample/similar", sample=[sample], count=20)
    page = open_page(explored.address(DIGITS, "sample", sample=sample))
    expect(similars(page)).to_have_count(len(told["similar"]))
    eventually(lambda: loaded_pictures(similars(page)) == [True] * len(told["similar"]))
    most = max(told["labels"].values())
    expect(part(page, "Similar samples")).to_contain_text(re.compile(f"({most} of|All) 20 neighbours are labelled"))
    page.get_by_label("other labels only").check()
    expect(similars(page).filter(has_text="the same label")).to_have_count(0)
    expect(similars(page).filter(has_text="another label")).not_to_have_count(0)
    page.get_by_label("other labels only").uncheck()
    expect(similars(page).filter(has_text=told["similar"][0]["sample"])).not_to_have_count(0)
    similars(page).first.click()
    expect(page.get_by_role("heading", level=2)).to_have_text(told["similar"][0]["sample"])
    expect(drawn_input(page)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", level=2)).to_have_text(sample)


def test_its_loss_in_training_its_facts_and_its_neighbours(open_page: WatchedPages, explored: Shown) -> None:
    sample = "training/20"
    told = detail(explored, DIGITS, sample)
    page = open_page(explored.address(DIGITS, "sample", sample=sample))
    visits = part(page, "Its loss in training")
    seen = len(told["visits"]["steps"])
    assert seen > 3
    expect(visits.get_by_role("group", name=re.compile(f"^Loss of this sample at {seen} visits"))).to_be_visible()
    expect(visits.locator("circle")).to_have_count(seen)
    visits.get_by_text(f"{seen} visits as a table").click()
    expect(visits.get_by_role("row")).to_have_count(seen + 1)
    expect(visits.get_by_role("link", name=str(told["visits"]["steps"][0]), exact=True)).to_have_attribute(
        "href", re.compile(r"/samples\?from=\d+&to=\d+")
    )
    facts = part(page, "Metadata").get_by_role("row")
    expect(facts.filter(has_text="brightness")).to_be_visible()
    expect(facts.filter(has_text="ink_width").get_by_role("img")).to_have_attribute(
        "aria-label", re.compile(r"^higher than [\d.]+ % of samples$")
    )
    expect(facts.get_by_role("link", name="brightness")).to_have_attribute("href", re.compile("color=metadata"))
    page.keyboard.press("]")
    expect(page.get_by_role("heading", level=2)).to_have_text(told["next"])
    expect(page.get_by_role("navigation", name="Samples").get_by_role("link")).to_have_count(2)
    page.keyboard.press("[")
    expect(page.get_by_role("heading", level=2)).to_have_text(sample)
    page.get_by_role("link", name="Show on the map").click()
    expect(page).to_have_url(re.compile(r"/population\?.*sample=training"))


def test_a_twin_on_the_other_side_is_called_leakage_and_leads_there(open_page: WatchedPages, explored: Shown) -> None:
    here, there = TWINS
    page = open_page(explored.address(DIGITS, "sample", sample=there))
    twin = part(page, "Twins and duplicates").get_by_role("link")
    expect(twin).to_contain_text(here)
    expect(twin).to_contain_text("in training too: leakage")
    eventually(lambda: loaded_pictures(twin) == [True])
    twin.click()
    expect(page.get_by_role("heading", level=2)).to_have_text(here)
    expect(part(page, "Twins and duplicates").get_by_role("link")).to_contain_text(there)


def test_a_label_is_decided_by_keys_alone_and_kept_on_disk(
    open_page: WatchedPages, explored: Shown, digits_run: Path
) -> None:
    suggestion = doubted(explored, 1)
    sample = suggestion["sample"]
    page = open_page(explored.address(DIGITS, "sample", sample=sample))
    label = part(page, "Is the label right?")
    said = f"Labelled {suggestion['label']}; (perhaps|likely) {suggestion['suggested']}"
    expect(label).to_contain_text(re.compile(said))
    page.keyboard.press("a")
    expect(label).to_contain_text(f"Corrected to {suggestion['suggested']}")
    expect(label.get_by_role("status").first).to_contain_text("1 correction")
    assert corrected(digits_run) == {sample: (suggestion["label"], suggestion["suggested"])}
    page.keyboard.press("u")
    expect(label.get_by_role("status").first).to_contain_text("Undone.")
    assert corrected(digits_run) == {}
    page.keyboard.press("x")
    expect(label).to_contain_text("The suggestion was rejected")
    assert set(read_decisions(Run.open(digits_run)).rejected) == {sample}
    assert corrected(digits_run) == {}
    page.reload()
    expect(label).to_contain_text("The suggestion was rejected")
    page.keyboard.press("u")
    other = label.get_by_label("Choose another label")
    other.focus()
    third = next(one for one in "0123456789" if one not in (suggestion["label"], suggestion["suggested"]))
    # The letters of an option choose it, as in every list of a browser.
    page.keyboard.type(third)
    page.keyboard.press("Enter")
    expect(label).to_contain_text(f"Corrected to {third}")
    assert corrected(digits_run) == {sample: (suggestion["label"], third)}
    label.get_by_role("button", name="Undo").focus()
    page.keyboard.press("Enter")
    expect(label.get_by_role("button", name="Reject")).to_be_visible()
    assert corrected(digits_run) == {}
    assert read_decisions(Run.open(digits_run)).rejected == {}


def corrected(run: Path) -> dict[str, tuple[Any, Any]]:
    """The labels that overlays on disk correct."""
    return {one.sample: (one.old, one.new) for held in overlays(Run.open(run)) for one in held.corrections}


def test_a_sentence_is_shown_by_its_tokens_and_so_is_its_heat_map(
    open_page: WatchedPages, explored: Shown, axe: Any, theme: str
) -> None:
    row = explored.ask(f"runs/{explored.id_of(TEXT)}/population/search", text="validation/", limit=1)[0]
    told = detail(explored, TEXT, row["sample"])
    opened(explored, TEXT, row["sample"])
    page = open_page(explored.address(TEXT, "sample", sample=row["sample"]), theme=theme)
    expect(part(page, "Truth and prediction").get_by_role("definition")).to_have_text(
        [told["label"], told["prediction"]]
    )
    sentence = part(page, "Input").get_by_role("group", name=re.compile(r"^sentence: \d+ tokens"))
    expect(sentence).to_be_visible()
    words = sentence.locator(".token").all_text_contents()
    assert len(words) > 2
    looked = part(page, "Where the model looked")
    heat = looked.get_by_role("group", name=re.compile(r"^Heat map of .*: \d+ tokens; strongest: "))
    expect(heat).to_be_visible()
    assert heat.locator(".token").all_text_contents() == words
    tints = heat.locator(".token").evaluate_all("all => all.map(one => getComputedStyle(one).backgroundColor)")
    assert len(set(tints)) > 1, "words are tinted by what they say"
    expect(looked.get_by_text(re.compile("not apply"))).to_be_visible()
    looked.get_by_text(re.compile("not apply")).click()
    expect(
        looked.get_by_role("listitem").filter(has_text=re.compile("^integrated gradients: .*no gradient"))
    ).to_be_visible()
    expect(similars(page)).to_have_count(20)
    expect(part(page, "Is the label right?")).to_be_visible()
    expect(part(page, "Its loss in training")).to_have_count(0)
    assert axe(page) == []


def test_a_sample_that_there_is_not_is_said_with_one_that_is(open_page: WatchedPages, explored: Shown) -> None:
    open_page.expect("404")
    page = open_page(explored.address(DIGITS, "sample", sample="validation/2190"))
    expect(page.get_by_role("note").filter(has_text="No sample 'validation/2190'").first).to_contain_text(TWINS[1])
    page.goto(explored.address(DIGITS, "sample"))
    page.get_by_role("link", name="Open the population").click()
    expect(page).to_have_url(re.compile("/population$"))


def test_in_a_narrow_window_nothing_is_cut_off(open_page: WatchedPages, explored: Shown) -> None:
    page = open_page(explored.address(DIGITS, "sample", sample=TWINS[1]), width=700)
    heat_map(page)
    expect(similars(page)).to_have_count(20)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 700


@pytest.fixture(scope="module")
def torn(populations: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of digits of which one could not be evaluated; returns the folder of its binding."""
    binding = tmp_path_factory.mktemp("torn") / "binding"
    torn_digits(binding, populations / "torn")
    return binding


def test_a_sample_that_failed_says_why_and_without_its_binding_the_picture_stays(
    open_page: WatchedPages, explored: Shown, torn: Path
) -> None:
    open_page.expect(r"the server responded with a status of (4|5)\d\d")
    page = open_page(explored.address("torn", "sample", sample="validation/7"))
    expect(part(page, "Truth and prediction")).to_contain_text("The evaluation of this sample failed")
    expect(part(page, "Truth and prediction")).to_contain_text("number seven is torn")
    expect(part(page, "Truth and prediction").get_by_role("definition").last).to_have_text("none")
    expect(page.get_by_role("note").filter(has_text="number seven is torn").first).to_be_visible()
    assert str(torn) not in page.content()
    page.goto(explored.address("torn", "sample", sample="validation/8"))
    expect(drawn_input(page)).to_be_visible()
    moved = torn.rename(torn.with_name("elsewhere"))
    page.goto(explored.address("torn", "sample", sample="validation/9"))
    shown = part(page, "Input")
    expect(shown.get_by_role("note")).to_contain_text("is gone")
    expect(shown).to_contain_text("The picture saved by the evaluation.")
    eventually(lambda: loaded_pictures(shown) == [True])
    assert str(moved.parent) not in page.content()
    moved.rename(torn)
    shown.get_by_role("button", name="Try again").click()
    expect(drawn_input(page)).to_be_visible()
