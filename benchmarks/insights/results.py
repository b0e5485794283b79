"""Turns what was measured into rows with their bars. Pure: no clock, no files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.figures import Bar, Estimate, Side
from benchmarks.insights.planted import ALL_WRONG, CLEAN, GAP, IMBALANCE, OVERFIT, WEAK
from benchmarks.population.results import Judge, share_of
from benchmarks.results import Absent, Answer, StoreRow

__all__ = ["BARS", "setting_rows", "total_rows"]

BARS = {
    "first": Bar(0.9, Side.AT_LEAST),
    "false": Bar(0.02),
    "claims": Bar(0.02),
    "named": Bar(0.8, Side.AT_LEAST),
    "exact": Bar(0),
}
# What a sickness is to be called: how the insight about it begins to say what to do, or its kind.
NAMED: dict[str, Callable[[Answer], bool]] = {
    GAP: lambda one: bool(one["kind"] == "domain-gap"),
    IMBALANCE: lambda one: bool(one["action"].startswith("Balance")),
    OVERFIT: lambda one: bool(one["kind"] == "overfitting"),
}
PLANTED = (WEAK, ALL_WRONG, GAP, IMBALANCE, OVERFIT)
Row = StoreRow | Absent


def setting_rows(name: str, answers: Sequence[Answer], judge: Judge) -> list[Row]:
    """One setting: where what was planted stands, all cases and seeds together, and what is said that is not so."""
    found = [one for answer in answers for one in answer["planted"].values()]
    error = np.mean([one["error"] for one in answers if one["case"] == CLEAN] or [float("nan")])
    missed = sum(not one["rank"] for one in found)
    late = sum(one["rank"] > 3 for one in found)
    told = f"right in {1 - error:.0%}; {missed} of {len(found)} not found, {late} later than third"
    rows: list[Row] = []
    if found:
        share = share_of(sum(1 <= one["rank"] <= 3 for one in found), len(found))
        rows.append(judge.row("first", f"first three: {name}", told, share))
    return rows


def total_rows(answers: Sequence[Answer], judge: Judge) -> list[Row]:
    """All settings together, by what was planted; then what is said that is not so."""
    rows: list[Row] = []
    for sickness in PLANTED:
        found = [answer["planted"][sickness] for answer in answers if sickness in answer["planted"]]
        if not found:
            continue
        ranks = np.bincount([one["rank"] for one in found], minlength=4)
        told = f"first {ranks[1]}, second {ranks[2]}, third {ranks[3]}, later {ranks[4:].sum()}, not found {ranks[0]}"
        rows.append(judge.row("first", f"first three: {sickness}", told, share_of(int(ranks[1:4].sum()), len(found))))
        told_of = [one for one in found if one["rank"]]
        if sickness in NAMED and told_of:
            right = sum(map(NAMED[sickness], told_of))
            told = f"{right} of {len(told_of)} that were found"
            rows.append(judge.row("named", f"  {sickness}, told as such", told, share_of(right, len(told_of))))
    return rows + _false_rows(answers, judge)


def _false_rows(answers: Sequence[Answer], judge: Judge) -> list[Row]:
    clean = [one for one in answers if one["case"] == CLEAN]
    rows: list[Row] = []
    if clean:
        false = [len(one["noise"]) + len(one["splits"]) for one in clean]
        told = f"{sum(false)} in {len(clean)} clean populations: about columns of noise, or that a random split differs"
        rows.append(
            judge.row("false", "false insights on clean data", told, share_of(sum(map(bool, false)), len(clean)))
        )
    slices = sum(one["slices"] for one in answers)
    noise = sum(len(one["noise"]) for one in answers)
    rows.append(judge.row("false", "noise in what is told", f"{noise} of {slices} slices told", _share(noise, slices)))
    for name, label in (
        ("balance", "balance, where the split is random"),
        ("memorised", "learned by heart, of what is not"),
        ("gaps", "domain gap, of what is none"),
    ):
        count = sum(len(one[name]) for one in answers)
        told = f"{count} of {slices} slices told"
        rows.append(judge.row("claims", f"false claims: {label}", told, _share(count, slices)))
    wrong = sum(len(one["inexact"]) for one in answers)
    told = f"{slices} slices in {len(answers)} populations; counts, shares and means"
    rows.append(judge.row("exact", "figures that differ from numpy", told, Estimate(wrong, wrong, wrong)))
    return rows


def _share(count: int, total: int) -> Estimate:
    return share_of(count, max(total, 1))
