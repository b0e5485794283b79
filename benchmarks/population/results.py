"""Turns what was measured into rows with their bars. Pure: no clock, no files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from benchmarks.cases import OURS
from benchmarks.figures import Bar, Estimate, Floats, Side, Verdict, median_interval, ratio_interval, verdict
from benchmarks.results import Absent, Answer, StoreRow

__all__ = [
    "BARS",
    "Judge",
    "alignment_rows",
    "exact_rows",
    "fours_row",
    "heat_map_rows",
    "large_rows",
    "map_rows",
    "sanity_rows",
    "share_of",
]

BARS = {
    "map-warm": Bar(2, Side.AT_LEAST),
    "map-cold": Bar(8, Side.AT_LEAST),
    "map-pacmap": Bar(3, Side.AT_LEAST),
    "map-trust": Bar(0.984, Side.AT_LEAST),
    "map-trust-umap": Bar(-0.001, Side.AT_LEAST),
    "map-preview": Bar(0.5),
    "map-memory": Bar(4000),
    "align-stayed": Bar(0.99, Side.AT_LEAST),
    "align-trust": Bar(-0.003, Side.AT_LEAST),
    "place": Bar(-0.01, Side.AT_LEAST),
    "exact": Bar(1.3),
    "large-built": Bar(60),
    "large-recall": Bar(0.99, Side.AT_LEAST),
    "large-single": Bar(0.01),
    "fours": Bar(1, Side.AT_LEAST),
    "heat-captum": Bar(1.2),
    "heat-child": Bar(1.3),
    "heat-equal": Bar(1e-4),
    "heat-onnx": Bar(1e-3),
    "sanity-random": Bar(0.08),
    "sanity-integrated": Bar(0.95, Side.AT_LEAST),
}
# How far out the interval of a share lies: 95 %.
WIDE = 1.96
Row = StoreRow | Absent


@dataclass(frozen=True)
class Judge:
    """Holds figures to their bars, unless they were measured on something that the bars are not for."""

    holds: bool = True
    bars: Mapping[str, Bar] = field(default_factory=lambda: BARS)

    def row(
        self, key: str | None, label: str, figures: str, estimate: Estimate, problems: tuple[str, ...] = ()
    ) -> StoreRow:
        """The row of a figure; `key` names its bar. One that was bought by a wrong answer is void."""
        bar = self.bars[key] if key and self.holds else None
        judged = Verdict.VOID if problems and bar is not None else verdict(estimate, bar)
        return StoreRow(key or "", label, figures, estimate, bar, judged, problems)


def map_rows(answer: Answer, judge: Judge) -> list[Row]:
    """Maps: times of the peers over ours, trustworthiness, the preview, memory."""
    if OURS not in answer["answers"]:
        return [Absent("map", answer["failed"][OURS])]
    answers, trust = answer["answers"], answer["trust"]
    ours = _values(answers[OURS], "seconds")
    faithful = median_interval(_floats(trust[OURS]))
    problems: tuple[str, ...] = ()
    if judge.holds and faithful.median < BARS["map-trust"].value:
        problems = (f"the map's trustworthiness is only {faithful.median:.4f}",)
    rows: list[Row] = []
    for key, tool, when, label in (
        ("map-warm", "umap-learn", "warm", "warm"),
        ("map-cold", "umap-learn", "cold", "cold"),
        (None, "umap-learn later", "cold", "cold, compiled code on disk"),
        ("map-pacmap", "pacmap", "cold", "cold, compiled code on disk"),
        (None, "pacmap", "warm", "warm"),
    ):
        if tool in answers:
            theirs = _values(answers[tool], when)
            named = f"{tool.removesuffix(' later')} {answers[tool][0]['version']}, {label}"
            figures = f"{np.median(theirs):.1f} / {np.median(ours):.1f} s"
            shown = f"map: {named} / ours" if key else f"  {named} / ours"
            rows.append(judge.row(key, shown, figures, ratio_interval(theirs, ours), problems))
    rows += [Absent(f"map: {tool}", reason) for tool, reason in answer["failed"].items()]
    return rows + _map_figures(answers, trust, judge)


def _map_figures(answers: dict[str, list[Answer]], trust: dict[str, list[float]], judge: Judge) -> list[Row]:
    ours = answers[OURS]
    faithful = _floats(trust[OURS])
    others = [f"{tool} {np.median(trust[tool]):.4f}" for tool in ("umap-learn", "pacmap") if tool in trust]
    rows: list[Row] = [judge.row("map-trust", "map: trustworthiness", ", ".join(others), median_interval(faithful))]
    if "umap-learn" in trust:
        less = median_interval(faithful - float(np.median(trust["umap-learn"])))
        rows.append(judge.row("map-trust-umap", "map: trustworthiness, ours - umap-learn's", "", less))
    parts = (
        f"imports {np.median(_values(ours, 'importing')):.1f} s, the call {np.median(_values(ours, 'called')):.1f} s"
    )
    rows.append(
        judge.row(None, "  map: seconds of the whole process", parts, median_interval(_values(ours, "seconds")))
    )
    if "preview" in answers:
        preview = answers["preview"]
        whole = f"the whole process {np.median(_values(preview, 'seconds')):.1f} s"
        called = median_interval(_values(preview, "called"))
        rows.append(judge.row("map-preview", "map: PCA preview, seconds", whole, called))
    peak = max(one["peak_mb"] for one in ours)
    rows.append(judge.row("map-memory", "map: peak memory, MB", "the whole process", _exactly(peak)))
    return rows


def alignment_rows(answer: Answer, judge: Judge) -> list[Row]:
    """Alignment and placing."""
    found = {name: _floats(values) for name, values in answer.items() if isinstance(values, list)}
    stayed = f"{answer['kept']:,} of {answer['samples']:,} kept half; unaligned {np.median(found['unaligned']):.3f}"
    trust = f"{np.median(found['aligned']):.4f} - {np.median(found['free']):.4f}"
    placed = f"{answer['new']:,} samples: {np.median(found['placed']):.4f} - {np.median(found['fitted']):.4f}"
    return [
        judge.row("align-stayed", "align: kept half of 15, moved <= 2 %", stayed, median_interval(found["stayed"])),
        judge.row(
            "align-trust",
            "align: trustworthiness, aligned - not",
            trust,
            median_interval(found["aligned"] - found["free"]),
        ),
        judge.row(
            "place", "place: label-kNN, placed - fitted", placed, median_interval(found["placed"] - found["fitted"])
        ),
    ]


def exact_rows(answer: Answer, judge: Judge) -> list[Row]:
    """Our search over faiss's own, where every row is compared."""
    problems = []
    if not answer["exact"]:
        problems.append("the index is not exact")
    if answer["wrong"]:
        problems.append(f"{answer['wrong']} of {answer['queries']} queries did not get their nearest")
    rows: list[Row] = []
    for name, queries, unit in (
        ("single", 1, "one query"),
        ("batch", answer["queries"], f"{answer['queries']} queries"),
    ):
        ours, flat = (_floats(answer[name][who]) for who in ("ours", "flat"))
        figures = f"{np.median(ours) / queries * 1e6:.0f} / {np.median(flat) / queries * 1e6:.0f} us a query"
        label = f"similar: {answer['rows']:,} exact, {unit}, ours / faiss flat"
        rows.append(judge.row("exact", label, figures, median_interval(ours / flat), tuple(problems)))
    return rows


def large_rows(answer: Answer, judge: Judge) -> list[Row]:
    """The index of the large set."""
    problems = []
    if answer["exact"]:
        problems.append("the index compares every row")
    if not answer["recall"] >= BARS["large-recall"].value:
        problems.append(f"recall is only {answer['recall']:.4f}")
    single, flat = _floats(answer["single"]), _floats(answer["flat"])
    stated = "none" if answer["stated"] is None else f"{answer['stated']:.4f}"
    size = f"similar: {answer['rows']:,}"
    figures = f"{np.median(single) * 1e6:.0f} us / {np.median(flat) * 1e3:.1f} ms; mean {single.mean() * 1e6:.0f} us"
    return [
        judge.row("large-built", f"{size}, seconds to build", "", _exactly(answer["built"])),
        judge.row(
            "large-recall",
            f"{size}, recall@10",
            f"{answer['queries']:,} held-out queries; the index says {stated}",
            _exactly(answer["recall"]),
        ),
        judge.row(
            "large-single",
            f"{size}, one query, ours / faiss flat",
            figures,
            ratio_interval(single, flat),
            tuple(problems),
        ),
    ]


def fours_row(answer: Answer, judge: Judge) -> StoreRow:
    """How many fours that are read as nines lie among nines, with the counts of the first few."""
    most = answer["similar"] // 2
    mostly = [one for one in answer["fours"] if one["counts"].get("9", 0) > most]
    shown = [f"sample {one['row']}: {_counts(one['counts'])}" for one in mostly[:2]]
    told = "; ".join([f"of {len(answer['fours'])} that are read as 9", *shown])
    label = f"similar: 4s read as 9 with more than {most} 9s of {answer['similar']} nearest"
    return judge.row("fours", label, told, _exactly(len(mostly)))


def heat_map_rows(answer: Answer, judge: Judge) -> list[Row]:
    """Our time over captum's, a file's process over this one, and the largest differences."""
    methods = answer["methods"]
    rows: list[Row] = []
    for name, found in methods.items():
        seconds = {who: _floats(times) for who, times in found["seconds"].items()}
        wrong = _differing(found["differences"], "live", BARS["heat-equal"].value)
        figures = _milliseconds(seconds["live"], seconds["captum"])
        ratio = median_interval(seconds["live"] / seconds["captum"])
        rows.append(judge.row("heat-captum", f"heat map: {name}, ours / captum", figures, ratio, wrong))
    for name, found in methods.items():
        child, here = (_floats(found["seconds"][who]) for who in ("child", "here"))
        wrong = _differing(found["differences"], "child", BARS["heat-onnx"].value)
        figures = _milliseconds(child, here)
        rows.append(
            judge.row("heat-child", f"heat map: {name}, child / here", figures, median_interval(child / here), wrong)
        )
    for key, who, label in (("heat-equal", "live", "live module"), ("heat-onnx", "child", "ONNX export")):
        differences = {name: found["differences"][who] for name, found in methods.items()}
        worst = max(differences, key=lambda name: differences[name])
        figures = f"worst of {len(methods)} methods: {worst}, whose largest value is {methods[worst]['largest']:.2g}"
        rows.append(judge.row(key, f"heat map: {label} - captum, largest", figures, _exactly(differences[worst])))
    return rows


def sanity_rows(answer: Answer, judge: Judge) -> list[Row]:
    """How many maps pass: of integrated gradients, and of the kind of random map that passes most."""
    passes = dict(answer["passes"])
    count = answer["samples"]
    known = passes.pop("integrated gradients")
    worst = max(passes, key=lambda name: passes[name])
    told = ", ".join(f"{name} {number / count:.3f}" for name, number in passes.items())
    told = f"the worst of {told}"
    complete = f"{count} correctly read samples; completeness off by {answer['completeness']:.1%} at most"
    label = "sanity: integrated gradients pass"
    return [
        judge.row("sanity-integrated", label, complete, share_of(known, count)),
        judge.row("sanity-random", "sanity: random maps pass", told, share_of(passes[worst], count)),
    ]


def share_of(hits: int, count: int) -> Estimate:
    """A share with Wilson's interval."""
    share, square = hits / count, WIDE**2 / count
    middle = (share + square / 2) / (1 + square)
    reach = WIDE * sqrt(share * (1 - share) / count + square / 4 / count) / (1 + square)
    return Estimate(share, min(share, middle - reach), max(share, middle + reach))


def _differing(differences: dict[str, float], who: str, most: float) -> tuple[str, ...]:
    # Not a number is no small difference.
    return () if differences[who] <= most else (f"the map differs from captum's by {differences[who]:.1e}",)


def _milliseconds(ours: Floats, theirs: Floats) -> str:
    return f"{np.median(ours) * 1e3:.2f} / {np.median(theirs) * 1e3:.2f} ms"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} x {label}" for label, number in counts.items())


def _exactly(value: float) -> Estimate:
    return Estimate(float(value), float(value), float(value))


def _values(answers: list[Answer], name: str) -> Floats:
    return _floats([one[name] for one in answers if one[name] is not None])


def _floats(values: Any) -> Floats:
    return np.asarray(values, np.float64)
