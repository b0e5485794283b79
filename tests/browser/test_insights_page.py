"""Insights, labels that are likely wrong, and tests of a run, on their page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from cutaway.run.decisions import read_decisions
from cutaway.run.identity import Run
from cutaway.run.overlays import overlays
from tests.browser.looking import eventually, parameters
from tests.browser.populations import DIGITS, TEXT, WIDE
from tests.browser.studios import Shown
from tests.browser.watched_pages import WatchedPages


def cards(page: Any) -> Any:
    return page.get_by_role("list", name="Insights", exact=True).locator("> li")


def insights(studio: Shown, run: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = studio.ask(f"runs/{studio.id_of(run)}/insights")["insights"]
    return found


@pytest.mark.parametrize("run", [DIGITS, TEXT])
def test_insights_are_ranked_sentences_with_pictures_and_show_what_they_count(
    open_page: WatchedPages, explored: Shown, axe: Any, theme: str, run: str
) -> None:
    told = insights(explored, run)
    page = open_page(explored.address(run, "insights"), theme=theme)
    expect(cards(page)).to_have_count(len(told))
    expect(cards(page).get_by_role("heading", level=3)).to_have_text([one["words"] for one in told])
    for place, one in enumerate(told):
        expect(cards(page).nth(place)).to_contain_text(re.compile(rf"\b{one['count']} samples?\b"))
        shown = cards(page).nth(place).get_by_role("list", name="Samples that show it")
        expect(shown.get_by_role("link")).to_have_count(len(one["samples"]))
    cards(page).last.scroll_into_view_if_needed()
    if run == DIGITS:
        pictures = cards(page).first.locator("img")
        eventually(lambda: all(pictures.evaluate_all("all => all.map(one => one.naturalWidth > 0)")))
    assert axe(page) == []


def test_show_me_leads_to_as_many_samples_as_the_card_names(open_page: WatchedPages, explored: Shown) -> None:
    told = next(one for one in insights(explored, DIGITS) if one["where"])
    page = open_page(explored.address(DIGITS, "insights"))
    cards(page).filter(has_text=told["words"]).get_by_role("link", name="Show me").click()
    expect(page).to_have_url(re.compile(r"/population\?"))
    assert parameters(page)["where"][0] == told["where"][0]
    expect(page.get_by_text(re.compile(rf"\b{told['count']} of 700\b")).first).to_be_visible()


def test_findings_about_samples_are_told_apart_from_those_that_the_health_counts(
    open_page: WatchedPages, explored: Shown
) -> None:
    found = explored.ask(f"runs/{explored.id_of(DIGITS)}/findings")
    about_samples = [one for one in found if one["source"] == "analyze"]
    assert 0 < len(about_samples) < len(found)
    page = open_page(explored.address(DIGITS, "findings"))
    said = f"{len(found)} findings; {len(about_samples)} about samples, not the training."
    expect(page.get_by_text(said)).to_be_visible()
    page.get_by_label("About").select_option(label="the training")
    count = len(found) - len(about_samples)
    expect(page.get_by_text(f"{count} finding{'' if count == 1 else 's'} of {len(found)}.")).to_be_visible()


def test_without_insights_the_job_is_offered_and_one_of_them_becomes_a_test(
    open_page: WatchedPages, explored: Shown, digits_run: Path, axe: Any
) -> None:
    # Nobody has analysed the first evaluation, after which much was wrong yet.
    page = open_page(explored.address(DIGITS, "insights", evaluation=0))
    expect(page.get_by_text("No insights yet.")).to_be_visible()
    assert axe(page) == []
    page.get_by_role("button", name="Analyze", exact=True).click()
    expect(page.locator("[data-job]")).to_be_visible()
    card = cards(page).filter(has=page.get_by_role("button", name="Make it a test"))
    expect(card.first).to_be_visible()
    words = card.first.get_by_role("heading", level=3).text_content()
    line = next(
        one["test"]
        for one in explored.ask(f"runs/{explored.id_of(DIGITS)}/insights", evaluation=0)["insights"]
        if one["words"] == words
    )
    card.first.get_by_role("button", name="Make it a test").click()
    expect(page.get_by_role("link", name="Added as a test")).to_be_visible()
    written = (digits_run / "tests.yaml").read_text("utf-8")
    assert line in written
    page.get_by_role("link", name="Added as a test").click()
    row = page.get_by_role("table", name="Tests").locator("tbody tr").filter(has_text=line)
    expect(row).to_contain_text("failed")
    expect(row).to_contain_text("from an insight")
    expect(row).to_contain_text(words)


def test_tests_are_added_refused_judged_by_run_removed_and_brought_back(
    open_page: WatchedPages, explored: Shown, wide_run: Path, axe: Any, theme: str
) -> None:
    (wide_run / "tests.yaml").unlink(missing_ok=True)
    page = open_page(explored.address(WIDE, "insights") + "?tab=tests", theme=theme)
    expect(page.get_by_text("This run has no tests.")).to_be_visible()
    open_page.expect(r"status of 400")
    add(page, "accuracy where labl = 4 at least 10 %")
    expect(page.get_by_role("alert")).to_contain_text("label")
    assert not (wide_run / "tests.yaml").exists()
    add(page, "accuracy at least 10 %")
    rows = page.get_by_role("table", name="Tests").locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(rows).to_contain_text("passed")
    add(page, "accuracy of validation at least 99.9 %", why="The goal of this year")
    expect(rows).to_have_count(2)
    # What failed comes first.
    expect(rows.first).to_contain_text("failed")
    expect(rows.first).to_contain_text("The goal of this year")
    expect(page.get_by_text(re.compile("1 .*passed.*1 .*failed|1 .*failed.*1 .*passed"))).to_be_visible()
    assert "accuracy of validation at least 0.999" in (wide_run / "tests.yaml").read_text("utf-8")
    assert axe(page) == []
    page.get_by_role("button", name="By run").click()
    by_run = page.get_by_role("table", name="Tests by run")
    expect(by_run.get_by_role("columnheader", name=WIDE, exact=True)).to_be_visible()
    expect(by_run.get_by_role("columnheader", name=DIGITS, exact=True)).to_be_visible()
    easy = by_run.get_by_role("row").filter(has_text="at least 0.1")
    expect(easy.get_by_text("passed", exact=True)).not_to_have_count(0)
    hard = by_run.get_by_role("row").filter(has_text="0.999")
    expect(hard.get_by_text("failed", exact=True)).not_to_have_count(0)
    assert axe(page) == []
    page.get_by_role("button", name="This run", exact=True).click()
    page.get_by_role("button", name=re.compile("^Remove .*0.999")).click()
    expect(rows).to_have_count(1)
    assert "0.999" not in (wide_run / "tests.yaml").read_text("utf-8")
    page.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(2)
    assert "The goal of this year" in (wide_run / "tests.yaml").read_text("utf-8")


def add(page: Any, line: str, why: str = "") -> None:
    page.get_by_label("New test").fill(line)
    page.get_by_label("Reason (optional)").fill(why)
    page.keyboard.press("Enter")


def test_labels_are_decided_one_after_the_other_by_keys_alone(
    open_page: WatchedPages, explored: Shown, digits_run: Path, axe: Any, theme: str
) -> None:
    told = explored.ask(f"runs/{explored.id_of(DIGITS)}/suggestions")
    page = open_page(explored.address(DIGITS, "insights") + "?tab=labels", theme=theme)
    rows = page.get_by_role("list", name="Suggestions").locator("> li")
    expect(rows.first).to_have_attribute("data-sample", told[0]["sample"])
    expect(rows.first).to_have_attribute("aria-current", "true")
    expect(rows.first).to_contain_text(re.compile(rf"labelled\s*{told[0]['label']}"))
    expect(page.get_by_text(f"0 of {len(told)} decided")).to_be_visible()
    page.keyboard.press("a")
    expect(rows.nth(0).get_by_role("button", name="Undo")).to_be_visible()
    expect(rows.nth(1)).to_have_attribute("aria-current", "true")
    page.keyboard.press("x")
    expect(rows.nth(1).get_by_role("button", name="Undo")).to_be_visible()
    expect(rows.nth(2)).to_have_attribute("aria-current", "true")
    page.keyboard.press("o")
    third = next(one for one in "0123456789" if one not in (told[2]["label"], told[2]["suggested"]))
    expect(page.get_by_role("dialog", name=re.compile("^Another label"))).to_be_visible()
    page.keyboard.type(third)
    page.keyboard.press("Enter")
    expect(rows.nth(2)).to_contain_text(third)
    expect(rows.nth(2).get_by_role("button", name="Undo")).to_be_visible()
    expect(page.get_by_text(f"3 of {len(told)} decided")).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("^The overlay .* has 2 corrections"))).to_be_visible()
    expect(page.get_by_text("cutaway fix").or_(page.get_by_text("cutaway overlay")).first).to_be_visible()
    assert corrected(digits_run) == {told[0]["sample"]: told[0]["suggested"], told[2]["sample"]: third}
    assert set(read_decisions(Run.open(digits_run)).rejected) == {told[1]["sample"]}
    assert axe(page) == []
    page.keyboard.press("k")
    page.keyboard.press("u")
    expect(rows.nth(2).get_by_role("button", name="Accept")).to_be_visible()
    page.keyboard.press("k")
    page.keyboard.press("u")
    expect(rows.nth(1).get_by_role("button", name="Accept")).to_be_visible()
    page.keyboard.press("k")
    page.keyboard.press("u")
    expect(rows.nth(0).get_by_role("button", name="Accept")).to_be_visible()
    assert corrected(digits_run) == {}
    assert read_decisions(Run.open(digits_run)).rejected == {}
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/sample\?"))
    assert parameters(page)["sample"] == [told[0]["sample"]]


def corrected(run: Path) -> dict[str, str]:
    """The labels that overlays on disk correct."""
    return {one.sample: one.new for held in overlays(Run.open(run)) for one in held.corrections}
