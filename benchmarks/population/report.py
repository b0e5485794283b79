"""Renders the rows as a plain text table and as Markdown; differences and shares with the digits that they need."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.report import STORE_HEAD, markdown_table, text_table
from benchmarks.results import Absent, StoreRow

__all__ = ["LEGEND", "cells", "markdown", "problem_lines", "text"]

HEAD = ("population", *STORE_HEAD[1:])
LEGEND = (
    "map: seconds from the start of a process to the written map, Python and imports included; the peers' times over",
    "  ours. cold: the same of a peer, its compiled code not on disk unless said; warm: its second map in one process.",
    "  trustworthiness: k = 15, 2,000 fixed queries against all points, computed apart from ours.",
    "align: the samples that kept half of their 15 neighbours and their place, from epoch 1 to epoch 2; three seeds.",
    "similar: what is compared is faiss's IndexFlatL2 on the same vectors and threads. heat map: captum's own calls on",
    "  the same module and images, one thread. A Keras twin is compared in the tests, not here.",
    "sanity: better means that deleting what the map shows first beats all 20 random maps of its smoothness.",
    "verdict: missed only if the whole interval lies beyond the bar; void if the figure was bought by a wrong answer.",
)


def text(about: dict[str, str], rows: list[StoreRow | Absent], notes: list[str]) -> str:
    """For a terminal."""
    parts = [" · ".join(f"{name} {value}" for name, value in about.items()), *notes]
    parts += [text_table(HEAD, [cells(row) for row in rows]), "\n".join(LEGEND), *problem_lines(rows)]
    return "\n\n".join(parts) + "\n"


def markdown(about: dict[str, str], rows: list[StoreRow | Absent], notes: list[str]) -> str:
    """For the documentation."""
    parts = ["; ".join(f"{name}: {value}" for name, value in about.items()), *notes]
    parts += [markdown_table(HEAD, [cells(row) for row in rows]), *problem_lines(rows)]
    return "\n\n".join(parts) + "\n"


def cells(row: StoreRow | Absent) -> tuple[str, ...]:
    """The cells of a row; four digits tell 0.9849 from 0.9853 and 2e-7 from 0."""
    if isinstance(row, Absent):
        return (row.label, f"not measured: {row.reason}", *[""] * (len(HEAD) - 2))
    middle, low, high = (f"{value:.4g}" for value in (row.estimate.median, row.estimate.low, row.estimate.high))
    between = "-" if low == high else f"[{low}, {high}]"
    return (row.label, row.figures, middle, between, "-" if row.bar is None else str(row.bar), row.verdict.value)


def problem_lines(rows: Sequence[StoreRow | Absent]) -> list[str]:
    """Why rows are void, as one part of a report; nothing where none is."""
    lines = [f"{row.label.strip()}: {one}." for row in rows if isinstance(row, StoreRow) for one in row.problems]
    return ["\n".join(lines)] if lines else []
