"""The insights' benchmark knows what it planted, holds half of it back, and its rows cannot hide a false claim."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.figures import Verdict
from benchmarks.insights import results
from benchmarks.insights.columns import NOISE
from benchmarks.insights.generated import GENERATED, draw
from benchmarks.insights.jobs import held_back, seeds_of
from benchmarks.insights.judging import judge_insights
from benchmarks.insights.planted import SICKNESSES
from benchmarks.insights.sources import tables, texts
from benchmarks.insights.trained import TRAINED, sick_parts
from benchmarks.population.results import Judge
from benchmarks.results import StoreRow
from cutaway.analysis.insights import Insight, Insights

JUDGE = Judge(bars=results.BARS)


def answered(case: str, rank: int = 1, **changes: Any) -> dict[str, Any]:
    found = {"rank": rank, "kind": "domain-gap", "action": "Balance: so many.", "words": "so"}
    planted = dict.fromkeys(SICKNESSES[case], found)
    none: dict[str, Any] = {name: [] for name in ("noise", "balance", "memorised", "gaps", "splits", "inexact")}
    return {"case": case, "slices": 100, "error": 0.1, "planted": planted, **none} | changes


def verdicts(*answers: dict[str, Any]) -> dict[str, Verdict]:
    rows = [row for row in results.total_rows(answers, JUDGE) if isinstance(row, StoreRow)]
    return {row.label: row.verdict for row in rows}


def test_half_of_the_settings_and_every_late_seed_are_held_back() -> None:
    for settings in (GENERATED, TRAINED):
        assert 2 <= 2 * sum(one.held_back for one in settings) <= 2 * len(settings)
    tuned = next(one for one in GENERATED if not one.held_back)
    assert [held_back(tuned, seed) for held in (False, True) for seed in seeds_of(2, held=held)] == [False] * 2 + [
        True
    ] * 2


@pytest.mark.parametrize("case", list(SICKNESSES))
def test_what_is_drawn_is_what_was_planted(case: str) -> None:
    made = draw(GENERATED[1], case, 0)
    table = made.samples.table
    assert table.num_rows == GENERATED[1].training + GENERATED[1].held
    assert set(table.column_names) >= NOISE
    wrong = ~np.asarray(table["correct"].to_pylist(), bool)
    held = np.asarray(table["subset"].to_pylist()) == "validation"
    assert set(made.planted) == set(SICKNESSES[case])
    for rows in made.planted.values():
        assert wrong[rows].mean() > wrong[held & ~rows].mean() + 0.05


@pytest.mark.parametrize("read", [tables, texts])
def test_generated_inputs_are_made_worse_and_their_classes_stay(read: Any) -> None:
    source = read(np.random.default_rng(0), None, 200)
    worse = source.worsen(np.random.default_rng(1), source.x)
    assert worse.shape == source.x.shape
    assert not np.allclose(worse, source.x)
    assert source.y.max() < source.classes


def test_a_gap_is_in_what_is_held_out_alone() -> None:
    camera, trained = np.array([True, True, False]), np.array([True, False, False])
    assert sick_parts(("gap",), camera, trained).tolist() == [False, True, False]
    assert sick_parts(("weak",), camera, trained).tolist() == [True, True, False]
    assert sick_parts((), camera, trained).tolist() == [False] * 3


def test_every_bar_is_held_where_everything_is_right() -> None:
    told = verdicts(*[answered("gap")] * 40, *[answered("clean")] * 200, *[answered("imbalance")] * 40)
    assert set(told.values()) == {Verdict.MET}


@pytest.mark.parametrize(
    ("label", "answers"),
    [
        ("first three: gap", [answered("gap", rank=5)] * 40),
        ("false insights on clean data", [answered("clean", noise=["a column of noise"])] * 40),
        ("noise in what is told", [answered("clean", noise=["noise"] * 9)] * 40),
        ("false claims: balance, where the split is random", [answered("clean", balance=["so"] * 9)] * 40),
        ("false claims: learned by heart, of what is not", [answered("clean", memorised=["so"] * 9)] * 40),
        ("false claims: domain gap, of what is none", [answered("clean", gaps=["so"] * 9)] * 40),
        ("figures that differ from numpy", [answered("clean", inexact=["so"])]),
    ],
)
def test_what_is_wrong_is_a_missed_bar(label: str, answers: list[dict[str, Any]]) -> None:
    assert verdicts(*answers)[label] == Verdict.MISSED


def test_an_insight_is_judged_by_its_rows_its_columns_and_its_figures() -> None:
    made = draw(GENERATED[1], "gap", 0)
    samples, rows = made.samples, made.planted["gap"]
    wrong = ~np.asarray(samples.table["correct"].to_pylist(), bool)
    held = np.asarray(samples.table["subset"].to_pylist()) == "validation"
    true = Insight(
        "low-performance", "words", rows, where=("metadata.camera = d",), subset="validation", measure="error",
        share=float(rows.sum() / held.sum()), inside=float(wrong[rows].mean()),
        outside=float(wrong[held & ~rows].mean()),
    )  # fmt: skip
    noise = Insight("overfitting", "noise", held, where=("metadata.shelf = 3",), measure="loss")
    judged = judge_insights(samples, Insights((noise, true)), made.planted)
    assert judged["planted"]["gap"]["rank"] == 2
    assert judged["noise"] == judged["memorised"] == ["noise"]
    assert judged["inexact"] == []
    off = Insight(**{**vars(true), "inside": true.inside + 0.01})
    assert judge_insights(samples, Insights((off,)), made.planted)["inexact"] == ["words"]
