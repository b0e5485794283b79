"""Renders the rows as plain text and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.population.report import cells, problem_lines
from benchmarks.report import STORE_HEAD, markdown_table, text_table
from benchmarks.results import Absent, StoreRow

__all__ = ["LEGEND", "markdown", "text"]

HEAD = ("insights", *STORE_HEAD[1:])
LEGEND = (
    "first three: planted slices that an insight with a Jaccard index of at least 0.5 names, at rank 1 to 3 of all.",
    "  weak: 8 % of the samples, of worse inputs. all wrong: 2.5 %, of other labels. gap: worse in validation alone.",
    "  imbalance: worse inputs, 1 % of training and 12 % of validation. overfit: right in training, wrong elsewhere.",
    "false: an insight about one of six columns of noise, or that validation of a random split differs from training.",
    "verdict: missed only if the whole interval lies beyond the bar.",
)

Rows = Sequence[StoreRow | Absent]


def text(about: dict[str, str], rows: Rows, notes: list[str]) -> str:
    """For a terminal."""
    parts = [" · ".join(f"{name} {value}" for name, value in about.items()), *notes]
    parts += [text_table(HEAD, [cells(row) for row in rows]), "\n".join(LEGEND), *problem_lines(rows)]
    return "\n\n".join(parts) + "\n"


def markdown(about: dict[str, str], rows: Rows, notes: list[str]) -> str:
    """For the documentation."""
    parts = ["; ".join(f"{name}: {value}" for name, value in about.items()), *notes]
    parts += [markdown_table(HEAD, [cells(row) for row in rows]), *problem_lines(rows)]
    return "\n\n".join(parts) + "\n"
