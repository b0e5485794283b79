"""From what is wrong to the samples that were there: findings, their evidence, and the samples of their steps."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.looking import parameters
from tests.browser.studios import Shown
from tests.browser.watched_pages import WatchedPages


def listed(page: Any) -> Any:
    return page.get_by_role("table", name="Findings").locator("tbody").get_by_role("row")


def test_findings_are_listed_as_they_were_found(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("sick", "findings"))
    found = studio.ask(f"runs/{studio.id_of('sick')}/findings")
    assert "DeadRelu" in {one["code"] for one in found}
    expect(listed(page)).to_have_count(len(found))
    for one in found:
        line = listed(page).filter(has_text=one["code"])
        expect(line).to_contain_text(one["severity"])
        expect(line).to_contain_text(one["message"])


def test_a_run_that_nobody_watched_says_how_and_a_healthy_one_that_nothing_was_found(
    open_page: WatchedPages, studio: Shown
) -> None:
    page = open_page(studio.address("long", "findings"))
    expect(page.get_by_text(re.compile("^cutaway watch .*long"))).to_be_visible()
    page.goto(studio.address("healthy", "findings"))
    expect(page.get_by_text(re.compile("^No findings."))).to_be_visible()


def test_findings_are_chosen_by_severity_and_rule_and_the_address_has_it(
    open_page: WatchedPages, studio: Shown
) -> None:
    page = open_page(studio.address("broken", "findings"))
    everything = studio.ask(f"runs/{studio.id_of('broken')}/findings")
    errors = [one for one in everything if one["severity"] == "error"]
    expect(listed(page)).to_have_count(len(everything))
    page.get_by_role("group", name="Severity").get_by_role("button", name=re.compile("error")).click()
    expect(listed(page)).to_have_count(len(errors))
    page.reload()
    expect(listed(page)).to_have_count(len(errors))
    page.get_by_label("Rule").select_option("WeightUpdateRatio")
    expect(page.get_by_text("No finding matches.")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Show all")).click()
    expect(listed(page)).to_have_count(len(everything))


def test_findings_go_by_keys(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("sick", "findings"))
    expect(listed(page).first).to_be_visible()
    second = studio.ask(f"runs/{studio.id_of('sick')}/findings")[1]
    for key in ("j", "j", "Enter"):
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile(second["id"]))


def test_a_finding_says_why_and_what_to_try_with_its_evidence(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("sick", "findings"))
    page.get_by_role("link", name=re.compile("units of dead_relu_output_0 are dead")).click()
    for word in ("Why it matters", "What to try", "Evidence"):
        expect(page.get_by_role("heading", name=word)).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^Chart of Loss,"))).to_be_visible()
    page.get_by_role("link", name=re.compile("^Tensor .*dead_relu_output_0")).click()
    expect(page.get_by_role("region", name="Tensor dead_relu_output_0")).to_be_visible()


def test_from_a_finding_to_the_samples_of_its_steps_in_one_click(open_page: WatchedPages, studio: Shown) -> None:
    run = studio.id_of("sick")
    finding = next(one for one in studio.ask(f"runs/{run}/findings") if one["code"] == "UnchangedTensor")
    told = studio.ask(f"runs/{run}/findings/{finding['id']}")
    page = open_page(studio.address("sick", f"findings/{finding['id']}"))
    page.get_by_role("link", name=re.compile("^Samples of step")).click()
    assert parameters(page)["from"] == [str(told["first_step"])]
    assert parameters(page)["to"] == [str(told["last_step"])]
    count = 16 * (told["last_step"] - told["first_step"] + 1)
    expect(page.get_by_text(re.compile(f"^{count} samples of steps? "))).to_be_visible()
    picture = page.get_by_role("img", name="Sample training/").first
    expect(picture).to_be_visible()
    # A picture that came, not a frame around none.
    assert picture.evaluate("one => one.decode().then(() => one.naturalWidth)") == 8


def test_who_leaves_a_finding_before_its_charts_came_makes_no_error(open_page: WatchedPages, studio: Shown) -> None:
    run = studio.id_of("sick")
    finding = next(one for one in studio.ask(f"runs/{run}/findings") if one["code"] == "UnchangedTensor")
    page = open_page(studio.address("sick", f"findings/{finding['id']}"))
    held: list[Any] = []
    page.route(re.compile("/tensor([?]|/series)"), lambda route: held.append(route))  # noqa: PLW0108 - no built-in method, which playwright cannot mark
    page.reload()
    link = page.get_by_role("link", name=re.compile("^Samples of step"))
    expect(link).to_be_visible()
    expect(page.get_by_role("region", name="Around these steps")).to_be_visible()
    link.click()
    expect(page.get_by_role("img", name="Sample training/").first).to_be_visible()
    assert held
    for route in held:
        route.abort()


def test_samples_have_what_is_known_of_them(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address("sick", "samples", first=2, last=3, view="table"))
    rows = studio.ask(f"runs/{studio.id_of('sick')}/samples", **{"from": 2, "to": 3})
    worst = page.get_by_role("region", name="Samples").locator("tbody").get_by_role("row").first
    expect(worst).to_contain_text(rows[0]["sample"])
    expect(worst).to_contain_text(str(rows[0]["prediction"]))
    losses = [row["values"]["loss"] for row in rows]
    assert losses == sorted(losses, reverse=True)
    page.get_by_role("button", name="Steps after").click()
    assert (parameters(page)["from"], parameters(page)["to"]) == (["4"], ["5"])
    expect(page.get_by_text(re.compile("^32 samples of steps 4 to 5"))).to_be_visible()
    page.get_by_label("Order").select_option("sample")
    page.reload()
    expect(page.get_by_label("Order")).to_have_value("sample")


def test_whose_the_label_and_the_prediction_beside_a_loss_of_a_step_are_is_said(
    open_page: WatchedPages, studio: Shown
) -> None:
    page = open_page(studio.address("sick", "samples", first=2, last=3))
    rows = studio.ask(f"runs/{studio.id_of('sick')}/samples", **{"from": 2, "to": 3})
    [evaluation] = {row["evaluation"] for row in rows}
    said = f"Values are of the step, labels and predictions of evaluation {evaluation}."
    expect(page.get_by_text(said)).to_be_visible()
    # Nothing was evaluated of this one, and nothing is said.
    page.goto(studio.address("healthy", "samples"))
    expect(page.get_by_text(re.compile("^16 samples of step 119"))).to_be_visible()
    expect(page.get_by_text("Values are of the step")).to_have_count(0)


@pytest.mark.parametrize("run", ["healthy", "broken"])
def test_a_run_shows_the_samples_that_it_knows_or_how_to_know_them(
    open_page: WatchedPages, studio: Shown, run: str
) -> None:
    page = open_page(studio.address(run, "samples"))
    if run == "healthy":
        expect(page.get_by_text(re.compile("^16 samples of step 119"))).to_be_visible()
    else:
        expect(page.get_by_text("hook.set_samples(ids)")).to_be_visible()
