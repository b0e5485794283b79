"""Labels corrected by keyboard: what the page says of the decisions, and that the overlay is just these."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from scripts.check_numbers.ledger import numbers_in
from scripts.check_numbers.look import Look

__all__ = ["correct_labels"]

# Keys on the list of suggestions, one after the other: accept, reject, another label, undo the last one, go on.
KEYS = "aaxaoaujaxaa"
LIST, PANEL = "li[data-sample]", "section[aria-labelledby=sample-label]"
_DECIDED = "rows => rows.map(row => [row.dataset.sample, row.querySelector('.decided')?.innerText ?? ''])"

Decided = dict[str, str | None]


def correct_labels(look: Look) -> Path:
    """Decide about labels with the keyboard alone, compare what is kept with the keys, and return the overlay."""
    ranked = look.session.kept["ranked"]
    wanted, place = _on_the_list(look, ranked)
    _on_the_page_of(look, ranked[place + 1], wanted)
    look.session.kept["corrected"] = {sample: label for sample, label in wanted.items() if label is not None}
    path = look.session.runs / look.run / "overlays" / "studio.parquet"
    _in_the_overlay(look, path)
    _on_the_page(look, wanted)
    _elsewhere(look, wanted)
    return path


def _on_the_list(look: Look, ranked: list[dict[str, Any]]) -> tuple[Decided, int]:
    """Press the keys; return the label that each sample was given, None where its own stays, and where that ended."""
    look.show("insights", LIST, tab="labels").wait_for_selector(".progress")
    wanted: Decided = {}
    order: list[int] = []
    place = 0
    for key in KEYS:
        row = ranked[place]
        if key == "j":
            look.studio.page.keyboard.press("j")
            place += 1
        elif key == "u":
            place = order.pop()
            _press(look, key)
            wanted.pop(ranked[place]["sample"])
        else:
            label = None if key == "x" else row["suggested"] if key == "a" else _other(row)
            _press(look, key, label if key == "o" else None)
            wanted[row["sample"]] = label
            order.append(place)
            place += 1
    return wanted, place


def _other(row: dict[str, Any]) -> str:
    """Return a class that is neither the label of a sample nor what is suggested."""
    return next(one for one in map(str, range(10)) if one not in (row["label"], row["suggested"]))


def _press(look: Look, key: str, label: str | None = None) -> None:
    """Press a key and wait until the decision is kept; a label is written where the page asks for one."""
    page = look.studio.page
    with page.expect_response(lambda answer: "/decisions" in answer.url and answer.request.method == "POST"):
        page.keyboard.press(key)
        if label is not None:
            page.wait_for_selector("[role=dialog] input, dialog input")
            page.keyboard.type(label)
            page.keyboard.press("Enter")
    page.wait_for_timeout(200)  # until the page has it


def _on_the_page_of(look: Look, row: dict[str, Any], wanted: Decided) -> None:
    """Accept a suggestion on the page of its sample."""
    look.show("sample", f"{PANEL} kbd", sample=row["sample"])
    _press(look, "a")
    look.studio.page.wait_for_selector(f"{PANEL} .decided")
    said = look.studio.text(f"{PANEL} .decided")
    look.says(f"decision about {row['sample']}", "page sample, by keyboard", said, row["suggested"])
    wanted[row["sample"]] = row["suggested"]


def _in_the_overlay(look: Look, path: Path) -> None:
    """Compare the file with the keys: it says just these."""
    true, accepted, where = look.session.answers(look.run), look.session.kept["corrected"], "overlays/studio.parquet"
    held = {(one["sample"], one["field"]): one for one in pq.read_table(path).to_pylist()}
    look.number("corrections", where, len(held), len(accepted))
    for sample, label in accepted.items():
        one = held.get((sample, "label"), {})
        look.text(f"new label of {sample}", where, one.get("new"), label)
        look.text(f"old label of {sample}", where, one.get("old"), str(true.labels[true.row(sample)]))


def _on_the_page(look: Look, wanted: Decided) -> None:
    true, where = look.session.answers(look.run), "page labels, by keyboard"
    page = look.show("insights", "#overlay-title", tab="labels")
    page.wait_for_selector(f"{LIST} .decided")
    said = numbers_in(look.studio.text(".progress") or "")
    look.number("decided", where, next(iter(said), None), len(wanted))
    overlay = numbers_in(look.studio.text("#overlay-title") or "")
    look.number("corrections", where, next(iter(overlay), None), len(look.session.kept["corrected"]))
    shown = dict(page.locator(LIST).evaluate_all(_DECIDED))
    for sample, text in shown.items():
        kept = str(true.labels[true.row(sample)])
        if sample in wanted:
            look.says(f"decision about {sample}", where, text, wanted[sample] or kept)
        else:
            look.text(f"decision about {sample}", where, text, "")
    look.number("decided ones are shown", where, int(bool(set(shown) & set(wanted))), 1)


def _elsewhere(look: Look, wanted: Decided) -> None:
    """Compare what the API and the command say of the decisions."""
    where, answer = "GET runs/{run}/suggestions", look.ask_page("suggestions", decided="decided", limit=1000)
    look.number("decided", where, answer["total"], len(wanted))
    kept = {one["sample"]: one["decided_label"] for one in answer["data"]}
    for sample, label in wanted.items():
        look.text(f"decided label of {sample}", where, str(kept.get(sample, "not decided")), str(label))
    listed = {one["name"]: one for one in look.json("fix", look.run, "--list")["overlays"]}
    count = listed.get("studio", {}).get("corrections", {}).get("label")
    look.number("corrections", "cutaway fix --list --json", count, len(look.session.kept["corrected"]))
