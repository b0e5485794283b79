"""Turns what the workers answered into the rows of the report. Pure: no clock, no files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.accuracy import Accuracy
from benchmarks.cases import BARS, OURS, Case
from benchmarks.figures import (
    Bar,
    Estimate,
    Floats,
    Verdict,
    median_interval,
    paired_ratios,
    ratio_interval,
    verdict,
)

Answer = dict[str, Any]


@dataclass(frozen=True)
class OverheadRow:
    """One tool in one case."""

    case: str
    tool: str
    label: str
    ratio: Estimate
    bare_again: Estimate
    bare_milliseconds: float
    triples: int
    steps_per_stretch: int
    sustained_ratio: float
    cpu_ratio: float
    accuracy: str
    lost: str
    bar: Bar | None
    verdict: Verdict
    problems: tuple[str, ...]


@dataclass(frozen=True)
class StoreRow:
    """One figure of the store, with what it was computed from."""

    key: str
    label: str
    figures: str
    estimate: Estimate
    bar: Bar | None
    verdict: Verdict
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Absent:
    """A measurement that did not happen, and why; it stands in the report so that nobody takes silence for a pass."""

    label: str
    reason: str


def overhead_row(case: Case, tool: str, answer: Answer) -> OverheadRow:
    """The row of one tool in one case."""
    triples, blocks = answer["triples"], answer["blocks"]
    bare, again, captured = (_floats(triples[name]) for name in ("bare", "again", "captured"))
    ratio = median_interval(paired_ratios(bare, again, captured))
    accuracy = None if triples["accuracy"] is None else Accuracy(**triples["accuracy"])
    problems = _problems(triples, accuracy)
    bar = case.bar if tool == OURS else None
    judged = verdict(ratio, bar)
    return OverheadRow(
        case=case.key,
        tool=tool,
        label=case.title if tool == OURS else f"  {tool} {answer['version']}, {answer['describes']}",
        ratio=ratio,
        bare_again=median_interval(again / bare),
        bare_milliseconds=float(np.median(np.concatenate([bare, again]))) / case.steps * 1e3,
        triples=bare.size,
        steps_per_stretch=case.steps,
        sustained_ratio=float(np.median(blocks["wall_ratios"])),
        cpu_ratio=float(np.median(blocks["cpu_ratios"])),
        accuracy=_accuracy_words(accuracy),
        lost=_lost_words(triples, blocks),
        bar=bar,
        verdict=Verdict.VOID if problems and bar is not None else judged,
        problems=tuple(problems),
    )


def store_rows(answers: dict[tuple[str, str], Answer]) -> list[StoreRow]:
    """The rows of the store from the answers by (task, tool); what is missing is left out."""
    rows: list[StoreRow] = []
    rows.extend(_write_rows({tool: one for (task, tool), one in answers.items() if task == "writes"}))
    rows.extend(_series_rows({tool: one for (task, tool), one in answers.items() if task == "series"}))
    rows.extend(_scalar_rows({tool: one for (task, tool), one in answers.items() if task == "scalars"}))
    return rows


def _write_rows(answers: dict[str, Answer]) -> list[StoreRow]:
    """Each tool beside the plain writes of its own process, then ours beside each peer."""
    rows = []
    rates = {tool: _floats(answer["tool"]) for tool, answer in answers.items()}
    for tool, answer in answers.items():
        key, label = ("write-plain", "write: ours / plain gathered write")
        if tool != OURS:
            key, label = f"write-plain-{tool}", f"  {_called(tool, answer)} / plain gathered write"
        plain = _floats(answer["plain"])
        figures = f"{np.median(rates[tool]):.0f} / {np.median(plain):.0f} MB/s"
        rows.append(_store_row(key, label, figures, median_interval(rates[tool] / plain), _unwritten(answer)))
    for tool in [one for one in answers if one != OURS and OURS in answers]:
        figures = f"{np.median(rates[OURS]):.0f} / {np.median(rates[tool]):.0f} MB/s"
        label = f"write: ours / {_called(tool, answers[tool])}"
        estimate = ratio_interval(rates[OURS], rates[tool])
        rows.append(_store_row(f"write-{tool}", label, figures, estimate, _unwritten(answers[OURS])))
    return rows


def _unwritten(answer: Answer) -> tuple[str, ...]:
    lost = answer["expected_steps"] - answer["recorded_steps"]
    return (f"{lost} of {answer['expected_steps']} steps were not written",) if lost else ()


def _series_rows(answers: dict[str, Answer]) -> list[StoreRow]:
    """Our milliseconds, then how many times longer each peer takes: step by step, and in its one call if it has one."""
    if OURS not in answers:
        return []
    ours = answers[OURS]
    seconds = {tool: _floats(one["opening"]) + _floats(one["reading"]) for tool, one in answers.items()}
    label = f"read 1 KB at {ours['steps']:,} steps, milliseconds"
    rows = [_store_row("series", label, _split(ours), median_interval(seconds[OURS] * 1e3), _misread(answers, OURS))]
    for tool in [one for one in answers if one != OURS]:
        peer, problems = answers[tool], _misread(answers, OURS, tool)
        figures = f"{_split(peer)} / {_split(ours)}"
        estimate = ratio_interval(seconds[tool], seconds[OURS])
        label = f"read step by step: {_called(tool, peer)} / ours"
        rows.append(_store_row(f"series-{tool}", label, figures, estimate, problems))
        at_once = [_floats(peer["at_once"]) if peer["at_once"] else seconds[tool], _floats(ours["at_once"])]
        figures = " / ".join(f"{np.median(times) * 1e3:.1f} ms" for times in at_once)
        label = "  the same in one call, where there is one"
        rows.append(_store_row(f"series-at-once-{tool}", label, figures, ratio_interval(*at_once), problems))
    return rows


def _misread(answers: dict[str, Answer], *tools: str) -> tuple[str, ...]:
    return tuple(f"{tool} read wrong values" for tool in tools if not answers[tool]["correct"])


def _scalar_rows(answers: dict[str, Answer]) -> list[StoreRow]:
    notes = {OURS: "written on return", "smdebug": "in memory until a saved step", "tensorboard": "queued"}
    rows = []
    for tool, answer in answers.items():
        times = _floats(answer["microseconds"])
        label = "save_scalar, microseconds" if tool == OURS else f"  {_called(tool, answer)}"
        figures = f"{notes[tool]}; 99th percentile {np.quantile(times, 0.99):.0f}"
        key = "scalar" if tool == OURS else f"scalar-{tool}"
        rows.append(_store_row(key, label, figures, median_interval(times), ()))
    return rows


def _store_row(key: str, label: str, figures: str, estimate: Estimate, problems: tuple[str, ...]) -> StoreRow:
    bar = BARS.get(key)
    judged = Verdict.VOID if problems and bar is not None else verdict(estimate, bar)
    return StoreRow(key, label, figures, estimate, bar, judged, problems)


def _problems(triples: Answer, accuracy: Accuracy | None) -> list[str]:
    """Why a ratio does not count: it was bought by leaving something out, or by getting it wrong."""
    problems = []
    lost = triples["expected_steps"] - triples["recorded_steps"]
    if lost:
        problems.append(f"{lost} of {triples['expected_steps']} due steps are not in the run")
    if not triples["same_weights"]:
        problems.append("the captured model's weights differ from the bare models'")
    if accuracy is not None and not accuracy.kept:
        problems.append(
            f"accuracy: {accuracy.inexact} figures not exact, {accuracy.missing} tensors missing, "
            f"worst error {accuracy.worst_share_of_bound:.2g} of its bound, {accuracy.compared} compared"
        )
    return problems


def _accuracy_words(accuracy: Accuracy | None) -> str:
    if accuracy is None:
        return "-"
    if not accuracy.kept:
        return "broken"
    return f"{accuracy.worst_error:.0e}" if accuracy.worst_error else "exact"


def _lost_words(triples: Answer, blocks: Answer) -> str:
    lost = [part["expected_steps"] - part["recorded_steps"] for part in (triples, blocks)]
    return f"{lost[0]} + {lost[1]}"


def _split(answer: Answer) -> str:
    opening, reading = (float(np.median(answer[name])) * 1e3 for name in ("opening", "reading"))
    return f"{opening + reading:.1f} ms (opening {opening:.1f})"


def _called(tool: str, answer: Answer) -> str:
    return f"{tool} {answer['version']}"


def _floats(values: Any) -> Floats:
    return np.asarray(values, dtype=np.float64)
