"""What is taken along of a population: its map, its columns, every row of its table, and what was concluded about it.

Rows are asked for by number on the page, and no list of questions holds all choices: the copy has all rows in one
answer, out of which the page takes those that it shows (ui/src/api/frozen_rules.ts).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cutaway.studio.freezing.asking import Pairs
from cutaway.studio.freezing.taking import Taker, pairs

__all__ = ["TakenPopulation", "take_population"]

MOST_ROWS, ROWS_A_QUESTION = 200_000, 500
WORST, FAIR = 200, 2000
MOST_COLUMNS = 60
MOST_SUGGESTIONS = 1000
# Of all evaluations but the one that is shown.
MOST_ROWS_OF_OTHERS = 50_000


@dataclass(frozen=True)
class TakenPopulation:
    """What was taken along: the evaluation that is shown by itself, its worst samples, and some of all."""

    evaluation: int
    worst: list[str]
    fair: list[str]


def take_population(take: Taker) -> TakenPopulation | None:
    """Take the pages of a population along; None where the run has none."""
    detail = take.take("population")
    if detail is None:
        return None
    rows = _take_evaluation(take, detail, None)
    _conclusions(take)
    _others(take, detail)
    fair = [str(row["sample"]) for row in rows[:: max(1, len(rows) // FAIR)]]
    return TakenPopulation(detail["evaluation"], _worst(rows), fair)


def _take_evaluation(take: Taker, detail: dict[str, Any], evaluation: int | None) -> list[dict[str, Any]]:
    """Take one evaluation along, and return its rows; the one that is shown by itself is named by no number."""
    of = pairs(evaluation=evaluation)
    for place, method in enumerate(detail["maps"]):
        named = [*of, *pairs(method=method)]
        # The first is shown where none is named.
        take.take("population/points.arrow", named, keys=[named] if place else [named, of])
    columns = [column["name"] for column in detail["columns"]]
    if len(columns) > MOST_COLUMNS:
        take.left_out.append(f"{len(columns) - MOST_COLUMNS:,} of {len(columns):,} columns of the population.")
    for column in ["row", *columns[:MOST_COLUMNS]]:
        take.take("population/columns.arrow", [*of, *pairs(column=column)])
    take.take("population/clusters", of)
    rows = _take_rows(take, of, detail["samples"])
    take.name_samples(_worst(rows))
    return rows


def _worst(rows: list[dict[str, Any]]) -> list[str]:
    ordered = sorted(rows, key=lambda row: (row["loss"] is None, -(row["loss"] or 0.0)))
    return [str(row["sample"]) for row in ordered[:WORST]]


def _take_rows(take: Taker, of: Pairs, samples: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for start in range(0, min(samples, MOST_ROWS), ROWS_A_QUESTION):
        numbers = list(range(start, min(start + ROWS_A_QUESTION, samples, MOST_ROWS)))
        rows += take.look("population/rows", [*of, *pairs(row=numbers)]) or []
    if len(rows) < samples:
        take.left_out.append(f"{samples - len(rows):,} of {samples:,} rows of the population.")
    take.keep("population/rows", of, rows)
    return rows


def _others(take: Taker, detail: dict[str, Any]) -> None:
    """Take along what the slider over evaluations leads to, the newest first."""
    numbers = [one["number"] for one in detail["evaluations"] if one["finished"]]
    room = MOST_ROWS_OF_OTHERS
    for number in sorted(set(numbers) - {detail["evaluation"]}, reverse=True):
        room -= detail["samples"]
        if room < 0:
            take.left_out.append(f"Evaluation {number} and those before it.")
            return
        other = take.take("population", pairs(evaluation=number))
        if other is not None:
            _take_evaluation(take, other, number)


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
