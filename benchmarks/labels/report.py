"""Renders the rows and the reliability of the scores as plain text and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.population.report import cells, problem_lines
from benchmarks.report import STORE_HEAD, markdown_table, text_table
from benchmarks.results import Absent, StoreRow

__all__ = ["LEGEND", "markdown", "text"]

HEAD = ("labels", *STORE_HEAD[1:])
RELIABILITY = ("score", "labels", "mean score", "share wrong", "95 % interval")
LEGEND = (
    "mislabeled: from one training with the hook on it, evaluated into its run; Population.mislabeled() of that run.",
    "  peers: the same network and epochs in each of 4 folds; the loss, and cleanlab's normalized margin, out of fold.",
    "  seeds above: the share of seeds in which our average precision is higher.",
    "fix: what cutaway fix changes by itself. right: relabelled as before, or dropped with a wrong label.",
    "  clean: with no label planted. points gained: mean over pairs of trainings of a seed, with Student's interval.",
    "  cleanlab prunes what find_label_issues finds by the predictions out of fold.",
    "slices: tables of 20,000 rows and 30 columns; found means a Jaccard index of at least 0.5.",
    "whole: the command from its start to its end, on a run that nobody analysed yet; seconds of its longest parts.",
    "verdict: missed only if the whole interval lies beyond the bar; void if the figure was bought by a wrong answer.",
)

Rows = Sequence[StoreRow | Absent]
Reliability = Mapping[str, list[tuple[str, ...]]]


def text(about: dict[str, str], rows: Rows, reliability: Reliability, notes: list[str]) -> str:
    """For a terminal."""
    parts = [" · ".join(f"{name} {value}" for name, value in about.items()), *notes]
    parts += [text_table(HEAD, [cells(row) for row in rows]), "\n".join(LEGEND), *problem_lines(rows)]
    for name, lines in reliability.items():
        parts += [f"How often a label with such a score is wrong, {name}:", text_table(RELIABILITY, lines)]
    return "\n\n".join(parts) + "\n"


def markdown(about: dict[str, str], rows: Rows, reliability: Reliability, notes: list[str]) -> str:
    """For the documentation."""
    parts = ["; ".join(f"{name}: {value}" for name, value in about.items()), *notes]
    parts += [markdown_table(HEAD, [cells(row) for row in rows]), *problem_lines(rows)]
    for name, lines in reliability.items():
        parts += [f"How often a label with such a score is wrong, {name}:", markdown_table(RELIABILITY, lines)]
    return "\n\n".join(parts) + "\n"
