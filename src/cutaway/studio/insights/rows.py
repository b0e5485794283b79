"""The insights of an evaluation as the page shows them: each with the samples that show it best, and its test."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.insights import SUMMARISED
from cutaway.analysis.samples import LOSS, SUBSET, Samples
from cutaway.analysis.slice_tests import conditions_of, insight_test_of
from cutaway.arrays import IndexArray
from cutaway.errors import ConfigurationError, CutawayError
from cutaway.studio.answers.plain import number_or_none, text
from cutaway.studio.insights.slice_testing import samples_of
from cutaway.studio.populations.loaded import Loaded
from cutaway.studio.previews import has_pictures
from cutaway.studio.wire.insights import InsightRow, InsightsAnswer

__all__ = ["insights_of"]

MOST_INSIGHTS = 200
MOST_SAMPLES = 12
# Kinds that no condition tells, each with the table that ranks the samples that they are about.
_RANKED = {kind: analysis for analysis, kind in SUMMARISED.items()}


def insights_of(loaded: Loaded) -> InsightsAnswer:
    """Return what was found to be systematically wrong, the gravest first; `made` says whether it was looked for."""
    held = loaded.kept("insights")
    if held is None:
        return InsightsAnswer(evaluation=loaded.number, made=False, insights=[], notes=loaded.kept_notes)
    rows = held.table.slice(0, MOST_INSIGHTS).to_pylist()
    notes = held.about.get("notes")
    notes = [text(one) for one in notes if isinstance(one, str)] if isinstance(notes, list) else []
    if held.table.num_rows > len(rows):
        notes.append(f"{held.table.num_rows - len(rows):,} more insights are in the table that the run keeps.")
    samples = samples_of(loaded) if rows else None
    pictures = has_pictures(loaded.run)
    insights = [_row(loaded, samples, one, pictures=pictures) for one in rows if samples is not None]
    return InsightsAnswer(evaluation=loaded.number, made=True, insights=insights, notes=notes)


def _row(loaded: Loaded, samples: Samples, row: Mapping[str, Any], *, pictures: bool) -> InsightRow:
    where = _conditions(row["where"])
    told = "\0".join(str(row[name]) for name in ("kind", "where", "subset", "reason"))
    figures = {name: number_or_none(row.get(name)) for name in ("share", "inside", "outside", "low", "high", "p")}
    return InsightRow(
        id=f"{row['kind'][:40]}-{hashlib.sha256(told.encode('utf-8', 'replace')).hexdigest()[:12]}",
        kind=text(row["kind"]),
        words=text(row["reason"]),
        severity=row["score"],
        count=row["count"],
        subset=text(row["subset"]),
        where=where,
        measure=text(row["measure"]),
        is_share=row["is_share"],
        sides=[text(row["inside_of"]), text(row["outside_of"])],
        action=text(row["action"]),
        buys=text(row["buys"]),
        samples=_shown(loaded, samples, row, where),
        previews=pictures,
        test=_test(samples, row),
        **figures,
    )


def _conditions(where: str) -> list[str]:
    try:
        return list(conditions_of(where))
    except ConfigurationError:
        return []  # a run of somebody else's: no condition that could be followed


def _test(samples: Samples, row: Mapping[str, Any]) -> str | None:
    try:
        test = insight_test_of(samples, row)
    except ConfigurationError:
        return None
    return None if test is None else test.text


def _shown(loaded: Loaded, samples: Samples, row: Mapping[str, Any], where: Sequence[str]) -> list[str]:
    """Return the samples that show an insight best: the one that it names, then by what it is about."""
    ranked = loaded.kept(_RANKED[row["kind"]]) if not where and row["kind"] in _RANKED else None
    if ranked is not None:
        chosen = pa.array(_subsets(loaded, row["subset"]), pa.string())
        meant = ranked.table.filter(pc.is_in(ranked.table["subset"], value_set=chosen))
        # Such a table ranks more samples than the insight is about.
        found = meant["sample"].slice(0, min(MOST_SAMPLES, max(row["count"], 0))).to_pylist()
    else:
        found = [str(loaded.ids[int(one)].as_py()) for one in _worst(loaded, samples, row["subset"], where)]
    return list(dict.fromkeys([row["sample"], *found]))[:MOST_SAMPLES]


def _worst(loaded: Loaded, samples: Samples, subset: str, where: Sequence[str]) -> IndexArray:
    """Return the rows with the highest loss among those that are meant."""
    try:
        meant = loaded.where(where)
    except CutawayError:
        return np.empty(0, np.intp)
    chosen = pa.array(_subsets(loaded, subset), pa.string())
    rows = np.flatnonzero(meant & np.asarray(pc.is_in(loaded.column(SUBSET), value_set=chosen)))
    if not samples.has(LOSS):
        return rows[:MOST_SAMPLES]
    losses = np.nan_to_num(samples.numbers(LOSS)[rows], nan=-np.inf)
    return rows[np.argsort(-losses, kind="stable")[:MOST_SAMPLES]]


def _subsets(loaded: Loaded, told: str) -> list[str]:
    """Return the subsets that an insight is about: `validation and test`, or all where it names none."""
    named = re.split(r", | and ", told)
    return [one for one in loaded.subsets if one in named] or list(loaded.subsets)
