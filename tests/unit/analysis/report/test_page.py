"""The whole page: what it says, what it leaves out, how small it stays."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from cutaway.analysis.population.result import AnalysisResult
from cutaway.analysis.report import Head, ReportContent
from cutaway.analysis.report.sections import sections
from cutaway.run import Finding
from tests.unit.analysis.figures.reading_pages import Page
from tests.unit.analysis.report.made import content, ranked, report


def headings(html: str) -> list[str]:
    return [text for tag, text in Page(html).texts if tag == "h2"]


def test_a_run_of_which_everything_is_known_has_every_section() -> None:
    made = report(content())
    known = [title for title, _ in sections().values()]
    # Nothing of these two is in it: curves did not apply, and no analysis is of another package.
    assert [one for one in known if one not in headings(made.html)] == ["What the model goes by", "Further analyses"]
    assert made.notes == ()


def test_a_run_of_which_nothing_is_known_still_has_a_page() -> None:
    made = report(ReportContent(Head("empty")))
    assert headings(made.html) == []
    assert "empty" in Page(made.html).shown


def test_the_page_is_well_formed_runs_nothing_and_loads_nothing() -> None:
    page = Page(report(content()).html)
    (policy,) = (one["content"] for _, one in page.elements if one.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "script-src 'none'" in policy
    assert {tag for tag, _ in page.elements} & {"script", "link", "iframe", "object", "form"} == set()
    addresses = [one["src"] for _, one in page.elements if "src" in one]
    assert addresses
    assert all((one or "").startswith("data:image/png;base64,") for one in addresses)


def test_every_link_leads_to_a_section_of_the_page() -> None:
    page = Page(report(content()).html)
    links = [one["href"] for tag, one in page.elements if tag == "a"]
    assert links == [f"#{one['id']}" for tag, one in page.elements if tag == "section"]


def test_what_does_not_apply_is_listed_with_its_reason() -> None:
    given = ReportContent(Head("run"), parts=[AnalysisResult("confusion", reason="these samples have no labels")])
    shown = Page(report(given).html).shown
    assert "What does not apply, and why" in shown
    assert "These samples have no labels." in shown


def test_what_found_nothing_says_so() -> None:
    shown = Page(
        report(ReportContent(Head("run"), parts=[AnalysisResult("outliers", tables={"outliers": ranked(rows=0)})])).html
    ).shown
    assert "None was found." in shown


def test_a_report_that_is_too_large_has_fewer_pictures_and_says_so() -> None:
    given = content("x" * 300, rows=200)
    whole, small = report(given), report(given, most_bytes=200_000)
    assert small.size <= 200_000 < whole.size
    assert small.html.count("<img") < whole.html.count("<img")
    [note] = small.notes
    assert note in Page(small.html).shown.replace("  ", " ")


def test_the_same_values_give_the_same_page() -> None:
    given = content()
    assert report(given).html == report(given).html


@pytest.mark.parametrize("scheme", ["prefers-color-scheme: dark", "@media print", "max-width: 640px"])
def test_it_has_a_dark_a_printed_and_a_narrow_form(scheme: str) -> None:
    assert scheme in re.findall(r"<style>(.*?)</style>", report(content()).html, re.DOTALL)[0]


def test_insights_that_were_also_recorded_as_findings_are_told_once() -> None:
    given = content(findings=[Finding("low-performance", "error", "thin digits fail", source="analyze")])
    assert '<section id="findings">' not in report(given).html
    assert '<section id="insights">' in report(given).html


def test_a_finding_of_a_rule_is_told_with_its_evidence() -> None:
    given = ReportContent(
        Head("run"), findings=[Finding("DeadRelu", "warning", "half are dead", evidence={"share": 0.5})]
    )
    shown = Page(report(given).html).shown
    assert all(word in shown for word in ("DeadRelu", "half are dead", "share", "0.5", "warning"))


def test_where_no_label_is_likely_wrong_only_the_most_doubtful_are_shown() -> None:
    sure = ranked(rows=100)
    doubtful = sure.set_column(1, "score", [[one / 10 for one in sure["score"].to_pylist()]])
    counts = []
    for table in (sure, doubtful):
        page = report(
            ReportContent(Head("run"), parts=[AnalysisResult("mislabeled", tables={"mislabeled": table})])
        ).html
        counts.append(page.count('class="reason"'))
    assert counts == [36, 12]


def test_the_two_figures_of_an_insight_say_what_they_are_of() -> None:
    row = {"sample": "validation/0", "score": 0.5, "reason": "gap", "kind": "overfitting", "measure": "error"}
    row |= {"inside": 0.25, "outside": 0.01, "inside_of": "held out", "outside_of": "training", "is_share": True}
    parts = [AnalysisResult("insights", ("gap",), {"insights": pa.Table.from_pylist([row])})]
    shown = Page(report(ReportContent(Head("run"), parts=parts)).html).shown
    assert re.search(r"held out\s+25 %\s+training\s+1.0 %", shown)
    assert "elsewhere" not in shown


def test_what_stands_between_backticks_is_code_wherever_a_message_is_shown() -> None:
    message = "Call `hook.close()` first."
    made = report(
        ReportContent(
            Head("run"),
            findings=[Finding("A", "error", message)],
            parts=[AnalysisResult("outliers", (message,), {"outliers": ranked(message)}, (message,))],
            missing=[("to label", message)],
            limits=[message],
        )
    ).html
    # The finding, the line of the analysis, the reason on a card, what is missing, the limit and the note.
    assert made.count("<code>hook.close()</code>") >= 6


def test_names_keep_both_of_their_ends() -> None:
    names = [f"{'very/' * 20}long/{side}" for side in ("left", "right")]
    table = ranked(rows=2, sample=names)
    shown = Page(
        report(ReportContent(Head("run"), parts=[AnalysisResult("outliers", tables={"outliers": table})])).html
    ).shown
    assert "long/left" in shown
    assert "long/right" in shown
