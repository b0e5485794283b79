"""What the ranked tables say as a whole: wrong labels, doubles, leaks, strangers. Ranks no sample anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.insights.columns import Described
from cutaway.analysis.insights.judging import Judged, subsets_of
from cutaway.analysis.insights.values import ALARMS, Insight
from cutaway.analysis.insights.wording import instead, listed, told
from cutaway.analysis.labels.words import suspicion
from cutaway.analysis.libraries import library
from cutaway.analysis.samples import LABEL, Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.arrays import BoolArray
from cutaway.wording import counted, percent

__all__ = ["insights_from_ranked", "likely_mislabeled"]

# Candidates count from this score on; for wrong labels it is the probability that the label is wrong.
LIKELY = 0.5
# Fewer are what chance leaves in any data set, or in a class: a look at the table, no insight.
FEWEST = 3
# Nor is a class named that is not so many times as much concerned as all are.
TWICE = 2.0
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
    found: list[Insight] = []
    likely = {name: _above(one, LIKELY) for name, one in ranked.items()}
    enough = {name: table for name, table in likely.items() if table.num_rows >= FEWEST}
    if "mislabeled" in enough:
        found.append(_mislabeled(samples, enough["mislabeled"], columns))
    if "ambiguous" in enough:
        found.append(_ambiguous(samples, enough["ambiguous"], columns, judged))
    if "outliers" in enough:
        found.append(_outlying(samples, enough["outliers"], columns, judged))
    if "duplicates" in ranked:
        found += _duplicated(samples, ranked["duplicates"].table, columns)
    if "leakage" in ranked:
        found += _leaking(samples, ranked["leakage"].table, judged)
    return found


def likely_mislabeled(samples: Samples, ranked: Mapping[str, Ranked]) -> BoolArray:
    """Return the rows whose label is likely wrong; none without a table of them."""
    if "mislabeled" not in ranked:
        return np.zeros(len(samples), np.bool_)
    return _rows_of(samples, _texts(_above(ranked["mislabeled"], LIKELY), "sample"))


def _mislabeled(samples: Samples, likely: pa.Table, columns: Sequence[Described]) -> Insight:
    """Return the insight: of all labels of the subsets that have any such, how many are likely and expected wrong."""
    labelled = ~np.asarray(samples.table[LABEL].is_null(), np.bool_) if samples.has(LABEL) else _all(samples)
    named = _named(samples, likely, columns, labelled)
    expected, total = float(np.sum(likely["score"].to_numpy())), named.total
    words = (
        f"{suspicion(likely.num_rows, expected)} ({percent(expected / total)} of {total:,} labels of {named.subset})"
        f"{named.mostly}{_swapped(likely)}."
    )
    return Insight(
        "mislabeled-samples",
        words,
        named.rows,
        named.ids[0],
        min(1.0, GRAVITY * expected / total),
        subset=named.subset,
        share=named.share,
        measure="wrong labels",
        is_share=True,
        inside=expected / total,
        action=f"Relabel: look at these {likely.num_rows:,} in their order; about {expected:,.0f} need it.",
        buys=f"At most, the {percent(expected / total)} of labels of {named.subset} that are wrong become right.",
        evidence={"expected": expected, **named.evidence},
    )


def _ambiguous(samples: Samples, likely: pa.Table, columns: Sequence[Described], judged: Judged | None) -> Insight:
    named = _named(samples, likely, columns, _all(samples))
    look = f"Look at the first of these {likely.num_rows:,}: get a second opinion, or give them a class of their own."
    train = "Train longer, or give the model more to go by: it hardly tells the classes apart."
    return Insight(
        "ambiguous",
        f"{named.how_many} lie between classes{named.mostly}{_outcome(named.rows, judged)}.",
        named.rows,
        named.ids[0],
        min(1.0, named.share),
        subset=named.subset,
        share=named.share,
        action=look if named.share < HALF else train,
        evidence=named.evidence,
    )


def _outlying(samples: Samples, likely: pa.Table, columns: Sequence[Described], judged: Judged | None) -> Insight:
    named = _named(samples, likely, columns, _all(samples))
    return Insight(
        "out-of-distribution",
        f"{named.how_many} lie far from all others{named.mostly}{_outcome(named.rows, judged)}.",
        named.rows,
        named.ids[0],
        min(1.0, GRAVITY * named.share),
        subset=named.subset,
        share=named.share,
        action=f"Look at these {likely.num_rows:,}: drop what does not belong, and collect more of what does.",
        evidence=named.evidence,
    )


def _duplicated(samples: Samples, table: pa.Table, columns: Sequence[Described]) -> list[Insight]:
    """Return the insight about samples that repeat another of their subset; between subsets they are leaks."""
    if {"subset", "other_subset"} <= set(table.column_names):
        table = table.filter(pa.array([a == b for a, b in _pairs(table)], pa.bool_()))
    exact = _exact(table)
    if not exact and table.num_rows < FEWEST:
        return []
    named = _named(samples, table, columns, _all(samples))
    kinds = "" if not exact else " exactly" if exact == table.num_rows else f" ({exact:,} exactly)"
    insight = Insight(
        "duplication",
        f"{named.how_many} repeat another one of the same subset{kinds}{named.mostly}.",
        named.rows,
        named.ids[0],
        min(1.0, GRAVITY * named.share),
        subset=named.subset,
        share=named.share,
        action=f"Drop up to {int(named.rows.sum()):,}, or give each group of copies the weight of one sample.",
        buys=f"{percent(named.share)} fewer samples of {named.subset}, and no figure that counts one twice.",
        evidence={"exact": exact, **named.evidence},
    )
    return [insight]


def _leaking(samples: Samples, table: pa.Table, judged: Judged | None) -> list[Insight]:
    if table.num_rows == 0 or not {"subset", "other_subset"} <= set(table.column_names):
        return []
    pairs = _pairs(table)
    parts = [
        (pair, table.filter(pa.array([one == pair for one in pairs], pa.bool_())))
        for pair, _ in Counter(pairs).most_common()
    ]
    return [_leak(samples, pair, part, judged) for pair, part in parts if _exact(part) or part.num_rows >= FEWEST]


def _leak(samples: Samples, pair: tuple[str, str], table: pa.Table, judged: Judged | None) -> Insight:
    """Return the insight about one subset, whose samples are also in another: their share is of all its samples."""
    first, second = pair
    ids = _texts(table, "sample")
    rows, whole = _rows_of(samples, ids), subsets_of(samples)[1][first]
    count, total, exact = int(rows.sum()), int(whole.sum()), _exact(table)
    share, verb = count / max(total, 1), "is" if count == 1 else "are"
    how = "" if exact == count else f", {exact:,} of them exactly" if exact else ", or nearly so"
    these = "it" if count == 1 else f"these {count:,}"
    return Insight(
        "data-leakage",
        f"{count:,} of {counted(total, 'sample')} of {first} ({percent(share)}) {verb} also in {second}{how}.",
        rows,
        ids[0],
        min(1.0, GRAVITY * share),
        subset=first,
        share=share,
        action=f"Split again with such pairs kept together, or drop {these} from {first}.",
        buys=_without(rows, whole, first, judged),
        evidence={"against": second, "exact": exact, "samples": ids[:10], "others": _texts(table, "other")[:10]},
    )


def _without(rows: BoolArray, whole: BoolArray, name: str, judged: Judged | None) -> str:
    """Say what the leaking samples do to the figure of their subset."""
    if judged is None or not (judged.rows & rows).any() or not (judged.rows & whole & ~rows).any():
        return ""
    before, after = (float(judged.outcome[judged.rows & side].mean()) for side in (whole, whole & ~rows))
    if not instead(before, after):
        return f"Without them, {judged.noun} on {name} stays at {told(judged.measure, before)[0]}."
    texts = told(judged.measure, before, after)
    return f"Without them, {judged.noun} on {name} is {texts[1]} instead of {texts[0]}."


def _outcome(rows: BoolArray, judged: Judged | None) -> str:
    """Say how the judged ones of some samples do, against all other judged ones."""
    if judged is None or (judged.rows & rows).sum() < FEWEST_JUDGED or not (judged.rows & ~rows).any():
        return ""
    inside, outside = told(judged.measure, *judged.means(rows))
    return f"; {judged.noun} on {judged.words} {inside} there, {outside} elsewhere"


def _swapped(table: pa.Table) -> str:
    """Say which label is most often to be which, where one pair stands out."""
    if not {"label", "suggested"} <= set(table.column_names):
        return ""
    pairs = Counter(zip(_texts(table, "label"), _texts(table, "suggested"), strict=True))
    (label, suggested), count = pairs.most_common(1)[0]
    if count < FEWEST or count < 0.1 * table.num_rows:
        return ""
    return f"; {count:,} labelled {label} look like {suggested}"


@dataclass(frozen=True)
class _Named:
    """The samples that a table names: in which subsets they are, and how many samples these have that could be meant.

    `mostly` says which value of a column holds too many of them, and `evidence` is what all of their insights give.
    """

    ids: list[str]
    rows: BoolArray
    subset: str
    total: int
    mostly: str
    evidence: dict[str, Any]

    @property
    def share(self) -> float:
        return float(self.rows.sum() / max(self.total, 1))

    @property
    def how_many(self) -> str:
        whole = counted(self.total, "sample")
        return f"{int(self.rows.sum()):,} of {whole} of {self.subset} ({percent(self.share)})"


def _named(samples: Samples, table: pa.Table, columns: Sequence[Described], could_be: BoolArray) -> _Named:
    """Return what a table names; `could_be` are the samples that it could have named."""
    ids = _texts(table, "sample")
    rows = _rows_of(samples, ids)
    _, rows_of = subsets_of(samples)
    present = Counter({name: int((rows & own).sum()) for name, own in rows_of.items() if (rows & own).any()})
    among = could_be & np.logical_or.reduce([np.zeros(len(samples), np.bool_), *(rows_of[name] for name in present)])
    subset, total = listed([name for name, _ in present.most_common()]), int(among.sum())
    most = _most_affected(rows, among, columns)
    if most is None:
        return _Named(ids, rows, subset, total, "", {"samples": ids[:10]})
    condition, count, whole = most
    mostly = f", most of all where {condition} ({count:,} of {whole:,})"
    return _Named(ids, rows, subset, total, mostly, {"most": condition, "samples": ids[:10]})


def _most_affected(rows: BoolArray, among: BoolArray, columns: Sequence[Described]) -> tuple[str, int, int] | None:
    """Return the value that holds more of `rows` than its share of `among` lets expect, how many, and of how many."""
    binom = library("scipy.stats", "Insights").binom
    concerned, base = int((rows & among).sum()), int(among.sum())
    found: list[tuple[float, str, int, int]] = []
    looks = sum(len(column.names) for column in columns)
    for column in columns:
        if column.numbers is not None:
            continue
        totals = np.bincount(column.codes[among & (column.codes >= 0)], minlength=len(column.names))
        hits = np.bincount(column.codes[rows & among & (column.codes >= 0)], minlength=len(column.names))
        for code in np.flatnonzero(hits >= FEWEST):
            count, total = int(hits[code]), int(totals[code])
            chance = float(binom.sf(count - 1, concerned, total / base)) * looks
            if chance <= ALARMS and count / total >= TWICE * concerned / base:
                found.append((chance, f"{column.name} = {column.names[code]}", count, total))
    return min(found)[1:] if found else None


def _above(ranked: Ranked, score: float) -> pa.Table:
    """Return the rows of a ranked table with at least this score."""
    scores = np.asarray(ranked.table["score"].to_numpy(), np.float64)
    return ranked.table.filter(pa.array(scores >= score))


def _rows_of(samples: Samples, ids: Sequence[str]) -> BoolArray:
    """Return which rows have one of these ids."""
    wanted = set(ids)
    return np.fromiter((one in wanted for one in samples.ids), np.bool_, len(samples))


def _all(samples: Samples) -> BoolArray:
    return np.ones(len(samples), np.bool_)


def _pairs(table: pa.Table) -> list[tuple[str, str]]:
    return list(zip(_texts(table, "subset"), _texts(table, "other_subset"), strict=True))


def _exact(table: pa.Table) -> int:
    return sum(one == "exact" for one in _texts(table, "kind")) if "kind" in table.column_names else 0


def _texts(table: pa.Table, name: str) -> list[str]:
    return [str(one) for one in table[name].to_pylist()]
