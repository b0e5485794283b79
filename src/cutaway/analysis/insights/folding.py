"""Insights that say the same of the same samples become one. Finds none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cutaway.analysis.insights.values import Insight
from cutaway.analysis.insights.wording import listed
from cutaway.arrays import BoolArray

__all__ = ["folded"]

# Insights whose samples are the same to this share are one.
SAME = 0.8
# An overfitted region does badly because it is overfitted: it wins unless it explains less than this share.
EXPLAINS = 0.75
# What is about the whole of a subset, or about a column, is never about the same as a slice.
WHOLE = frozenset({"domain-gap", "metadata-explains-loss"})
# What a folded insight is called in the words of the one that it went into.
_SHORT = {
    "low-performance": "low performance",
    "mislabeled-samples": "likely wrong labels",
    "out-of-distribution": "far from all the others",
    "duplication": "repeated samples",
    "data-leakage": "leaked between subsets",
    "ambiguous": "between classes",
}


def folded(insights: Sequence[Insight]) -> tuple[Insight, ...]:
    """Return insights with the gravest first, each with what was folded into it at the end of its words."""
    kept: list[Insight] = []
    for insight in sorted(insights, key=_order):
        place = next((place for place, other in enumerate(kept) if _implied(insight, other)), None)
        if place is None:
            kept.append(insight)
        else:
            kept[place] = _joined(kept[place], insight)
    return tuple(_with_names(one) for one in sorted(kept, key=_order))


def _order(insight: Insight) -> tuple[float, str, tuple[str, ...], str]:
    return -insight.severity, insight.kind, insight.where, insight.words


def _implied(insight: Insight, other: Insight) -> bool:
    if {insight.kind, other.kind} & WHOLE or insight.evidence.get("overall") or other.evidence.get("overall"):
        return False
    if insight.kind == other.kind:
        return False  # each kind has told its own apart
    return _same(insight.rows, other.rows)


def _same(first: BoolArray, second: BoolArray) -> bool:
    return int((first & second).sum()) >= SAME * max(int((first | second).sum()), 1)


def _joined(kept: Insight, other: Insight) -> Insight:
    """Put one into the other: into the graver, unless overfitting explains the most of a low performance."""
    kinds = (kept.kind, other.kind)
    if kinds == ("low-performance", "overfitting") and other.effect >= EXPLAINS * kept.effect:
        kept, other = replace(other, severity=kept.severity), kept
    elif kept.kind == "low-performance" and other.kind == "overfitting":
        texts = f"overfitted: training {other.evidence['training']:.3g}"
        return replace(kept, also=(*kept.also, texts, *other.also))
    name = " and ".join(other.where)
    short = _SHORT.get(other.kind, other.kind)
    return replace(kept, also=(*kept.also, f"{short} ({name})" if name and other.where != kept.where else short))


def _with_names(insight: Insight) -> Insight:
    """Say in the words what else was found to be the same, three of it at most."""
    names = list(dict.fromkeys(insight.also))
    if not names:
        return insight
    more = [f"{len(names) - 3} more"] if len(names) > 3 else []
    return replace(insight, also=tuple(names), words=f"{insight.words} Also seen as {listed([*names[:3], *more])}.")
