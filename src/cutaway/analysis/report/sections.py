"""The sections of a report, each from values to HTML, each empty where there is nothing to tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import pyarrow as pa

from cutaway.analysis.figures.words import number, sentence
from cutaway.analysis.labels.words import SUSPICIOUS
from cutaway.analysis.population.applicability import analyses, analysis_named
from cutaway.analysis.population.contract import InReport
from cutaway.analysis.population.names import command_name
from cutaway.analysis.population.result import AnalysisResult
from cutaway.analysis.report.cards import Room, gallery, insight_list, pairs
from cutaway.analysis.report.drawing import interval, line
from cutaway.analysis.report.pictures import Album, Picture
from cutaway.analysis.report.summary import (
    ends_of,
    findings_of,
    interval_words,
    percent,
    ranked_findings,
    value_words,
)
from cutaway.analysis.report.tables import facts_list, folded, rows_table, table_of
from cutaway.analysis.report.texts import cells, html, prose
from cutaway.analysis.report.values import Drawn, ReportContent, ReportSeries, ReportTest, Score
from cutaway.run.findings import Finding
from cutaway.wording import counted

__all__ = ["Section", "notes_of", "sections", "shown_as"]

Section = Callable[[ReportContent, Album, Room], str]
MOST_FINDINGS = 40
MOST_WORDS = 12
# Of labels of which none is likely wrong, so many are shown all the same: the most doubtful.
FEW = 12


def damage(content: ReportContent, _: Album, room: Room) -> str:
    """What of the run could not be read."""
    return _lines(content.damage, room, "damage")


def findings(content: ReportContent, _: Album, room: Room) -> str:
    """Every finding, the worst first; insights have a section of their own."""
    ranked = ranked_findings(findings_of(content))
    shown = "".join(_finding(one, room) for one in ranked[:MOST_FINDINGS])
    more = len(ranked) - MOST_FINDINGS
    rest = f'<p class="quiet">and {counted(more, "more finding")}</p>' if more > 0 else ""
    return f'<ul class="findings">{shown}</ul>{rest}' if shown else ""


def insights(content: ReportContent, album: Album, room: Room) -> str:
    """What is systematically wrong, in words, with the numbers and what to do."""
    part, table = content.part("insights"), content.table("insights")
    if part is None or table is None:
        return ""
    if not table.num_rows:
        return _words(part, room) or "<p>Nothing was found.</p>"
    return insight_list(table, album, room) + _tables(part, room)


def cards(analysis: str) -> Section:
    """Return the section of one ranked table, with pictures of the samples that it begins with."""

    def section(content: ReportContent, album: Album, room: Room) -> str:
        part, table = content.part(analysis), content.table(analysis)
        if part is None or table is None:
            return ""
        if not table.num_rows:
            return _words(part, room) or "<p>None was found.</p>"
        show = pairs if "other" in table.column_names else gallery
        most = max(room.cards // shown_as(analysis).cards, 1)
        less = replace(room, cards=_suspects(table, most) if "suggested" in table.column_names else most)
        return _words(part, room) + show(table, album, less) + _tables(part, room)

    return section


def together(section: str) -> Section:
    """Return the section of all analyses that are shown there: words, figures, and tables folded away."""

    def told(content: ReportContent, _: Album, room: Room) -> str:
        return "".join(
            _analysis(content, one.name, room)
            for one in analyses()
            if one.in_report.section == section and not one.in_report.cards
        )

    return told


def results(content: ReportContent, _: Album, room: Room) -> str:
    """How each subset did, with its interval."""
    kinds = {one.what for one in content.scores if one.what}
    # Accuracies and losses have no scale in common.
    ends = ends_of(content.scores if len(kinds) == 1 else ())
    rows = "".join(_score_row(one, ends if len(kinds) == 1 else None) for one in content.scores[: room.rows])
    scale = f"{percent(ends[0])} to {percent(ends[1])}" if kinds == {"accuracy"} else ""
    heads = [("subset", False), ("samples", True), ("failed", True), ("", False), ("value", True)]
    return rows_table("Results", [*heads, ("95 % interval", True), (scale, True)], rows, "scores") if rows else ""


def training(content: ReportContent, album: Album, room: Room) -> str:
    """The numbers of the training as small charts, and loss and accuracy over its batches."""
    charts = "".join(map(_chart, content.series[: room.cards]))
    return (f'<ul class="charts">{charts}</ul>' if charts else "") + together("training")(content, album, room)


def tests(content: ReportContent, _: Album, room: Room) -> str:
    """Tests on slices and how they went."""
    if not content.tests:
        return ""
    rows = "".join(_tested(one, room) for one in content.tests[: room.rows])
    return rows_table("Tests", [("outcome", False), ("test", False), ("what was seen", False)], rows)


def fixes(content: ReportContent, _: Album, room: Room) -> str:
    """What was corrected, overlay by overlay."""
    found = []
    for one in content.fixes:
        rows = [dict(zip(("sample", "what", "why"), row, strict=True)) for row in one.rows]
        table = _table(pa.Table.from_pylist(rows), room) if rows else ""
        inside = folded(counted(len(rows), "correction"), table) if table else ""
        found.append(f"<h3>{html(one.name, 80)}</h3><p>{prose(one.words, 600)}</p>{inside}")
    return "".join(found)


def missing(content: ReportContent, _: Album, room: Room) -> str:
    """What does not apply to this run, and why."""
    reasons = [*content.missing, *((one.analysis, one.reason) for one in content.parts if one.reason)]
    told = (f"<div><dt>{html(name, 80)}</dt><dd>{prose(sentence(why), room.text)}</dd></div>" for name, why in reasons)
    return f'<dl class="facts">{"".join(told)}</dl>' if reasons else ""


def limits(content: ReportContent, album: Album, room: Room) -> str:
    """What the reader must know about how far this report goes."""
    return _lines(notes_of(content, album), room, "notes")


def notes_of(content: ReportContent, album: Album) -> list[str]:
    """Return every note of the parts and of the report itself, each once."""
    said = [f"{one.analysis}: {note}" for one in content.parts if not one.reason for note in one.notes]
    said += [f"No figure of {one.part}: {one.reason}" for one in content.figures if one.reason]
    refused = album.refused
    if refused:
        name, reason = next(iter(refused.items()))
        said.append(f"{counted(len(refused), 'picture')} could not be shown; the first, of {name}: {reason}.")
    return list(dict.fromkeys([*content.limits, *said]))


def _analysis(content: ReportContent, analysis: str, room: Room) -> str:
    """Return one part: its words, its figures, and its tables folded away."""
    part = content.part(analysis)
    if part is None:
        return ""
    inside = _words(part, room) + _figures(content, (analysis,), room)
    shown = shown_as(analysis)
    tables = _tables(part, room) if shown.tables else ""
    # A section that has one analysis only, by the name of it, has its title already.
    title = "" if shown.section == analysis else f"<h3>{html(shown.title or analysis)}</h3>"
    return f"{title}{inside}{tables}" if inside + tables else ""


def _words(part: AnalysisResult, room: Room) -> str:
    said = [sentence(one) for one in part.words[:MOST_WORDS] if one]
    if len(part.words) > MOST_WORDS:
        said.append(f"And {len(part.words) - MOST_WORDS:,} more lines, which `cutaway analyze` prints.")
    if len(said) == 1:
        return f"<p>{prose(said[0], 3 * room.text)}</p>"
    return f'<ul class="said">{"".join(f"<li>{prose(one, 3 * room.text)}</li>" for one in said)}</ul>' if said else ""


def _tables(part: AnalysisResult, room: Room) -> str:
    made = []
    for name, table in part.tables.items():
        if table.num_rows and table.num_columns:
            title = "The table" if name == part.analysis else f"The table of {name}"
            made.append(folded(f"{title}: {counted(table.num_rows, 'row')}", _table(table, room)))
    return "".join(made)


def _suspects(table: pa.Table, most: int) -> int:
    """Return how many labels to show: those that are likely wrong, and a few where there are none."""
    scores = cells(table["score"].slice(0, most))
    return min(most, max(FEW, sum(isinstance(one, float) and one >= SUSPICIOUS for one in scores)))


def _table(table: pa.Table, room: Room) -> str:
    return table_of(table, most_rows=room.rows, most_text=room.text)


def _figures(content: ReportContent, parts: Sequence[str], room: Room) -> str:
    wanted = [one for one in content.figures[: room.figures] if one.part in parts and one.png]
    return "".join(map(_figure, wanted))


def _figure(drawn: Drawn) -> str:
    picture = Picture(drawn.png)
    return (
        f'<figure><img class="figure" src="{picture.address}" alt="{html(drawn.title, 200)}">'
        f"<figcaption><b>{html(drawn.title, 200)}.</b> {html(drawn.caption, 1200)}</figcaption></figure>"
    )


def _chart(series: ReportSeries) -> str:
    return (
        f'<li><b>{html(series.name, 60)}</b> <span class="quiet">{html(series.mode, 20)}</span>{line(series.values)}'
        f'<span class="ends"><span>{number(series.first)}</span>'
        f"<span>{number(series.last)} at step {series.step:,}</span></span></li>"
    )


def _tested(one: ReportTest, room: Room) -> str:
    kind = {"passed": "good", "failed": "bad"}.get(one.outcome, "warning")
    return (
        f'<tr><td><span class="badge {kind}">{html(one.outcome, 20)}</span></td>'
        f"<td>{html(one.test, room.text)}</td><td>{html(one.words, room.text)}</td></tr>"
    )


def _finding(finding: Finding, room: Room) -> str:
    severity = finding.severity if finding.severity in ("error", "warning", "info") else "info"
    facts = [(str(key), value) for key, value in [*finding.where.items(), *finding.evidence.items()]]
    evidence = folded("evidence", facts_list(facts, room.text)) if facts else ""
    by = f'<span class="quiet">{html(finding.source, 60)}</span>' if finding.source else ""
    return (
        f'<li class="{severity}"><span class="badge {severity}">{html(finding.severity, 20)}</span> '
        f"<b>{html(finding.code, 80)}</b> {by}<p>{prose(finding.message, 3 * room.text)}</p>{evidence}</li>"
    )


def _score_row(score: Score, ends: tuple[float, float] | None) -> str:
    value = value_words(score) if score.what else ""
    drawn = "" if ends is None else interval(score.value, score.low, score.high, ends)
    return (
        f'<tr><th scope="row">{html(score.subset, 80)}</th><td class="number">{score.samples:,}</td>'
        f'<td class="number">{score.failed:,}</td><td>{html(score.what or "no labels")}</td>'
        f'<td class="number"><b>{value}</b></td><td class="number">{interval_words(score)}</td>'
        f'<td class="drawn">{drawn}</td></tr>'
    )


def _lines(lines: Sequence[str], room: Room, kind: str) -> str:
    shown = "".join(f"<li>{prose(sentence(one), 3 * room.text)}</li>" for one in lines[: room.rows])
    more = len(lines) - room.rows
    rest = f'<p class="quiet">and {more:,} more</p>' if more > 0 else ""
    return f'<ul class="said {kind}">{shown}</ul>{rest}' if shown else ""


def sections() -> dict[str, tuple[str, Section]]:
    """Return by the name of its anchor the title of each section, and what makes it: as a reader should meet them."""
    ranked = {
        command_name(one.name): (one.in_report.title or one.name, cards(one.name))
        for one in analyses()
        if one.in_report.cards and one.in_report.section not in _FIRST
    }
    return {**_FIRST, **ranked, **_LAST}


@cache
def shown_as(analysis: str) -> InReport:
    """Return how an analysis is shown in a report."""
    return analysis_named(analysis).in_report


_FIRST: dict[str, tuple[str, Section]] = {
    "damage": ("What is damaged", damage),
    "results": ("Results", results),
    "findings": ("Findings", findings),
    "insights": ("What is systematically wrong", insights),
}
_LAST: dict[str, tuple[str, Section]] = {
    "tests": ("Tests on slices", tests),
    "fixes": ("What was fixed", fixes),
    "confusion": ("Which classes are predicted as which", together("confusion")),
    "maps": ("The map of the samples", together("maps")),
    "explained": ("What the model goes by", together("explained")),
    "further": ("Further analyses", together("further")),
    "training": ("Training", training),
    "missing": ("What does not apply, and why", missing),
    "limits": ("What limits this report", limits),
}
