"""The figures of insights, each from its definition: counts, shares, means there and elsewhere, intervals."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from scripts.check_numbers.ledger import Figures, number_of, numbers_in
from scripts.check_numbers.look import Look
from scripts.check_numbers.reckoning import Answers, Bools, Floats, clipped, newcombe, percent, welch

__all__ = ["check_insights"]

HELD_OUT, LIKELY, LOSS = "validation", 0.5, 1e-5
# Where so many held-out answers are wrong, errors are judged; where fewer are, losses.
FEWEST_ERRORS = 25
# The faults that were planted: without them half of the definitions would not be looked at.
PLANTED = ("low-performance", "domain-gap", "mislabeled-samples", "data-leakage")
Wanted = dict[str, float]


def check_insights(look: Look, true: Answers) -> None:
    """Compare every insight of a run, as the API has it and on its card."""
    answer, judged = look.ask("insights")["insights"], _Judged(true)
    page = look.show("insights", "li[data-insight], .missing")
    look.number("insights", "page insights", page.locator("li[data-insight]").count(), len(answer))
    for one in answer:
        made = _DEFINITIONS.get(one["kind"])
        wanted = {} if made is None else made(look, judged, one)
        _api(look, one, wanted)
        _card(look, one, wanted)
    told = {one["kind"] for one in answer}
    for kind in PLANTED:
        look.number(f"an insight of kind {kind}", "GET runs/{run}/insights", int(kind in told), 1)


class _Judged:
    """What insights judge samples by: whether the answer is wrong; where few are, the loss, cut off at its ends."""

    def __init__(self, true: Answers) -> None:
        self.true, self.rows, self.training = true, true.of(HELD_OUT), true.of("training")
        wrong = (~true.right).astype(np.float64)
        self.measure = "error" if wrong[self.rows].sum() >= FEWEST_ERRORS else "loss"
        self.outcome: Floats = wrong if self.measure == "error" else clipped(true.losses, true.of(None))

    def interval(self, inside: Bools) -> tuple[float, float]:
        """Return the 95 % interval of the difference between some of the judged samples and the others."""
        own, other = self.outcome[self.rows & inside], self.outcome[self.rows & ~inside]
        if self.measure == "error":
            return newcombe((float(own.sum()), float(other.sum())), (len(own), len(other)))
        return welch(own, other)


def _weak_slice(look: Look, judged: _Judged, one: dict[str, Any]) -> Wanted:
    """A slice of the judged samples: how many, which share of them, and their mean against that of the others."""
    rows = _meant(look, judged.true, one["where"])
    inside, outside = judged.rows & rows, judged.rows & ~rows
    low, high = judged.interval(rows)
    return {
        "count": int(inside.sum()), "share": float(inside.sum() / judged.rows.sum()),
        "inside": float(judged.outcome[inside].mean()), "outside": float(judged.outcome[outside].mean()),
        "low": low, "high": high,
    }  # fmt: skip


def _meant(look: Look, true: Answers, conditions: list[str]) -> Bools:
    """Return the samples for which conditions hold; those of a cluster as the run has them."""
    from scripts.check_numbers.of_evaluation import clusters_of

    own = [condition for condition in conditions if not condition.startswith("cluster")]
    rows = true.where(own)
    for condition in set(conditions) - set(own):
        rows = rows & (clusters_of(look, true) == number_of(condition))
    return rows


def _wrong_labels(look: Look, judged: _Judged, one: dict[str, Any]) -> Wanted:
    """The labels that are more likely wrong than right: of all labels of the subsets that have any such."""
    likely = [row for row in look.session.kept["ranked"] if row["score"] >= LIKELY]
    total = _samples_of(judged.true, one["subset"])
    expected = float(sum(row["score"] for row in likely))
    return {"count": len(likely), "share": len(likely) / total, "inside": expected / total}


def _samples_of(true: Answers, subsets: str) -> int:
    return sum(int(true.of(subset).sum()) for subset in ("training", "validation") if subset in subsets)


def _leaks(look: Look, judged: _Judged, one: dict[str, Any]) -> Wanted:
    """The samples of a subset that are in another one, too: of that subset."""
    return _named(look, judged, one, "leakage", lambda row: row["subset"] == one["subset"] != row["other_subset"])


def _doubles(look: Look, judged: _Judged, one: dict[str, Any]) -> Wanted:
    """The samples that repeat another one of their subset: of all samples of the subsets that have any such."""
    return _named(look, judged, one, "duplicates", lambda row: row["subset"] == row["other_subset"])


def _named(
    look: Look, judged: _Judged, one: dict[str, Any], what: str, meant: Callable[[dict[str, Any]], bool]
) -> Wanted:
    from scripts.check_numbers.of_analyses import table_of

    count = len({row["sample"] for row in table_of(look, what) if meant(row)})
    return {"count": count, "share": count / _samples_of(judged.true, one["subset"])}


def _overfitting(look: Look, judged: _Judged, one: dict[str, Any]) -> Wanted:
    """The held-out mean against that of training, of all samples or of a slice."""
    rows = _meant(look, judged.true, one["where"])
    if not one["where"] and one["share"] != 1:
        return {}  # a place in latent space, which no condition tells
    held, trained = judged.rows & rows, judged.training & rows
    return {"count": int(held.sum()), "share": float(held.sum() / judged.rows.sum()),
            "inside": float(judged.outcome[held].mean()), "outside": float(judged.outcome[trained].mean())}  # fmt: skip


def _gap(look: Look, judged: _Judged, one: dict[str, Any]) -> Wanted:
    """A whole subset that differs: how often the value that differs most is in it, and in the other one.

    A slice that looks different in training is counted as any other slice.
    """
    if one["where"] and not one["where"][0].startswith("subset "):
        return _weak_slice(look, judged, one)
    inside = judged.true.of(one["subset"])
    wanted = {"count": int(inside.sum()), "share": 1.0}
    value = re.search(r"scanner (?:= )?(\w+)", f"{one['measure']} {one['words']}")
    if "scanner" in one["measure"] and value is not None:
        for name, rows in (("inside", inside), ("outside", ~inside)):
            wanted[name] = float((judged.true.columns["scanner"][rows] == value[1]).mean())
    return wanted


_DEFINITIONS: dict[str, Callable[[Look, _Judged, dict[str, Any]], Wanted]] = {
    "low-performance": _weak_slice,
    "mislabeled-samples": _wrong_labels,
    "data-leakage": _leaks,
    "duplication": _doubles,
    "overfitting": _overfitting,
    "domain-gap": _gap,
}


def _name(one: dict[str, Any]) -> str:
    return f"{one['kind']} {' and '.join(one['where']) or one['subset']}"


def _api(look: Look, one: dict[str, Any], wanted: Wanted) -> None:
    for figure, value in wanted.items():
        look.number(f"{_name(one)}, {figure}", "GET runs/{run}/insights", one[figure], value, Figures(5, LOSS))


def _card(look: Look, one: dict[str, Any], wanted: Wanted) -> None:
    """Compare the facts of a card, its two figures, and its sentence."""
    where, card, name = "page insights", f"li[data-insight='{one['id']}']", _name(one)
    facts = numbers_in(look.studio.text(f"{card} .facts .of") or "")
    for place, (figure, times, rounding) in enumerate((("count", 1, Figures(9)), ("share", 100, Figures(3)))):
        if figure in wanted:
            shown = facts[place] if place < len(facts) else None
            look.number(f"{name}, {figure}", where, shown, times * wanted[figure], rounding)
    if "inside" in wanted and "outside" in wanted:
        values = look.studio.texts(f"{card} .figure .value")
        for place, figure in enumerate(("inside", "outside")):
            shown_text = values[place] if place < len(values) else None
            times = 100 if "%" in (shown_text or "") else 1
            look.number(f"{name}, {figure}", where, shown_text, times * wanted[figure], Figures(3, LOSS))
    parts = _parts(one, wanted)
    if parts:
        look.says(f"{name}, its sentence", where, look.studio.text(f"{card} h3"), *parts)


def _parts(one: dict[str, Any], wanted: Wanted) -> list[str]:
    """Return the figures that the sentence of an insight has, in their order."""
    if one["kind"] == "low-performance" and one["measure"] == "error":
        return [percent(wanted["inside"]), f"{wanted['count']:,.0f}", percent(wanted["outside"])]
    return [f"{wanted['count']:,.0f}", percent(wanted["share"])] if one["kind"] == "data-leakage" else []
