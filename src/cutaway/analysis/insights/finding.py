"""Looks for every kind of insight, each in its own module; those that say the same of the same samples become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.insights.columns import Described, all_regions, described, describing
from cutaway.analysis.insights.domain_gap import domain_gaps
from cutaway.analysis.insights.explaining import explaining_columns
from cutaway.analysis.insights.from_ranked import insights_from_ranked, likely_mislabeled
from cutaway.analysis.insights.judging import CLIPPED, FEWEST, Judged, judged, subsets_of
from cutaway.analysis.insights.low_performance import HELD_BACK, low_performance
from cutaway.analysis.insights.overfitting import overall_gap, overfitted_regions
from cutaway.analysis.insights.values import INFORMS, Insight, Insights
from cutaway.analysis.insights.wording import listed, told
from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.samples import LABEL, Samples
from cutaway.analysis.samples.held_out import TRAINING
from cutaway.analysis.samples.ranked import Ranked
from cutaway.arrays import BoolArray, Int64Array
from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.evaluation.progress import Listener

__all__ = ["SUMMARISED", "find_insights", "folded"]

# The ranked tables that are summarised, and what their insights are called.
SUMMARISED = {
    "mislabeled": "mislabeled-samples",
    "ambiguous": "ambiguous",
    "duplicates": "duplication",
    "leakage": "data-leakage",
    "outliers": "out-of-distribution",
}
NOTHING: Mapping[str, Ranked] = {}
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


def find_insights(
    samples: Samples,
    nearest: Nearest,
    *,
    clusters: Int64Array | None = None,
    ranked: Mapping[str, Ranked] = NOTHING,
    seed: int = 0,
    progress: Listener | None = None,
) -> Insights:
    """Return what is systematically wrong with a model and its data, the gravest first, each thing once.

    `clusters` is the number of each sample's cluster, -1 for none; `ranked` are the tables of single samples that there
    are already: mislabeled, ambiguous, duplicates, leakage, outliers. Slices and columns are judged on held-out subsets
    where there are any, for a model hides its errors on what it was trained with. Of data without any fault, each
    kind finds something in about one case of two hundred.
    """
    _check(samples, nearest, clusters, ranked)
    counter = Counter(progress, 5, "kinds", "looking for insights")
    by, why = judged(samples)
    unjudged = f"Not looked for: low-performance, overfitting and metadata-explains-loss, because {why}."
    notes = [unjudged] if by is None else [why] if why else []
    columns = [one for name in describing(samples) if (one := described(samples, name)) is not None]
    label = described(samples, LABEL) if samples.has(LABEL) else None
    with_label = [*columns, *([label] if label is not None else [])]
    rng = np.random.default_rng(seed)
    found = insights_from_ranked(samples, ranked, with_label, by)
    counter.advance()
    if by is not None:
        wrong_labels = likely_mislabeled(samples, ranked)
        slices = low_performance(samples, by, columns, clusters, wrong_labels, seed=seed, progress=progress)
        notes += [HELD_BACK] if slices else []
        found += slices
        counter.advance()
        found += explaining_columns(samples, by, columns, slices)
        counter.advance()
        found += _overfitting(samples, by, with_label, clusters, rng)
        counter.advance()
    found += domain_gaps(samples, nearest, with_label, by, rng)
    counter.advance()
    if by is not None and by.measure == "error" and any(one.measure == "loss" for one in found):
        notes.append(CLIPPED)
    return Insights(folded(found), (*notes, *_not_looked_for(samples, by, ranked)))


def _overfitting(
    samples: Samples, by: Judged, columns: list[Described], clusters: Int64Array | None, rng: np.random.Generator
) -> list[Insight]:
    overall = overall_gap(samples, by)
    regions = overfitted_regions(samples, by, all_regions(samples, columns, clusters, rng))
    return [*([] if overall is None else [overall]), *regions]


def _not_looked_for(samples: Samples, by: Judged | None, ranked: Mapping[str, Ranked]) -> list[str]:
    """Say which kinds were left out, and why."""
    notes = []
    if by is not None and not by.training.any():
        reason = "only training has an outcome" if by.subsets == (TRAINING,) else "no training samples have an outcome"
        notes.append(f"Not looked for: overfitting, because {reason}.")
    _, rows_of = subsets_of(samples)
    large = sum(int(rows.sum()) >= FEWEST for rows in rows_of.values())
    if large < 2:
        notes.append(
            f"Not looked for: domain-gap. It takes two subsets of {FEWEST} samples; there is {large or 'none'}."
        )
    if not describing(samples):
        notes.append("Not looked for: metadata-explains-loss, because these samples have no metadata.")
    missing = [kind for name, kind in SUMMARISED.items() if name not in ranked]
    if missing:
        notes.append(f"Not looked for: {listed(missing)}, whose tables do not apply here or were not given.")
    return notes


def _check(samples: Samples, nearest: Nearest, clusters: Int64Array | None, ranked: Mapping[str, Ranked]) -> None:
    if len(nearest.indices) != len(samples):
        raise ConfigurationError(f"There are {len(samples)} samples, but neighbours of {len(nearest.indices)}.")
    if clusters is not None and len(clusters) != len(samples):
        raise ConfigurationError(f"There are {len(samples)} samples, but clusters of {len(clusters)}.")
    for name in ranked:
        if name not in SUMMARISED:
            raise ConfigurationError(
                f"There is no ranked table {name!r}.",
                hint=f"{did_you_mean(name, SUMMARISED)} There are {listed(list(SUMMARISED))}.",
            )


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


def _order(insight: Insight) -> tuple[bool, float, str, tuple[str, ...], str]:
    # What only explains comes last, however much there is of it.
    return insight.kind in INFORMS, -insight.severity, insight.kind, insight.where, insight.words


def _implied(insight: Insight, other: Insight) -> bool:
    if any((one.kind in WHOLE and not _is_slice(one)) or one.evidence.get("overall") for one in (insight, other)):
        return False
    if insight.kind == other.kind:
        return False  # each kind has told its own apart
    return _same(insight.rows, other.rows)


def _is_slice(insight: Insight) -> bool:
    return bool(insight.evidence.get("slice"))


def _same(first: BoolArray, second: BoolArray) -> bool:
    return int((first & second).sum()) >= SAME * max(int((first | second).sum()), 1)


def _joined(kept: Insight, other: Insight) -> Insight:
    """Put one into the other: into the graver, but for what explains it."""
    of_kind = {kept.kind: kept, other.kind: other}
    first = kept
    gap, slice_, fitted = (of_kind.get(kind) for kind in ("domain-gap", "low-performance", "overfitting"))
    if gap is not None:
        # What looks different in training was not learned by heart there.
        first = gap
    elif slice_ is not None and fitted is not None:
        # Overfitting is why a slice does badly, unless it explains only a part of that.
        first = fitted if fitted.evidence["beyond"] >= EXPLAINS * slice_.effect else slice_
    second = other if first is kept else kept
    first = replace(first, severity=max(kept.severity, other.severity))
    if second is fitted and slice_ is not None:
        name = f"overfitting (training {told(second.measure, second.evidence['training'])[0]})"
        return replace(first, also=(*first.also, name, *second.also))
    name = _SHORT.get(second.kind, second.kind)
    if second.where and second.where != first.where:
        name = f"{name} ({' and '.join(second.where)})"
    return replace(first, also=(*first.also, name))


def _with_names(insight: Insight) -> Insight:
    """Say in the words what else was found to be the same, three of it at most."""
    names = list(dict.fromkeys(insight.also))
    if not names:
        return insight
    more = [f"{len(names) - 3} more"] if len(names) > 3 else []
    return replace(insight, also=tuple(names), words=f"{insight.words} Also seen as {listed([*names[:3], *more])}.")
