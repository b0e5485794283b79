"""What the ranked tables say as a whole: wrong labels, doubles, leaks, strangers. Ranks no sample anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from cutaway.analysis.insights.columns import Described
from cutaway.analysis.insights.counted import Most, above, most_affected, rows_named
from cutaway.analysis.insights.judging import Judged, subsets_of
from cutaway.analysis.insights.values import Insight
from cutaway.analysis.insights.wording import percent, told
from cutaway.analysis.samples import LABEL, SUBSET, Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.arrays import BoolArray
from cutaway.wording import counted

__all__ = ["LIKELY", "insights_from_ranked"]

LIKELY = 0.5
"""Candidates count from this score on; for wrong labels it is the probability that the label is wrong."""
# Fewer are what chance leaves in any data set: a look at the table, no insight.
FEWEST = 3
# Of fewer samples no mean is told.
FEWEST_JUDGED = 20
# Where more of the samples lie between classes, it is the model that cannot tell them apart.
HALF = 0.5
# So many times the share of the samples concerned is the severity.
GRAVITY = 5.0


def insights_from_ranked(
    samples: Samples, ranked: Mapping[str, Ranked], columns: Sequence[Described], judged: Judged | None
) -> list[Insight]:
    """Return an insight for each ranked table that names enough samples, one for each pair of subsets that leaks."""
    found: list[Insight | None] = []
    if "mislabeled" in ranked:
        found.append(_mislabeled(samples, ranked["mislabeled"], columns))
    if "ambiguous" in ranked:
        found.append(_ambiguous(samples, ranked["ambiguous"], columns, judged))
    if "duplicates" in ranked:
        found.append(_duplicated(samples, ranked["duplicates"], columns))
    if "leakage" in ranked:
        found += _leaking(samples, ranked["leakage"], judged)
    if "outliers" in ranked:
        found.append(_outlying(samples, ranked["outliers"], columns, judged))
    return [one for one in found if one is not None]


def _mislabeled(samples: Samples, ranked: Ranked, columns: Sequence[Described]) -> Insight | None:
    likely = above(ranked, LIKELY)
    if likely.num_rows < FEWEST:
        return None
    rows, labelled = rows_named(samples, _texts(likely, "sample")), _known(samples, LABEL)
    expected, total = float(np.sum(likely["score"].to_numpy())), int(labelled.sum())
    most = most_affected(rows, labelled, columns)
    pair = _swapped(likely)
    words = (
        f"{likely.num_rows:,} of {total:,} labels are more likely wrong than right, and about {expected:,.0f} of these "
        f"are ({percent(expected / total)} of all){_mostly(most)}{pair}."
    )
    return Insight(
        "mislabeled-samples",
        words,
        rows,
        _texts(likely, "sample")[0],
        min(1.0, GRAVITY * expected / total),
        (),
        _subsets(samples, rows),
        float(rows.sum() / total),
        "wrong labels",
        expected / total,
        action=f"Relabel: look at these {likely.num_rows:,} in their order; about {expected:,.0f} need it.",
        buys=f"At most the {percent(expected / total)} of labels that are wrong, in training and in what is measured.",
        evidence={"expected": expected, **_named(most), "samples": _texts(likely, "sample")[:10]},
    )


def _ambiguous(samples: Samples, ranked: Ranked, columns: Sequence[Described], judged: Judged | None) -> Insight | None:
    likely = above(ranked, LIKELY)
    if likely.num_rows < FEWEST:
        return None
    rows = rows_named(samples, _texts(likely, "sample"))
    most = most_affected(rows, np.ones(len(samples), np.bool_), columns)
    share = float(rows.mean())
    how_many = f"{counted(int(rows.sum()), 'sample')} ({percent(share)})"
    words = f"{how_many} lie between classes{_mostly(most)}{_outcome(rows, judged)}."
    return Insight(
        "ambiguous",
        words,
        rows,
        _texts(likely, "sample")[0],
        min(1.0, share),
        (),
        _subsets(samples, rows),
        share,
        action=f"Look at the first of these {likely.num_rows:,}: give them a second opinion, or a class of their own."
        if share < HALF
        else "Train for longer, or give the model more to go by: it hardly tells the classes apart.",
        evidence={**_named(most), "samples": _texts(likely, "sample")[:10]},
    )


def _duplicated(samples: Samples, ranked: Ranked, columns: Sequence[Described]) -> Insight | None:
    """Doubles between subsets are leaks, and counted there."""
    table = ranked.table
    if {"subset", "other_subset"} <= set(table.column_names):
        table = table.filter(pa.array([a == b for a, b in zip(*_pairs(table), strict=True)], pa.bool_()))
    exact = _exact(table)
    if not exact and table.num_rows < FEWEST:
        return None
    rows = rows_named(samples, _texts(table, "sample"))
    count, share = int(rows.sum()), float(rows.mean())
    most = most_affected(rows, np.ones(len(samples), np.bool_), columns)
    kinds = f" ({exact:,} exactly)" if exact else ""
    return Insight(
        "duplication",
        f"{counted(count, 'sample')} ({percent(share)}) repeat another one of the same subset{kinds}{_mostly(most)}.",
        rows,
        _texts(table, "sample")[0],
        min(1.0, GRAVITY * share),
        (),
        _subsets(samples, rows),
        share,
        action=f"Drop up to {count:,}, or give each group the weight of one.",
        buys=f"{percent(share)} less to train with and to measure on; figures stop counting the same sample twice.",
        evidence={"exact": exact, **_named(most), "samples": _texts(table, "sample")[:10]},
    )


def _leaking(samples: Samples, ranked: Ranked, judged: Judged | None) -> list[Insight]:
    table = ranked.table
    if table.num_rows == 0 or not {"subset", "other_subset"} <= set(table.column_names):
        return []
    pairs = list(zip(*_pairs(table), strict=True))
    parts = [
        (pair, table.filter(pa.array([one == pair for one in pairs], pa.bool_())))
        for pair, _ in Counter(pairs).most_common()
    ]
    return [_leak(samples, pair, part, judged) for pair, part in parts if _exact(part) or part.num_rows >= FEWEST]


def _leak(samples: Samples, pair: tuple[str, str], table: pa.Table, judged: Judged | None) -> Insight:
    first, second = pair
    ids = _texts(table, "sample")
    rows, whole = rows_named(samples, ids), subsets_of(samples)[1][first]
    count, share, exact = int(rows.sum()), float(rows.sum() / max(int(whole.sum()), 1)), _exact(table)
    how = " exactly" if exact == count else f", {exact:,} of them exactly" if exact else ", or nearly so"
    return Insight(
        "data-leakage",
        f"{counted(count, 'sample')} of {first} ({percent(share)}) can be found in {second} too{how}.",
        rows,
        ids[0],
        min(1.0, GRAVITY * share),
        (),
        first,
        share,
        action=f"Split again with such pairs kept together, or drop these {count:,} from {first}.",
        buys=_without(rows, whole, first, judged),
        evidence={"against": second, "exact": exact, "samples": ids[:10], "others": _texts(table, "other")[:10]},
    )


def _outlying(samples: Samples, ranked: Ranked, columns: Sequence[Described], judged: Judged | None) -> Insight | None:
    likely = above(ranked, LIKELY)
    if likely.num_rows < FEWEST:
        return None
    rows = rows_named(samples, _texts(likely, "sample"))
    share = float(rows.mean())
    most = most_affected(rows, np.ones(len(samples), np.bool_), columns)
    how_many = f"{counted(int(rows.sum()), 'sample')} ({percent(share)})"
    return Insight(
        "out-of-distribution",
        f"{how_many} lie far from all others{_mostly(most)}{_outcome(rows, judged)}.",
        rows,
        _texts(likely, "sample")[0],
        min(1.0, GRAVITY * share),
        (),
        _subsets(samples, rows),
        share,
        action=f"Look at these {likely.num_rows:,}: drop what does not belong, collect more of what does.",
        evidence={**_named(most), "samples": _texts(likely, "sample")[:10]},
    )


def _without(rows: BoolArray, whole: BoolArray, name: str, judged: Judged | None) -> str:
    """Say what the leaking samples do to the figure of their subset."""
    if judged is None or not (judged.rows & rows).any() or not (judged.rows & whole & ~rows).any():
        return ""
    before, after = (float(judged.outcome[judged.rows & side].mean()) for side in (whole, whole & ~rows))
    texts = told(judged.measure, before, after)
    return f"An honest figure: without them {judged.noun} on {name} is {texts[1]} instead of {texts[0]}."


def _outcome(rows: BoolArray, judged: Judged | None) -> str:
    if judged is None or (judged.rows & rows).sum() < FEWEST_JUDGED or not (judged.rows & ~rows).any():
        return ""
    inside, outside = told(judged.measure, *judged.means(rows))
    return f"; {judged.noun} {inside} there, {outside} elsewhere"


def _mostly(most: Most | None) -> str:
    return "" if most is None else f", most of all where {most.condition} ({most.count:,} of {most.total:,})"


def _named(most: Most | None) -> dict[str, str]:
    return {} if most is None else {"most": most.condition}


def _swapped(table: pa.Table) -> str:
    """Say which label is most often to be which, where one pair stands out."""
    if not {"label", "suggested"} <= set(table.column_names):
        return ""
    pairs = Counter(zip(_texts(table, "label"), _texts(table, "suggested"), strict=True))
    (label, suggested), count = pairs.most_common(1)[0]
    if count < FEWEST or count < 0.1 * table.num_rows:
        return ""
    return f"; {count:,} labelled {label} look like {suggested}"


def _subsets(samples: Samples, rows: BoolArray) -> str:
    present = Counter(str(one) for one in samples.table[SUBSET].filter(pa.array(rows)).to_pylist())
    return ", ".join(name for name, _ in present.most_common())


def _known(samples: Samples, name: str) -> BoolArray:
    if not samples.has(name):
        return np.ones(len(samples), np.bool_)
    return ~np.asarray(samples.table[name].is_null(), np.bool_)


def _pairs(table: pa.Table) -> tuple[list[str], list[str]]:
    return _texts(table, "subset"), _texts(table, "other_subset")


def _exact(table: pa.Table) -> int:
    return sum(one == "exact" for one in _texts(table, "kind")) if "kind" in table.column_names else 0


def _texts(table: pa.Table, name: str) -> list[str]:
    return [str(one) for one in table[name].to_pylist()]
