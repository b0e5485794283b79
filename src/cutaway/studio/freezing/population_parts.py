"""What is taken along of a population: its map, its columns, every row of its table, and what was concluded about it.

Rows are asked for by number on the page, and no list of questions holds all choices: the copy has all rows in one
answer, out of which the page takes those that it shows (ui/src/api/frozen_rules.ts).
"""

from __future__ import annotations

from typing import Any

from cutaway.studio.freezing.taking import Taker, pairs

__all__ = ["MOST_ROWS", "take_population"]

MOST_ROWS = 200_000
MOST_COLUMNS = 60
MOST_SUGGESTIONS = 1000
MOST_EVALUATIONS = 10


def take_population(take: Taker) -> dict[str, Any] | None:
    """Take the pages of a population along; return what is known of it, or None where there is none."""
    detail: dict[str, Any] | None = take.take("population")
    if detail is None:
        return None
    _map(take, detail)
    _rows(take, detail)
    _conclusions(take)
    return detail


def _map(take: Taker, detail: dict[str, Any]) -> None:
    take.take("population/points.arrow")
    for method in detail["maps"]:
        take.take("population/points.arrow", pairs(method=method))
    columns = [column["name"] for column in detail["columns"]]
    if len(columns) > MOST_COLUMNS:
        take.left_out.append(f"{len(columns) - MOST_COLUMNS:,} of {len(columns):,} columns of the population.")
    for column in columns[:MOST_COLUMNS]:
        take.take("population/columns.arrow", pairs(column=column))
    take.take("population/clusters")
    # The slider over evaluations: where the same samples lie in each of the others.
    others = [one["number"] for one in detail["evaluations"] if one["number"] != detail["evaluation"]]
    for number in others[-MOST_EVALUATIONS:]:
        take.take("population/points.arrow", pairs(evaluation=number, like=detail["evaluation"]))


def _rows(take: Taker, detail: dict[str, Any]) -> None:
    rows, _ = take.rows("population/search", pairs(sort="-loss"), most=MOST_ROWS)
    if len(rows) < detail["samples"]:
        take.left_out.append(f"{detail['samples'] - len(rows):,} of {detail['samples']:,} rows of the population.")
    take.name_samples(row["sample"] for row in rows[:200])
    take.keep("population/rows", (), sorted(rows, key=lambda row: int(row["row"])))


def _conclusions(take: Taker) -> None:
    found = take.take("insights") or {}
    for insight in found.get("insights", []):
        take.name_samples(insight["samples"])
    for decided in ("", "open", "decided", "all"):
        rows = take.take_list("suggestions", pairs(decided=decided), most=MOST_SUGGESTIONS)
        take.name_samples(row["sample"] for row in rows[:300])
    take.take("tests")
    take.take("/tests", pairs(run=take.run))
    take.take("selections")
    take.take("model")
