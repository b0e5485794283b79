"""`find_leakage`: duplicates across subsets, which make a metric look better than it is. Looks for no duplicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.doubles.groups import ORDER
from cutaway.analysis.samples import CORRECT, SAMPLE, SUBSET, Samples
from cutaway.analysis.samples.ranked import Ranked

__all__ = ["find_leakage"]

TRAINING = "training"
HELD_OUT = ("test", "validation")


class _Member(NamedTuple):
    sample: str
    subset: str
    label: str | None


def find_leakage(duplicates: Ranked, samples: Samples | None = None) -> Ranked:
    """Return the held-out samples that are also in training, or in another held-out subset; `duplicates` found them.

    Each held-out sample has one row with the sample that it leaks from: `sample` of test or validation, `other` of
    training where its group of duplicates reaches there, else of the other held-out subset (told once, for test). The
    other columns are those of the duplicates. With `samples`, which the duplicates were found among, the words say of
    how many, and what the accuracy is without them.
    """
    rows = duplicates.table.to_pylist()
    leaks = [leak for group in _by_group(rows) for leak in _leaks(group)]
    leaks.sort(key=lambda one: (-one["score"], one["other_subset"] != TRAINING))
    schema = pa.schema([duplicates.table.schema.field(name) for name in duplicates.table.column_names])
    table = pa.Table.from_pylist(leaks, schema=schema)
    return Ranked(table, _words(table, samples), duplicates.notes)


def _by_group(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    groups: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    yield from groups.values()


def _leaks(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the leaks of one group: a chain of pairs, so that two members may be told together in no row."""
    members = _members(rows)
    by_subset: dict[str, list[_Member]] = {}
    for one in members.values():
        by_subset.setdefault(one.subset, []).append(one)
    told = {frozenset((row["sample"], row["other"])): row for row in rows}
    content = _contents(rows)
    for place, subset in enumerate(HELD_OUT):
        sources = by_subset.get(TRAINING) or [
            one for other in HELD_OUT[place + 1 :] for one in by_subset.get(other, [])
        ]
        for one in by_subset.get(subset, []) if sources else []:
            same = [other for other in sources if content[other.sample] == content[one.sample]]
            direct = [other for other in sources if frozenset((one.sample, other.sample)) in told]
            source = (same or direct or sources)[0]
            row = told.get(frozenset((one.sample, source.sample)))
            yield _leak(one, source, row, exact=bool(same), rows=rows)


def _leak(
    one: _Member, source: _Member, row: dict[str, Any] | None, *, exact: bool, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    # A chain is as sure as its weakest pair.
    score = row["score"] if row else 1.0 if exact else min(each["score"] for each in rows)
    kind = "exact" if exact else "near"
    how = "Same content as" if exact else "Nearly the same as"
    reason = f"{how} {source.sample} of {source.subset}"
    differ = one.label is not None and source.label is not None and one.label != source.label
    if differ:
        reason += f", but labelled {one.label}, that {source.label}"
    reason += f": drop {source.sample} from {source.subset}, or leave this out of the metric."
    return {
        "sample": one.sample, "score": score, "reason": reason, "other": source.sample, "kind": kind,
        "distance": row["distance"] if row else 0.0 if exact else None, "subset": one.subset,
        "other_subset": source.subset, "group": rows[0]["group"], "label": one.label, "other_label": source.label,
    }  # fmt: skip


def _members(rows: list[dict[str, Any]]) -> dict[str, _Member]:
    found: dict[str, _Member] = {}
    for row in rows:
        found[row["other"]] = _Member(row["other"], row["other_subset"], row.get("other_label"))
        found[row["sample"]] = _Member(row["sample"], row["subset"], row.get("label"))
    return found


def _contents(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return for each member the one that all samples of its content are told with."""
    content = {name: name for row in rows for name in (row["sample"], row["other"])}
    content.update({row["sample"]: row["other"] for row in rows if row["kind"] == "exact"})
    return content


def _words(table: pa.Table, samples: Samples | None) -> tuple[str, ...]:
    if not table.num_rows:
        return ("No duplicate lies across subsets: what is measured on held-out samples was not trained on.",)
    counts = Counter(zip(table["subset"].to_pylist(), table["other_subset"].to_pylist(), strict=True))
    words = []
    for (subset, other), count in sorted(counts.items(), key=lambda one: _place(*one[0])):
        of = f" of {_total(samples, subset):,}" if samples is not None else ""
        one = count == 1
        words.append(
            f"{count:,}{of} {subset} {'sample' if one and not of else 'samples'} {'is' if one else 'are'} (nearly) in "
            f"{other} too."
        )
    effects = () if samples is None else _effects(table, samples)
    return (*words, *effects)


def _place(subset: str, other: str) -> tuple[bool, int, str]:
    return other != TRAINING, ORDER.index(subset), other


def _total(samples: Samples, subset: str) -> int:
    return int(pc.sum(pc.equal(samples.table[SUBSET], subset)).as_py())


def _effects(table: pa.Table, samples: Samples) -> Iterator[str]:
    """Yield for each held-out subset what its accuracy is with and without what is in training too."""
    if not samples.has(CORRECT):
        return
    leaked = table.filter(pc.equal(table["other_subset"], TRAINING))["sample"]
    for subset in HELD_OUT:
        rows = samples.table.filter(pc.equal(samples.table[SUBSET], subset)).select([SAMPLE, CORRECT]).drop_null()
        clean = rows.filter(pc.invert(pc.is_in(rows[SAMPLE].cast(pa.string()), value_set=leaked.combine_chunks())))
        if 0 < clean.num_rows < rows.num_rows:
            whole, without = (float(pc.mean(one[CORRECT].cast(pa.float64())).as_py()) for one in (rows, clean))
            yield f"Accuracy on {subset} is {whole:.4f} with them and {without:.4f} without."
