"""A comparison of two runs, kept with the evaluation that it begins at, for pages that show it again and again.

Kept as tables of that evaluation under the kind `compare_<digest>`, where the digest names what it was compared with:
the other run, its evaluation, and what made that one. So a newer evaluation of the other run is another comparison.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from cutaway.analysis.comparing.comparison import Comparison, Difference
from cutaway.run.analyses import AnalysisName, KeptTable, read_table, scope_of, write_table
from cutaway.run.evaluations import Evaluation

__all__ = ["keep_comparison", "kept_comparison"]

VERSION = 1


def keep_comparison(before: Evaluation, after: Evaluation, found: Comparison) -> None:
    """Keep what was found from one evaluation to another, beside the first."""
    kind, key = _kind(before, after)
    tables = {"slices": found.slices} | ({} if found.regions is None else {"regions": found.regions})
    for name, table in tables.items():
        write_table(before, _name(before, f"{kind}_{name}"), table, {"key": key})
    about = {
        "key": key,
        "count": found.count,
        "counts": None if found.counts is None else dict(found.counts),
        "accuracy": None if found.accuracy is None else asdict(found.accuracy),
        "loss": None if found.loss is None else asdict(found.loss),
        "notes": list(found.notes),
        "words": list(found.words),
        "regions": found.regions is not None,
    }
    # Last, since it says that the others are there.
    write_table(before, _name(before, kind), found.table, about)


def kept_comparison(before: Evaluation, after: Evaluation) -> Comparison | None:
    """Return what was kept of the same two evaluations; None where it has to be made."""
    kind, key = _kind(before, after)
    main = read_table(before, _name(before, kind), key)
    slices = read_table(before, _name(before, f"{kind}_slices"), key)
    if main is None or slices is None:
        return None
    regions = read_table(before, _name(before, f"{kind}_regions"), key) if main.about.get("regions") else None
    try:
        return _comparison(main, slices.table, None if regions is None else regions.table)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # not as we write it: made anew


def _comparison(main: KeptTable, slices: pa.Table, regions: pa.Table | None) -> Comparison:
    about = main.about
    counts: Mapping[str, Any] | None = about["counts"]
    return Comparison(
        names=("before", "after"),
        count=int(about["count"]),
        counts=None if counts is None else {str(name): int(count) for name, count in counts.items()},
        accuracy=_difference(about["accuracy"]),
        loss=_difference(about["loss"]),
        table=main.table,
        slices=slices,
        regions=regions,
        notes=tuple(map(str, about["notes"])),
        words=tuple(map(str, about["words"])),
    )


def _difference(told: Mapping[str, Any] | None) -> Difference | None:
    return None if told is None else Difference(**{name: float(value) for name, value in told.items()})


def _kind(before: Evaluation, after: Evaluation) -> tuple[str, str]:
    """Return the kind of the tables, and the key of what they were made from."""
    sides = [(one.run.id, one.number, one.source.key, one.source.time) for one in (before, after)]
    digest = hashlib.sha256(json.dumps([VERSION, sides[1][:2]]).encode()).hexdigest()
    return f"compare_{digest[:16]}", hashlib.sha256(json.dumps([VERSION, sides], default=str).encode()).hexdigest()


def _name(evaluation: Evaluation, kind: str) -> AnalysisName:
    return AnalysisName(scope_of(evaluation, evaluation.subsets), kind)
