"""`find_duplicates`: samples that are in the population twice, by content or nearly so. Removes none of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.doubles.close import FEWEST, Pairs, close_pairs
from cutaway.analysis.doubles.equal import firsts_by_content, firsts_by_vector, speaking
from cutaway.analysis.doubles.groups import Groups, best_first
from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.samples import LABEL, SUBSET, Samples
from cutaway.analysis.samples.coding import left_out
from cutaway.analysis.samples.ranked import Ranked
from cutaway.arrays import Int64Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError

__all__ = ["find_duplicates"]


# However near, a pair with different content is never as sure as one with the same.
SUREST_NEAR = 0.999


class _Double(NamedTuple):
    """A row that could go, the row that stays, and what says so; `times` nearer than usual, NaN for copies."""

    row: int
    other: int
    kind: str
    score: float
    times: float


@dataclass(frozen=True)
class _Facts:
    """What is told of a sample, by rows."""

    ids: list[str]
    subsets: list[str | None]
    labels: list[str | None] | None

    def conflict(self, one: _Double) -> bool:
        if self.labels is None:
            return False
        mine, its = self.labels[one.row], self.labels[one.other]
        return mine is not None and its is not None and mine != its


def find_duplicates(samples: Samples, nearest: Nearest, *, false_share: float = 0.05) -> Ranked:
    """Return the samples that are there twice, each with the one to keep in its place.

    Exact duplicates have the same content hash, wherever they lie; their score is 1. Near duplicates lie so near to
    each other in the latent space, measured by where the further neighbours of both are, that chance puts hardly any
    pair there: at most `false_share` of those told. The score of a near one is 1 less the share of chance among the
    pairs that are as near as it or nearer. What a model does not see as nearly the same (a digit moved by a pixel,
    for many models) is not found; nor are crowds of more than ten near copies of one sample.

    A group of n duplicates has n - 1 rows: `sample` could go, `other` could stay in its place. Test samples stay before
    validation samples, and those before training samples, so that metrics remain comparable; then the first stays.
    Duplicates with different labels come first of those with the same score. Beside sample, score and reason, the
    columns are other, kind ("exact" or "near"), distance (in the latent space, null where a vector is not finite),
    subset, other_subset, group (a number), and label and other_label where there are labels.
    """
    if not 0 < false_share < 1:
        raise ConfigurationError(f"`0 < false_share < 1` must hold, but got false_share={false_share}.")
    if len(nearest.indices) != len(samples):
        raise ConfigurationError(f"`nearest` is about {len(nearest.indices)} samples, but there are {len(samples)}.")
    if len(samples) and samples.hashes is None and not samples.finite.any():
        raise AnalysisUnavailable("duplicates", "no sample has a finite latent vector or a content hash")
    contents = firsts_by_content(samples)
    rows = np.arange(len(samples))
    counted = speaking(samples) & (contents == rows)
    vectors, notes = firsts_by_vector(samples, counted)
    pairs = close_pairs(nearest, counted & (vectors == rows), false_share=false_share)
    facts = _facts(samples)
    found, groups = _doubles(facts, contents, vectors, pairs)
    found.sort(
        key=lambda one: (-one.score, not facts.conflict(one), facts.subsets[one.row] == facts.subsets[one.other])
    )
    table = _table(samples, facts, found, groups)
    return Ranked(table, _words_about(table), _notes(samples, nearest) + notes)


def _facts(samples: Samples) -> _Facts:
    labels = None
    if samples.has(LABEL):
        labels = [None if one is None else str(one) for one in samples.table[LABEL].to_pylist()]
    return _Facts(samples.ids, samples.table[SUBSET].to_pylist(), labels)


def _doubles(facts: _Facts, contents: Int64Array, vectors: Int64Array, pairs: Pairs) -> tuple[list[_Double], Groups]:
    """Return each duplicate with one to keep, and the groups that they form."""
    places = best_first(facts.subsets).tolist()
    groups = Groups(len(contents))
    keepers, copies = _keepers(contents, places)
    found = []
    for copy in copies:
        first = int(contents[copy])
        other = keepers[first]
        row = first if copy == other else copy  # the first one goes where a later copy stays
        groups.join(row, other)
        found.append(_Double(row, other, "exact", 1.0, np.nan))
    equal = np.flatnonzero(vectors != np.arange(len(vectors)))
    near = [(int(row), int(vectors[row]), SUREST_NEAR, np.inf) for row in equal]
    near += [
        (one, other, min(SUREST_NEAR, 1 - chance), times)
        for one, other, times, chance in zip(*(part.tolist() for part in pairs), strict=True)
    ]
    for first, second, score, times in near:
        other, row = sorted((keepers.get(one, one) for one in (first, second)), key=places.__getitem__)
        # A group of near ones is told by as few pairs as hold it together, the surest of them.
        if groups.join(row, other):
            found.append(_Double(row, other, "near", score, times))
    return found, groups


def _keepers(contents: Int64Array, places: list[int]) -> tuple[dict[int, int], list[int]]:
    """Return which copy is kept for each first row that has copies, and the rows of the copies."""
    keepers: dict[int, int] = {}
    copies = np.flatnonzero(contents != np.arange(len(contents))).tolist()
    for row in copies:
        first = int(contents[row])
        keepers[first] = min(keepers.get(first, first), row, key=places.__getitem__)
    return keepers, copies


def _table(samples: Samples, facts: _Facts, found: list[_Double], groups: Groups) -> pa.Table:
    numbers: dict[int, int] = {}
    rows = np.array([one.row for one in found], np.int64)
    others = np.array([one.other for one in found], np.int64)
    columns: dict[str, Any] = {
        "sample": pa.array([facts.ids[one] for one in rows], pa.string()),
        "score": pa.array([one.score for one in found], pa.float64()),
        "reason": pa.array([], pa.string()),
        "other": pa.array([facts.ids[one] for one in others], pa.string()),
        "kind": pa.array([one.kind for one in found], pa.string()),
        "distance": _distances(samples, rows, others),
        "subset": pa.array([facts.subsets[one] for one in rows], pa.string()),
        "other_subset": pa.array([facts.subsets[one] for one in others], pa.string()),
        "group": pa.array([numbers.setdefault(groups.of(one.row), len(numbers) + 1) for one in found], pa.int64()),
    }
    if facts.labels is not None:
        columns["label"] = pa.array([facts.labels[one] for one in rows], pa.string())
        columns["other_label"] = pa.array([facts.labels[one] for one in others], pa.string())
    told = pa.table({name: column for name, column in columns.items() if name != "reason"}).to_pylist()
    reasons = [_reason_of(row, one.times) for row, one in zip(told, found, strict=True)]
    return pa.table({**columns, "reason": pa.array(reasons, pa.string())})


def _distances(samples: Samples, rows: Int64Array, others: Int64Array) -> pa.Array:
    """Return distances anew: an index finds those of near pairs with an error that is larger than some of them."""
    found = np.full(len(rows), np.nan)
    for start in range(0, len(rows), 4_096):
        part = slice(start, start + 4_096)
        apart = samples.latents[rows[part]].astype(np.float64) - samples.latents[others[part]]
        found[part] = np.sqrt(np.einsum("ij,ij->i", apart, apart))
    return pa.array(found, pa.float64(), mask=~np.isfinite(found))


def _notes(samples: Samples, nearest: Nearest) -> tuple[str, ...]:
    notes = []
    lost = int((~samples.finite).sum())
    if samples.hashes is None:
        notes.append("There are no content hashes, so that duplicates are found by their latent vectors only.")
        notes.extend(left_out(len(samples), {"without a finite latent vector": lost}))
    elif lost:
        notes.append(f"{lost:,} of {len(samples):,} samples have no finite latent vector: only exact copies are found.")
    if len(samples) - lost <= FEWEST or nearest.indices.shape[1] < FEWEST:
        notes.append(f"Near duplicates need {FEWEST} neighbours of a sample to compare with: none were looked for.")
    return tuple(notes)


def _reason_of(row: Mapping[str, Any], times: float) -> str:
    """Say why a sample is a duplicate, and what to do; `row` is its row of the table, `times` nearer than usual."""
    other = row["other"]
    if row["kind"] == "exact":
        why = f"Same content as {other}."
    elif np.isinf(times):
        why = f"Same latent vector as {other}."
    else:
        why = f"Nearly the same as {other}: {times:.0f} times nearer than further neighbours of both."
    mine, its = row.get("label"), row.get("other_label")
    if mine is not None and its is not None and mine != its:
        return f"{why} But this is labelled {mine}, that {its}: one is wrong, so look at both before one goes."
    if row["subset"] != row["other_subset"]:
        return f"{why} It is in {row['subset']} and in {row['other_subset']}: keep {other}, drop this."
    return f"{why} Keep {other}, drop this."


def _words_about(table: pa.Table) -> tuple[str, ...]:
    """Say how many duplicates there are, and which are worst."""
    total = table.num_rows
    if not total:
        return ("No sample is there twice: no two have the same content, or lie nearer than chance puts them.",)
    exact = int(pc.sum(pc.equal(table["kind"], "exact")).as_py())
    groups = len(pc.unique(table["group"]))
    kinds = " and ".join(
        text for count, text in ((exact, f"{exact:,} exact"), (total - exact, f"{total - exact:,} near")) if count
    )
    words = [
        f"{total:,} {'sample is' if total == 1 else 'samples are'} there twice, in {groups:,} "
        f"{'group' if groups == 1 else 'groups'} ({kinds}). Of each group one is enough."
    ]
    conflicts = _conflicts(table)
    if conflicts:
        have = "duplicate has" if conflicts == 1 else "duplicates have"
        words.insert(0, f"{conflicts:,} {have} another label than the sample it is a copy of: one of the two is wrong.")
    across = int(pc.sum(pc.not_equal(table["subset"], table["other_subset"])).as_py() or 0)
    if across:
        words.append(f"{across:,} of them {'lies' if across == 1 else 'lie'} across two subsets.")
    return tuple(words)


def _conflicts(table: pa.Table) -> int:
    if "label" not in table.column_names:
        return 0
    return int(pc.sum(pc.not_equal(table["label"], table["other_label"])).as_py() or 0)
