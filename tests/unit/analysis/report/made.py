"""A report with everything in it, of made values."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from cutaway.analysis.population.result import AnalysisResult
from cutaway.analysis.report import Drawn, Fix, Head, Made, ReportContent, ReportSeries, ReportTest, Score, make_report
from cutaway.run import Finding
from tests.unit.analysis.figures.made import png

WHEN = datetime(2026, 11, 15, 12, 30, tzinfo=UTC)
RANKED = ("mislabeled", "ambiguous", "outliers", "to label")


def ranked(text: str = "why", rows: int = 30, **columns: Any) -> pa.Table:
    return pa.table(
        {
            "sample": [f"{text}/{row}" for row in range(rows)],
            "score": [1 - row / rows for row in range(rows)],
            "reason": [text] * rows,
            "label": [text] * rows,
            "suggested": [f"{text}!"] * rows,
            **columns,
        }
    )


def insight_table(text: str) -> pa.Table:
    row = {"sample": f"{text}/0", "score": 0.5, "reason": text, "kind": text, "where": text, "measure": text}
    return pa.Table.from_pylist([{**row, "inside": 0.2, "outside": 0.1, "action": text, "buys": text}])


def parts(text: str = "why", rows: int = 30) -> list[AnalysisResult]:
    pairs = ranked(text, rows, other=[f"{text}/{rows - row}" for row in range(rows)])
    return [
        AnalysisResult("insights", (text,), {"insights": insight_table(text)}, (text,)),
        *(AnalysisResult(name, (text,), {name: ranked(text, rows)}, (text,)) for name in RANKED),
        AnalysisResult("duplicates", (text,), {"duplicates": pairs}),
        AnalysisResult("leakage", (text,), {"leakage": pairs}),
        AnalysisResult("confusion", (text,), {"confusion": pa.table({text or "x": [text], "count": [3]})}),
        AnalysisResult("map", (text,), {"joint": pa.table({"sample": [text], "x": [1.0]})}),
        AnalysisResult("curve", reason=text or "why not"),
    ]


def content(text: str = "why", rows: int = 30, **changed: Any) -> ReportContent:
    """Everything that a report can tell, with one text wherever a text may come from somebody else."""
    finding = Finding(text, "error", text, where={text: text}, evidence={text: [text]}, source=text)
    made: dict[str, Any] = {
        "head": Head(text, text, [(text, text)], {text: text}, text, "sick"),
        "scores": [Score(text, 100, 1, "accuracy", 0.97, 0.93, 0.99)],
        "findings": [finding],
        "parts": parts(text, rows),
        "previews": {f"{text}/{row}": png(row) for row in range(rows)},
        "figures": [Drawn("map", text, text, png(side=64)), Drawn("curve", text, text, reason=text)],
        "series": [ReportSeries(text, text, [1.0, 0.5, None, float("nan"), 0.1], 1.0, 0.1, 40)],
        "tests": [ReportTest(text, "failed", text), ReportTest(text, "passed", text)],
        "fixes": [Fix(text, text, [(text, text, text)])],
        "damage": [text],
        "missing": [("to label", text)],
        "limits": [text],
    }
    return ReportContent(**{**made, **changed})


def report(given: ReportContent, most_bytes: int = 5_000_000) -> Made:
    return make_report(given, made=WHEN, version="1.2.3", most_bytes=most_bytes)
