"""What is true of the insights into a population in which one knows what was planted. Plain results; no bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.insights.columns import NOISE
from cutaway.analysis.filters import parse_filter, rows_where
from cutaway.analysis.insights import Insight, Insights
from cutaway.analysis.samples import Samples

__all__ = ["judge_insights"]

Mask = npt.NDArray[np.bool_]
# Insights that say which samples do badly.
ABOUT_SAMPLES = frozenset({"low-performance", "overfitting", "domain-gap"})
FOUND = 0.5
# Means are recomputed in double precision.
EXACT = 1e-9


def judge_insights(samples: Samples, found: Insights, planted: Mapping[str, Mask]) -> dict[str, Any]:
    """Return the rank of what was planted, what it was called, and what was said that is not so."""
    told = list(found)
    about_noise = [one.words for one in told if _columns_of(one) & NOISE]
    balance = [one for one in told if one.action.startswith("Balance")]
    splits = [one.words for one in told if one.kind == "domain-gap" and not _conditions(one)]
    return {
        "insights": len(told),
        "slices": sum(bool(_conditions(one)) for one in told),
        "planted": {name: _found(told, mask) for name, mask in planted.items()},
        "noise": about_noise,
        "balance": [one.words for one in balance if not _is_planted(one, planted.get("imbalance"))],
        "memorised": [
            one.words
            for one in told
            if one.kind == "overfitting" and one.where and not _is_planted(one, planted.get("overfit"))
        ],
        "gaps": [
            one.words
            for one in told
            if one.kind == "domain-gap" and _conditions(one) and not _is_planted(one, planted.get("gap"))
        ],
        "splits": splits,
        "inexact": [one.words for one in told if not _is_exact(samples, one)],
        "order": [f"{one.kind}: {' and '.join(one.where) or one.words[:60]} ({one.severity:.3f})" for one in told[:6]],
    }


def _conditions(one: Insight) -> tuple[str, ...]:
    return tuple(text for text in one.where if not text.startswith("subset "))


def _columns_of(one: Insight) -> set[str]:
    named = {parse_filter(text).column for text in one.where if not text.startswith("cluster ")}
    if one.kind == "metadata-explains-loss":
        named.add(str(one.evidence["column"]))
    if one.kind == "domain-gap" and not _conditions(one):
        named |= set(one.evidence["columns"])
    return named


def _found(told: Sequence[Insight], mask: Mask) -> dict[str, Any]:
    """Where the first insight about a planted slice stands, from 1; 0 where none does."""
    for place, one in enumerate(told):
        if one.kind in ABOUT_SAMPLES and _conditions(one) and _overlap(one.rows, mask) >= FOUND:
            return {"rank": place + 1, "kind": one.kind, "action": one.action, "words": one.words}
    return {"rank": 0, "kind": "", "action": "", "words": ""}


def _is_planted(one: Insight, mask: Mask | None) -> bool:
    return mask is not None and _overlap(one.rows, mask) >= FOUND


def _overlap(first: Mask, second: Mask) -> float:
    return float((first & second).sum() / max(int((first | second).sum()), 1))


def _is_exact(samples: Samples, one: Insight) -> bool:
    """Whether counts and means are those that plain numpy counts by the conditions."""
    conditions = _conditions(one)
    if one.kind not in ABOUT_SAMPLES or not conditions or any(text.startswith("cluster ") for text in conditions):
        return True
    if one.measure != "error":
        return True
    meant = rows_where(samples.table, [parse_filter(text, samples.table) for text in conditions])
    subset = np.asarray(samples.table["subset"].to_pylist())
    wrong = ~np.asarray(samples.table["correct"].to_pylist(), bool)
    held = subset != "training"
    inside = held & meant
    outside = ~held & meant if one.kind == "overfitting" else held & ~meant
    figures = (one.count, one.share, one.inside, one.outside)
    truth = (inside.sum(), inside.sum() / held.sum(), wrong[inside].mean(), wrong[outside].mean())
    return bool(np.allclose(figures, truth, rtol=0, atol=EXACT))
