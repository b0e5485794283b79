"""Turns what was measured into rows with their bars. Pure: no clock, no files."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.figures import Bar, Estimate, Floats, Side
from benchmarks.labels.figures import mean_over_seeds
from benchmarks.labels.planting import CLEAN
from benchmarks.population.results import Judge, share_of
from benchmarks.results import Absent, Answer, StoreRow

__all__ = ["BARS", "finding_rows", "mending_rows", "reliability_lines", "slice_rows", "verdict_rows", "whole_rows"]

BARS = {
    "found-MNIST-uniform": Bar(0.985, Side.AT_LEAST),
    "found-MNIST-confusable": Bar(0.975, Side.AT_LEAST),
    "found-digits-uniform": Bar(0.98, Side.AT_LEAST),
    "found-digits-confusable": Bar(0.98, Side.AT_LEAST),
    "above": Bar(1, Side.AT_LEAST),
    "named-MNIST": Bar(0.97, Side.AT_LEAST),
    "named-digits": Bar(0.96, Side.AT_LEAST),
    "accepted": Bar(0.95, Side.AT_LEAST),
    "changed": Bar(0.95, Side.AT_LEAST),
    "touched": Bar(0.005),
    "unharmed": Bar(0, Side.AT_LEAST),
    "verdicts": Bar(0.95, Side.AT_LEAST),
    "slices": Bar(18, Side.AT_LEAST),
    "slices-fewest": Bar(15, Side.AT_LEAST),
    "slices-false": Bar(5),
    "whole-seconds": Bar(120),
    "whole-memory": Bar(4000),
    "whole-progress": Bar(1, Side.AT_LEAST),
}
Row = StoreRow | Absent


def finding_rows(case: Answer, answers: list[Answer], judge: Judge) -> list[Row]:
    """One kind and rate of wrong labels in one setting, over its seeds."""
    setting, kind = case["setting"], case["kind"]
    label = f"{setting}, {case['rate']:.0%} {kind}"
    ours = _floats([one["precision"] for one in answers])
    rows: list[Row] = [
        judge.row(
            f"found-{setting}-{kind}",
            f"mislabeled: {label}, average precision, lowest seed",
            f"{_each(ours)}; training {_mean(answers, 'training'):.0f} s, looking {_mean(answers, 'looking'):.0f} s",
            _exactly(float(ours.min())),
        )
    ]
    rows += _peer_rows(label, answers, ours, judge)
    wrong = sum(one["wrong"] for one in answers)
    named = [one["named"] / one["wrong"] for one in answers]
    rows.append(
        judge.row(
            f"named-{setting}",
            f"mislabeled: {label}, suggested label right",
            f"of {wrong:,} planted; lowest seed {min(named):.3f}",
            share_of(sum(one["named"] for one in answers), wrong),
        )
    )
    expected = sum(one["expected"] for one in answers)
    errors = _floats([one["calibration_error"] for one in answers])
    told = f"the scores expect {expected:,.0f} wrong, {wrong:,} are; lowest seed first: {_each(np.sort(errors))}"
    rows.append(judge.row(None, f"  {label}, expected calibration error, highest", told, _exactly(float(errors.max()))))
    return [*rows, accepted_row(label, answers, judge)]


def _peer_rows(label: str, answers: list[Answer], ours: Floats, judge: Judge) -> list[Row]:
    """In how many seeds ours is above each peer, and what its further trainings cost."""
    rows: list[Row] = []
    for key, name in (("loss_precision", "out-of-fold loss"), ("margin_precision", "cleanlab")):
        shown = f"mislabeled: {label}, seeds above {name}"
        if all(key not in one for one in answers):
            continue
        missing = next((one[key] for one in answers if not isinstance(one.get(key), float)), None)
        if missing is not None:
            rows.append(Absent(shown, str(missing)))
            continue
        theirs = _floats([one[key] for one in answers])
        above = float((ours > theirs).mean())
        extra = f"{_mean(answers, 'folds_seconds'):.0f} s more training"
        rows.append(judge.row("above", shown, f"it has {_each(theirs)}; {extra}", _exactly(above)))
    return rows


def accepted_row(label: str, answers: list[Answer], judge: Judge) -> Row:
    """Of the corrections that `cutaway fix` accepts, how many were wrong labels."""
    names = ("accepted", "accepted_wrong", "accepted_right", "dropped", "dropped_wrong", "wrong")
    count, wrong, right, dropped, dropped_wrong, planted = (sum(one[name] for one in answers) for name in names)
    shown = f"fix: {label}, accepted labels that were wrong"
    if not count:
        return Absent(shown, "no correction was accepted")
    told = (
        f"{count:,} accepted, {wrong / planted:.0%} of the {planted:,} planted; {right / count:.3f} got the right "
        f"label; {dropped:,} dropped, {dropped_wrong:,} of them wrong"
    )
    return judge.row("accepted", shown, told, share_of(wrong, count))


def mending_rows(setting: str, answers: list[Answer], judge: Judge) -> list[Row]:
    """What was changed of one data set and what that bought, over seeds and kinds of wrong labels."""
    clean = [one for one in answers if one["kind"] == CLEAN]
    noisy = [one for one in answers if one["kind"] != CLEAN]
    return [_changed_row(setting, noisy, judge), _touched_row(setting, clean, judge), _gain_row(setting, noisy, judge)]


def _changed_row(setting: str, answers: list[Answer], judge: Judge) -> Row:
    label = f"fix: {setting}, changes that were right"
    names = ("accepted", "accepted_right", "dropped", "dropped_wrong", "accepted_wrong", "wrong")
    relabelled, right, dropped, wrong, found, planted = (sum(one[name] for one in answers) for name in names)
    if not relabelled + dropped:
        return Absent(label, "nothing was changed")
    theirs = _peers(answers)
    pruned, pruned_wrong = (sum(one[name] for one in theirs) for name in ("pruned", "pruned_wrong"))
    told = (
        f"{relabelled:,} relabelled, {_share(right, relabelled)} right; {dropped:,} dropped, {_share(wrong, dropped)} "
        f"wrong; {_share(found + wrong, planted)} of {planted:,} planted"
    )
    if theirs:
        share = f"{_share(pruned_wrong, pruned)} wrong, {_share(pruned_wrong, planted)} of the planted"
        told += f"; cleanlab prunes {pruned:,}, {share}"
    return judge.row("changed", label, told, share_of(right + wrong, relabelled + dropped))


def _touched_row(setting: str, answers: list[Answer], judge: Judge) -> Row:
    touched, samples = (sum(one[name] for one in answers) for name in ("accepted", "samples"))
    touched += sum(one["dropped"] for one in answers)
    theirs = _peers(answers)
    told = f"{touched:,} of {samples:,} with no label planted"
    if theirs:
        told += f"; cleanlab prunes {_share(sum(one['pruned'] for one in theirs), samples)}"
    return judge.row("touched", f"fix: {setting}, clean, share touched", told, _exactly(touched / samples))


def _gain_row(setting: str, answers: list[Answer], judge: Judge) -> Row:
    """The mean gain in points of accuracy, the same seeds before and after."""
    clean, noisy, fixed = (100 * _floats([one[name] for one in answers]) for name in ("clean", "noisy", "fixed"))
    told = f"{len(answers)} pairs: {noisy.mean():.2f} % to {fixed.mean():.2f} %, right labels {clean.mean():.2f} %"
    theirs = _peers(answers)
    if len(theirs) == len(answers):
        pruned = 100 * _floats([one["accuracy"] for one in theirs])
        told += f"; cleanlab's pruning {mean_over_seeds(pruned - noisy)}"
    return judge.row("unharmed", f"fix: {setting}, points gained", told, mean_over_seeds(fixed - noisy))


def _peers(answers: list[Answer]) -> list[Answer]:
    return [one["peer"] for one in answers if isinstance(one.get("peer"), dict)]


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else "none"


def verdict_rows(verdicts: list[str], judge: Judge) -> list[Row]:
    """What is said of corrections that change nothing that matters."""
    none = sum(one == "no difference found" for one in verdicts)
    told = ", ".join(f"{verdicts.count(one)} {one}" for one in ("better", "worse"))
    label = "fix: no difference found where there is none"
    return [judge.row("verdicts", label, f"{len(verdicts)} trials of 5 repeats; {told}", share_of(none, len(verdicts)))]


def slice_rows(planted: dict[str, list[Answer]], clean: list[Answer], judge: Judge) -> list[Row]:
    """Planted slices that were found, by how overlapping ones combine; what was found where there is nothing."""
    rows: list[Row] = []
    for combining, answers in planted.items():
        found = _floats([one["found"] for one in answers])
        off = sum(one["off_target"] for one in answers)
        reported = sum(one["reported"] for one in answers)
        seconds = _mean(answers, "cpu_seconds")
        told = f"{len(found)} tables; {reported} reported, {off} outside all; {seconds:.1f} CPU s each"
        judged = combining == "add"
        label = "slices: found of 20 planted, mean" if judged else "  found where overlaps do not add up, mean"
        rows.append(judge.row("slices" if judged else None, label, told, _exactly(float(found.mean()))))
        label = "slices: found of 20 planted, fewest" if judged else "  found where overlaps do not add up, fewest"
        fewest = _exactly(float(found.min()))
        rows.append(judge.row("slices-fewest" if judged else None, label, _counts(found), fewest))
    if clean:
        false = sum(one["false"] for one in clean)
        heavy = sum(one["false"] for one in clean if one["heavy"])
        tables = f"{len(clean)} clean tables"
        told = f"{sum(one['false'] > 0 for one in clean)} tables with any; {heavy} where losses have heavy tails"
        rows.append(judge.row("slices-false", f"slices: false ones in {tables}", told, _exactly(false)))
    return rows


def whole_rows(made: Answer, answer: Answer, judge: Judge) -> list[Row]:
    """Time, memory and progress of `cutaway analyze`."""
    problems = () if answer["code"] == 0 else (f"it ended with {answer['code']}: {answer['last']}",)
    done = [one for one in answer["parts"] if not one["reason"]]
    longest = sorted(done, key=lambda one: -one["seconds"])
    parts = ", ".join(f"{one['part']} {one['seconds']:.0f}" for one in longest if one["seconds"] >= 1)
    size = f"whole: cutaway analyze, {made['samples']:,} samples"
    skipped = [one["part"] for one in answer["parts"] if one["reason"]]
    # Where others use the cores, this says how long it would have taken without them.
    busy = f"{answer['cpu_seconds']:.0f} s of CPU"
    besides = f"; does not apply: {', '.join(skipped)}" if skipped else ""
    data = f"{made['data']}; evaluating them took {made['evaluating']:.0f} s"
    return [
        judge.row(
            "whole-seconds", f"{size}, seconds", f"{busy}; {parts}{besides}", _exactly(answer["seconds"]), problems
        ),
        judge.row("whole-memory", f"{size}, peak memory, MB", data, _exactly(answer["peak_mb"]), problems),
        judge.row("whole-progress", f"{size}, lines of progress", "one every 10 s", _exactly(answer["progress"])),
    ]


def reliability_lines(answers: list[Answer]) -> list[tuple[str, ...]]:
    """Scores against what they promise, all seeds of a setting together: a row for each range of scores."""
    bins: dict[float, list[dict[str, Any]]] = {}
    for one in answers:
        for row in one["bins"]:
            bins.setdefault(row["from"], []).append(row)
    lines: list[tuple[str, ...]] = []
    for start in sorted(bins):
        rows = bins[start]
        count = sum(one["count"] for one in rows)
        score = sum(one["score"] * one["count"] for one in rows) / count
        share = share_of(round(sum(one["share"] * one["count"] for one in rows)), count)
        ends = f"{start:.1f} - {rows[0]['to']:.1f}"
        between = f"[{share.low:.3f}, {share.high:.3f}]"
        lines.append((ends, f"{count:,}", f"{score:.3f}", f"{share.median:.3f}", between))
    return lines


def _each(values: Floats) -> str:
    return ", ".join(f"{value:.4f}" for value in values)


def _counts(found: Floats) -> str:
    return ", ".join(f"{value:.0f}" for value in found)


def _mean(answers: list[Answer], name: str) -> float:
    return float(np.mean([one[name] for one in answers]))


def _exactly(value: float) -> Estimate:
    return Estimate(float(value), float(value), float(value))


def _floats(values: Any) -> Floats:
    return np.asarray(values, np.float64)
