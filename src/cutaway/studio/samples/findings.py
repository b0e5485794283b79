"""What analyses found about one sample: its twins, whether its label is doubted, and what people decided about that."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cutaway.errors import OverlayError
from cutaway.run.decisions import STUDIO, read_decisions
from cutaway.run.identity import Run
from cutaway.studio.populations import Loaded
from cutaway.studio.populations.doubted import MISLABELED, doubted_labels
from cutaway.studio.previews import SamplePreviews
from cutaway.studio.samples.facts import text_at
from cutaway.studio.wire.sample import Suggestion, TwinRow

__all__ = ["suggestion_of", "twins_of"]

MOST_TWINS = 100


def twins_of(loaded: Loaded, previews: SamplePreviews, sample: str) -> list[TwinRow]:
    """Return the samples that are the same, or nearly, as they were found among all."""
    found: dict[str, dict[str, Any]] = {}
    for kind, table_kind in (("leakage", "leakage"), ("duplicate", "duplicates")):
        held = loaded.kept(table_kind)
        for row in [] if held is None else _pairs(held.table, sample):
            other = row["other"] if row["sample"] == sample else row["sample"]
            if other != sample:
                found.setdefault(other, {**row, "as": kind})
    rows = loaded.rows_of(list(found))
    drawn = previews.known(loaded.run, set(rows))
    return [
        TwinRow(
            sample=other,
            subset=text_at(loaded, "subset", rows[other]) or "",
            label=text_at(loaded, "label", rows[other]),
            kind=row["as"],
            score=row["score"],
            reason=row["reason"],
            preview=other in drawn,
        )
        for other, row in list(found.items())[:MOST_TWINS]
        if other in rows
    ]


def suggestion_of(loaded: Loaded, sample: str, label: str | None) -> Suggestion | None:
    """Return what is said of the label of a sample, and what was decided; None where there is nothing of either."""
    row = loaded.kept_row(MISLABELED, sample)
    if row is not None and row["score"] is None:
        # A rank says little of a single label, unless it is among the first.
        first = doubted_labels(loaded)
        row = row if first is not None and pc.index(first["sample"], sample).as_py() >= 0 else None
    decision, decided = _decision(loaded.run, sample)
    if row is None and decision is None:
        return None
    return Suggestion(
        label=label,
        suggested=None if row is None else row["suggested"],
        score=None if row is None else row["score"],
        reason="" if row is None else row["reason"],
        decision=decision,
        decided_label=decided,
        overlay=None if decision is None else STUDIO,
    )


def _pairs(table: pa.Table, sample: str) -> list[dict[str, Any]]:
    ours = pc.or_(pc.equal(table["sample"], sample), pc.equal(table["other"], sample))
    rows: list[dict[str, Any]] = table.filter(ours).slice(0, MOST_TWINS).to_pylist()
    return rows


def _decision(run: Run, sample: str) -> tuple[Any, str | None]:
    try:
        return read_decisions(run).of(sample) or (None, None)
    except OverlayError:
        # What cannot be read decides nothing; whoever decides next is told.
        return None, None
