"""Turns what scores were worth, case by case, into rows with their bars, a table by set and a curve. Pure."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.figures import Bar, Estimate, Side
from benchmarks.labels.planting import CLEAN
from benchmarks.population.results import Judge
from benchmarks.results import Absent, Answer, StoreRow

__all__ = ["BARS", "curve", "score_rows", "table_by_set"]

BARS = {
    "scores-best": Bar(-0.02, Side.AT_LEAST),
    "scores-loss": Bar(-0.01, Side.AT_LEAST),
    "scores-number": Bar(0.9, Side.AT_LEAST),
    "scores-interval": Bar(0.85, Side.AT_LEAST),
    "scores-clean": Bar(0.005),
    "scores-bins": Bar(0.1),
    "scores-relabelled": Bar(0.95, Side.AT_LEAST),
    "scores-touched": Bar(0.005),
}
FACTOR = 1.5
# A range of scores is judged by so many samples.
FEWEST = 100
Row = StoreRow | Absent


def score_rows(name: str, answers: list[Answer], judge: Judge) -> list[Row]:
    """The rows of some cases, such as those that were held back."""
    noisy = [one for one in answers if one["wrong"]]
    clean = [one for one in answers if not one["wrong"]]
    return [
        *_order_rows(name, noisy, judge),
        *_number_rows(name, [one for one in noisy if one["told"]], len(noisy), judge),
        *_clean_rows(name, clean, judge),
        _bin_row(name, answers, judge),
        _relabel_row(name, answers, judge),
    ]


def _order_rows(name: str, answers: list[Answer], judge: Judge) -> list[Row]:
    rows: list[Row] = []
    for key, beside in (("scores-best", "the best signal"), ("scores-loss", "the final loss")):
        label = f"scores: {name}, average precision above {beside}, lowest"
        if not answers:
            rows.append(Absent(label, "no case with wrong labels"))
            continue
        above = np.array([_above(one, key) for one in answers])
        worst = answers[int(above.argmin())]
        least = BARS[key].value
        told = (
            f"{len(above)} cases, {int((above < least).sum())} below {least:g}; mean {above.mean():+.3f}; lowest: "
            f"{_case(worst)}"
        )
        rows.append(judge.row(key, label, told, _exactly(float(above.min()))))
    theirs = [one for one in answers if isinstance(one.get("margin_precision"), float)]
    if theirs:
        ours = np.mean([one["precisions"]["ours"] for one in theirs])
        peer = np.mean([one["margin_precision"] for one in theirs])
        told = f"{len(theirs)} cases; ours {ours:.3f}, cleanlab out of fold {peer:.3f}"
        rows.append(judge.row(None, f"  {name}, mean above cleanlab", told, _exactly(float(ours - peer))))
    return rows


def _above(answer: Answer, key: str) -> float:
    """How far our average precision lies above the best signal alone, or above the loss."""
    found = answer["precisions"]
    others = [value for one, value in found.items() if one != "ours"]
    return float(found["ours"] - (max(others) if key == "scores-best" else found["loss"]))


def _number_rows(name: str, told: list[Answer], asked: int, judge: Judge) -> list[Row]:
    label = f"scores: {name}, expected number within a factor of {FACTOR:g}"
    if not told:
        return [Absent(label, "no case had a number")]
    close = np.mean([one["wrong"] / FACTOR <= one["expected"] <= one["wrong"] * FACTOR for one in told])
    inside = np.mean([one["low"] <= one["wrong"] <= one["high"] for one in told])
    said = f"{len(told)} of {asked} cases had a number"
    return [
        judge.row("scores-number", label, said, _exactly(float(close))),
        judge.row("scores-interval", f"scores: {name}, interval holds the truth", said, _exactly(float(inside))),
    ]


def _clean_rows(name: str, clean: list[Answer], judge: Judge) -> list[Row]:
    label = f"scores: {name}, clean, largest share expected"
    told = [one for one in clean if one["told"]]
    if not told:
        return [Absent(label, "no clean case had a number")]
    largest = max(one["expected"] / one["samples"] for one in told)
    touched = max((one["relabelled"] + one["dropped"]) / one["samples"] for one in clean)
    said = f"{len(told)} of {len(clean)} cases had a number"
    return [
        judge.row("scores-clean", label, said, _exactly(largest)),
        judge.row("scores-touched", f"scores: {name}, clean, largest share that fix changes", said, _exactly(touched)),
    ]


def _bin_row(name: str, answers: list[Answer], judge: Judge) -> Row:
    lines = [one for one in curve(answers) if one["count"] >= FEWEST]
    label = f"scores: {name}, largest gap of a range of scores"
    if not lines:
        return Absent(label, "no case had scores")
    gaps = [abs(one["score"] - one["share"]) for one in lines]
    said = ", ".join(f"{one['score']:.2f}: {one['share']:.2f}" for one in lines)
    return judge.row("scores-bins", label, f"score: share wrong; {said}", _exactly(max(gaps)))


def _relabel_row(name: str, answers: list[Answer], judge: Judge) -> Row:
    label = f"scores: {name}, labels that fix gives and are right"
    names = ("relabelled", "relabelled_right", "dropped", "dropped_wrong", "wrong")
    count, right, dropped, dropped_wrong, wrong = (sum(one[key] for one in answers) for key in names)
    if not count:
        return Absent(label, "no label was given")
    said = f"{count:,} of {wrong:,} wrong ones relabelled; {dropped:,} dropped, {dropped_wrong:,} of them wrong"
    return judge.row("scores-relabelled", label, said, _exactly(right / count))


def curve(answers: list[Answer]) -> list[dict[str, Any]]:
    """Mean score, share wrong and count of each range of scores, all cases together."""
    bins: dict[float, list[dict[str, Any]]] = {}
    for answer in answers:
        for row in answer.get("bins", []):
            bins.setdefault(row["from"], []).append(row)
    found = []
    for start, rows in sorted(bins.items()):
        count = sum(one["count"] for one in rows)
        means = {name: sum(one[name] * one["count"] for one in rows) / count for name in ("score", "share")}
        found.append({"from": start, "to": rows[0]["to"], "count": count, **means})
    return found


def table_by_set(answers: list[Answer]) -> list[tuple[str, ...]]:
    """A line for each set and kind of wrong labels: what the order, the best signal and the number are worth."""
    lines = []
    for key in sorted({(one["setting"], one["kind"]) for one in answers}):
        mine = [one for one in answers if (one["setting"], one["kind"]) == key]
        told = [one for one in mine if one["told"]]
        numbers = f"{sum(one['expected'] for one in told):,.0f} of {sum(one['wrong'] for one in told):,}"
        spans = ("-",) * 3
        if key[1] != CLEAN:
            found = [one["precisions"] for one in mine]
            best = [max(value for name, value in one.items() if name != "ours") for one in found]
            ours, loss = ([one[name] for one in found] for name in ("ours", "loss"))
            spans = tuple(f"{np.mean(one):.3f}" for one in (ours, best, loss))
        lines.append((*key, *spans, f"{len(told)} of {len(mine)}", numbers if told else "-"))
    return lines


def _case(answer: Answer) -> str:
    return f"{answer['setting']}, {answer['epochs']} epochs, {answer['kind']}, seed {answer['seed']}"


def _exactly(value: float) -> Estimate:
    return Estimate(float(value), float(value), float(value))
