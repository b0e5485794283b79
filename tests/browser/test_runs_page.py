"""The table of runs: rows as the runs are, sorted, searched, filtered, annotated, compared, by pointer and by keys."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.sync_api import expect

from tests.browser.looking import eventually, parameters, settled
from tests.browser.studios import Shown
from tests.browser.watched_pages import WatchedPages


def table(page: Any) -> Any:
    return page.get_by_role("table", name="Runs")


def names(page: Any) -> Any:
    return table(page).locator("tbody").get_by_role("link")


def expect_names(page: Any, wanted: list[str]) -> None:
    """Wait until these runs are listed; a name that is too long for its column is cut in sight, not for who listens."""
    listed = "all => all.map(one => one.querySelector('.visually-hidden')?.textContent ?? one.textContent)"
    eventually(lambda: bool(names(page).evaluate_all(listed) == wanted))


def row_of(page: Any, run: str) -> Any:
    return table(page).locator("tbody tr").filter(has=page.get_by_role("link", name=run, exact=True))


def annotations_of(studio: Shown, run: str) -> dict[str, Any]:
    file = studio.root / run / "annotations.json"
    found: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return found


def test_rows_and_states_are_as_the_runs_are(open_page: WatchedPages, studio: Shown) -> None:
    rows = studio.ask("runs")
    page = open_page(studio.address())
    expect_names(page, [row["name"] for row in rows])
    expect(page.get_by_text(f"{len(rows)} runs", exact=True)).to_be_visible()
    for row in rows:
        line = row_of(page, row["name"])
        expect(line).to_contain_text(row["state"])
        expect(line).to_contain_text(row["health"]["verdict"])
    assert {row["name"]: row["health"]["verdict"] for row in rows}.items() >= {
        ("healthy", "healthy"),
        ("sick", "warnings"),
        ("broken", "sick"),
        ("long", "not checked"),
    }


def test_a_head_sorts_and_says_so_and_the_address_keeps_it(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address())
    table(page).get_by_role("button", name="Steps").click()
    expect(table(page).get_by_role("columnheader", name="Steps")).to_have_attribute("aria-sort", "descending")
    most = [row["name"] for row in studio.ask("runs", sort="-steps")]
    expect_names(page, most)
    table(page).get_by_role("button", name="Steps").click()
    least = [row["name"] for row in studio.ask("runs", sort="steps")]
    expect_names(page, least)
    assert most[0] == "long"
    assert least[0] == "large"
    page.reload()
    expect_names(page, least)


def test_a_search_finds_and_says_how_many(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address())
    expect(names(page).first).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("heal")
    expect_names(page, ["healthy"])
    expect(page.get_by_text(re.compile(r"^1 of \d runs$"))).to_be_visible()
    assert parameters(page)["search"] == ["heal"]


def test_a_condition_filters_and_one_that_excludes_everything_is_named(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address())
    page.get_by_role("button", name="Filter").click()
    form = page.get_by_role("form", name="Add a filter")
    form.get_by_label("Column").fill("config.width")
    form.get_by_label("Is", exact=True).select_option("=")
    form.get_by_label("Value").fill("24")
    form.get_by_role("button", name="Add").click()
    expect_names(page, ["sick"])
    chips = page.get_by_role("list", name="Filters")
    expect(chips).to_contain_text("config.width")
    page.get_by_role("button", name="Filter", exact=True).click()
    form.get_by_label("or write it").fill("steps > 100000")
    form.get_by_role("button", name="Add").click()
    expect(page.get_by_text("No run matches.")).to_be_visible()
    expect(page.get_by_text(re.compile(r"Without .*steps > 100000"))).to_be_visible()
    page.go_back()
    expect_names(page, ["sick"])
    chips.get_by_role("button", name=re.compile("Remove filter")).click()
    expect(names(page)).to_have_count(len(studio.ask("runs")))


def test_a_condition_about_no_column_says_what_is_meant(open_page: WatchedPages, studio: Shown) -> None:
    open_page.expect(r"400 \(Bad Request\)")
    page = open_page(studio.address(where="confg.lr < 1"))
    expect(page.get_by_role("alert")).to_contain_text("config.lr")


def test_chosen_columns_are_in_the_address_and_stay_for_the_next_visit(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address())
    page.get_by_role("button", name="Columns").click()
    dialog = page.get_by_role("dialog", name="Columns")
    dialog.get_by_label("Find a column").fill("width")
    dialog.get_by_role("checkbox").first.check()
    page.keyboard.press("Escape")
    head = table(page).get_by_role("columnheader", name="width")
    expect(head).to_be_visible()
    assert "config.width" in parameters(page)["columns"]
    page.reload()
    expect(head).to_be_visible()
    page.goto(studio.address())
    expect(head).to_be_visible()
    expect(row_of(page, "sick")).to_contain_text("24")
    # A link to it shows the same to somebody else.
    other = open_page(page.url)
    expect(table(other).get_by_role("columnheader", name="width")).to_be_visible()


def test_a_pinned_baseline_shows_how_others_differ(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address(columns=["steps", "state"]))
    page.get_by_role("button", name="Pin healthy as baseline").click()
    unpin = page.get_by_role("button", name="Unpin healthy as baseline").first
    expect(unpin).to_be_visible()
    steps = {row["name"]: row["steps"] for row in studio.ask("runs")}
    difference = row_of(page, "sick").get_by_title("Difference to the baseline healthy")
    expect(difference).to_contain_text(f"{steps['healthy'] - steps['sick']}")
    expect(row_of(page, "healthy").get_by_title(re.compile("^Difference"))).to_have_count(0)
    # The line at the top comes from the studio, which has written it by then.
    assert annotations_of(studio, "healthy")["baseline"] is True
    unpin.click()
    expect(difference).to_have_count(0)
    eventually(lambda: annotations_of(studio, "healthy")["baseline"] is False)


def test_tags_and_a_note_are_really_written(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address(columns=["tags", "note"]))
    page.get_by_role("button", name="Edit the tags of broken").click()
    page.get_by_label(re.compile("^Tags")).fill("to repeat, no clipping")
    page.keyboard.press("Enter")
    expect(row_of(page, "broken")).to_contain_text("no clipping")
    page.get_by_role("button", name="Edit the note of broken").click()
    page.get_by_label(re.compile("^Note")).fill("NaN from step 40 on.\nLook at the input.")
    page.keyboard.press("Control+Enter")
    expect(row_of(page, "broken")).to_contain_text("NaN from step 40 on.")
    # The editor stays until the studio has said that it is written.
    expect(page.get_by_role("textbox")).to_have_count(0)
    written = annotations_of(studio, "broken")
    assert written["tags"] == ["to repeat", "no clipping"]
    assert written["note"] == "NaN from step 40 on.\nLook at the input."
    page.get_by_role("link", name="broken", exact=True).click()
    expect(page.get_by_text("Look at the input.")).to_be_visible()


def test_an_editor_that_was_opened_while_another_is_written_stays(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address(columns=["tags", "note"]))
    held: list[Any] = []
    page.route(re.compile("/annotations"), lambda route: held.append(route))  # noqa: PLW0108 - as playwright needs it
    page.get_by_role("button", name="Edit the tags of sick").click()
    page.get_by_label(re.compile("^Tags")).fill("slowly written")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Edit the note of sick").click()
    page.get_by_label(re.compile("^Note")).fill("half a sentence")
    with page.expect_response(re.compile("/annotations")):
        held.pop().continue_()
    # What the answer closes is closed by now.
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert annotations_of(studio, "sick")["tags"] == ["slowly written"]
    expect(page.get_by_label(re.compile("^Note"))).to_have_value("half a sentence")


def test_tags_that_could_not_be_saved_are_said_also_where_another_editor_was_opened(
    open_page: WatchedPages, studio: Shown
) -> None:
    page = open_page(studio.address(columns=["tags", "note"]))
    open_page.expect("status of 507")
    held: list[Any] = []
    page.route(re.compile("/annotations"), lambda route: held.append(route))  # noqa: PLW0108 - as playwright needs it
    page.get_by_role("button", name="Edit the tags of large").click()
    page.get_by_label(re.compile("^Tags")).fill("never written")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Edit the note of large").click()
    page.get_by_label(re.compile("^Note")).fill("half a sentence")
    refusal = {"ok": False, "error": "The disk is full.", "code": "full", "hint": "", "status": 507, "request": "1"}
    held[0].fulfill(status=507, json=refusal)
    expect(page.get_by_role("alert")).to_contain_text("The tags of large could not be saved. The disk is full.")
    expect(row_of(page, "large")).not_to_contain_text("never written")
    expect(page.get_by_label(re.compile("^Note"))).to_have_value("half a sentence")


def test_selected_runs_are_compared(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address())
    page.get_by_role("checkbox", name="Select healthy").check()
    page.get_by_role("checkbox", name="Select sick").check()
    page.get_by_role("link", name="Compare 2 runs").click()
    chosen = page.get_by_role("list", name="Compared runs")
    expect(chosen.get_by_role("link")).to_have_text(["healthy", "sick"])
    assert parameters(page)["run"] == [studio.id_of("healthy"), studio.id_of("sick")]
    page.go_back()
    expect(page.get_by_role("checkbox", name="Select sick")).to_be_checked()


def test_everything_goes_by_keys_alone(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address(sort="name"))
    sorted_names = [row["name"] for row in studio.ask("runs", sort="name")]
    expect_names(page, sorted_names)
    for key in ("j", "j", "j", "k"):
        page.keyboard.press(key)
    expect(page.get_by_role("link", name=sorted_names[1], exact=True)).to_be_focused()
    page.keyboard.press("x")
    expect(page.get_by_role("checkbox", name=f"Select {sorted_names[1]}", exact=True)).to_be_checked()
    page.keyboard.press("b")
    expect(page.get_by_role("button", name=f"Unpin {sorted_names[1]} as baseline").first).to_be_visible()
    page.keyboard.press("b")
    expect(page.get_by_role("button", name=f"Unpin {sorted_names[1]} as baseline")).to_have_count(0)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(sorted_names[2])


def test_parallel_coordinates_are_painted_and_a_brush_filters(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address(columns=["steps", "best_loss", "seconds"], view="parallel"))
    plot = page.get_by_role("img", name=re.compile("^Parallel coordinates of 6 runs"))
    expect(plot).to_be_visible()
    drawn = page.locator("canvas").evaluate(
        "c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((_, i) => i % 4 === 3).some(a => a)"
    )
    assert drawn
    everything = settled(plot)
    assert len({tuple(one) for one in everything.reshape(-1, 3)[::7]}) > 6
    # The upper half of the first axis: the runs with many steps.
    box = plot.bounding_box()
    axis = box["x"] + 70
    page.mouse.move(axis, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(axis, box["y"] + box["height"] * 0.3, steps=4)
    page.mouse.up()
    expect(page.get_by_role("list", name="Filters")).to_contain_text("steps between")
    expect(page.get_by_role("img", name=re.compile("^Parallel coordinates of 1 runs?"))).to_be_visible()
    assert len(parameters(page)["where"]) == 1
    page.get_by_role("button", name="Table").click()
    expect_names(page, ["long"])


def test_the_palette_finds_a_run_and_then_its_tensor(open_page: WatchedPages, studio: Shown) -> None:
    page = open_page(studio.address())
    expect(names(page).first).to_be_visible()
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name=re.compile("^Type a page"))
    expect(field).to_be_focused()
    page.keyboard.type("healthy")
    expect(page.get_by_role("option", name="healthy")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("healthy")
    page.keyboard.press("Control+k")
    page.keyboard.type("conv2.weight")
    found = page.get_by_role("option", name=re.compile("conv2.weight"))
    expect(found.first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name=re.compile("conv2.weight"))).to_be_visible()
    assert "conv2.weight" in parameters(page)["name"][0]
