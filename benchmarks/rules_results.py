"""Turns what the workers of the rules' benchmark answered into rows. Pure: no clock, no files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.figures import (
    Bar,
    Estimate,
    Floats,
    Side,
    Verdict,
    median_interval,
    paired_ratios,
    ratio_interval,
    verdict,
)
from benchmarks.results import Answer, StoreRow

__all__ = ["BARS", "RuleShare", "command_row", "invoke_rows", "latency_row", "look_row", "slowdown_row", "slowest"]

BARS = {
    "look": Bar(5.0),
    "invoke": Bar(20.0, Side.AT_LEAST),
    "latency": Bar(2.0),
    "slowdown": Bar(1.01),
}
# The rules that must find what was planted in the long run.
EXPLODES, VANISHES = "ExplodingTensor", "VanishingGradient"
BROKEN, SKIPPED = "BROKEN", "SKIPPED"


@dataclass(frozen=True)
class RuleShare:
    """What one rule takes of a look at the long run."""

    rule: str
    status: str
    seconds: float
    share: float
    findings: int


def look_row(run: Answer, looks: Sequence[Answer]) -> StoreRow:
    """Seconds of all rules over the long run."""
    seconds = np.array([one["seconds"] for one in looks])
    rules = looks[-1]["rules"]
    skipped = sum(rule["status"] == SKIPPED for rule in rules)
    estimate = median_interval(seconds)
    per_step = estimate.median / run["steps"] * 1e6
    figures = f"{len(rules)} rules, {skipped} of them skipped; {per_step:.0f} microseconds a step"
    label = f"all rules over {run['steps']:,} steps x {run['tensors']} tensors, seconds"
    return _row("look", label, figures, estimate, _unseen(run, looks))


def command_row(answers: Sequence[Answer]) -> StoreRow:
    """Seconds of the whole command over the same run."""
    seconds = np.array([one["seconds"] for one in answers])
    label = "  `cutaway watch RUN` from its start to its end, seconds"
    return _row("command", label, "with the start of Python and all imports", median_interval(seconds), ())


def slowest(looks: Sequence[Answer], most: int = 5) -> list[RuleShare]:
    """The rules that took longest, each by its median over the looks; the share is of all rules together."""
    rules = looks[-1]["rules"]
    seconds = np.median([[rule["seconds"] for rule in one["rules"]] for one in looks], axis=0)
    shares = seconds / max(float(seconds.sum()), 1e-12)
    order = np.argsort(-seconds)[:most].tolist()
    return [
        RuleShare(rules[i]["rule"], rules[i]["status"], float(seconds[i]), float(shares[i]), rules[i]["findings"])
        for i in order
    ]


def invoke_rows(ours: Answer, peer: Answer | None, called: str, steps: int, expected: Sequence[int]) -> list[StoreRow]:
    """Our time a step with each rule, and how many times longer the peer takes with its rule."""
    rows = []
    for number, (name, repeats) in enumerate(ours["rules"].items()):
        own = _invoked(repeats)
        wrong = _misjudged("ours", repeats, expected)
        figures = _split(repeats, steps)
        label = f"invoke_rule, {name}: microseconds a step"
        rows.append(_row(f"own-{number}", label, figures, median_interval(own / steps * 1e6), wrong))
        if peer is None:
            continue
        (theirs,) = peer["rules"].values()
        problems = (*wrong, *_misjudged(called, theirs, expected))
        figures = f"{_split(theirs, steps)} / {_split(repeats, steps)}"
        estimate = ratio_interval(_invoked(theirs), own)
        key = "invoke" if number == 0 else f"invoke-{number}"
        rows.append(_row(key, f"  {called} / ours", figures, estimate, problems))
    return rows


def latency_row(answer: Answer) -> StoreRow:
    """The longest time from the end of a step until its finding was printed."""
    problems = tuple(f"never found: {plant}" for plant in answer["missed"])
    seconds = np.array(answer["seconds"] or [np.inf])
    worst = float(seconds.max())
    figures = f"worst of {len(answer['seconds'])}; median {np.median(seconds):.2f} s"
    return _row("latency", "a finding after its step's end, seconds", figures, Estimate(worst, worst, worst), problems)


def slowdown_row(answer: Answer) -> StoreRow:
    """The time of a step beside a watcher that runs over that beside one that stands still."""
    stopped, again, watched = (np.array(answer[name]) for name in ("stopped", "again", "watched"))
    own = np.concatenate([stopped, again]) / answer["steps"] * 1e3
    figures = (
        f"{np.median(own):.2f} ms a step; A/A {np.median(again / stopped):.3f}; "
        f"the watcher took {answer['watcher_cores'] * 100:.1f} % of a core"
    )
    problems = tuple(_unfinished(answer["rules"], answer["last_step"]))
    estimate = median_interval(paired_ratios(stopped, again, watched))
    return _row("slowdown", "training beside a watcher of all rules / beside none", figures, estimate, problems)


def _row(key: str, label: str, figures: str, estimate: Estimate, problems: tuple[str, ...]) -> StoreRow:
    bar = BARS.get(key)
    judged = Verdict.VOID if problems and bar is not None else verdict(estimate, bar)
    return StoreRow(key, label, figures, estimate, bar, judged, problems)


def _unseen(run: Answer, looks: Sequence[Answer]) -> tuple[str, ...]:
    """Why looks do not count: a rule broke or did not come to the end, or what was planted was not found."""
    planted = {(EXPLODES, run["nan_step"]), (VANISHES, run["vanished_step"])}
    problems: dict[str, None] = {}
    for one in looks:
        problems.update(dict.fromkeys(_unfinished(one["rules"], run["steps"] - 1)))
        for code, step in planted - {(code, step) for code, step in one["found"]}:
            problems[f"{code} did not find what was planted at step {step}"] = None
    return tuple(problems)


def _unfinished(rules: Sequence[Answer], last_step: int) -> list[str]:
    problems = [] if rules else ["the watcher did not say how its rules stand"]
    for rule in rules:
        if rule["status"] == BROKEN:
            problems.append(f"{rule['rule']} is broken: {rule['message']}")
        elif rule["status"] != SKIPPED and (rule["behind"] or rule["step"] < last_step):
            problems.append(f"{rule['rule']} looked at steps up to {rule['step']} of {last_step} only")
    return problems


def _misjudged(who: str, repeats: Sequence[Answer], expected: Sequence[int]) -> tuple[str, ...]:
    wrong = any(one["fired"] != list(expected) for one in repeats)
    return (f"{who} fired at other steps than the {len(expected)} at which gradients had vanished",) if wrong else ()


def _invoked(repeats: Sequence[Answer]) -> Floats:
    return np.array([one["opening"] + one["invoking"] for one in repeats], dtype=np.float64)


def _split(repeats: Sequence[Answer], steps: int) -> str:
    whole, opening = _invoked(repeats), [one["opening"] for one in repeats]
    return f"{np.median(whole) / steps * 1e6:.0f} us (opening {np.median(opening) / steps * 1e6:.0f})"
