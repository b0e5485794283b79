"""Samples as rows of the table beside the map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

import pyarrow as pa

from cutaway.analysis.samples import CORRECT, LABEL, LOSS, PREDICTION, SAMPLE, SUBSET
from cutaway.studio.answers.plain import text
from cutaway.studio.populations.derived import DECISION, SUGGESTED, SUSPICION
from cutaway.studio.populations.loaded import Loaded
from cutaway.studio.previews import SamplePreviews
from cutaway.studio.wire.population import PopulationRow

__all__ = ["asked_rows", "table_rows"]

_COLUMNS = (SAMPLE, SUBSET, LABEL, PREDICTION, CORRECT, LOSS, SUSPICION, SUGGESTED, DECISION)


def asked_rows(loaded: Loaded, rows: Sequence[int], samples: Sequence[str]) -> list[int]:
    """Return the rows that are meant by number and by id, in that order; what there is not is left out."""
    known = loaded.rows_of(samples) if samples else {}
    return [one for one in rows if 0 <= one < len(loaded)] + [known[one] for one in samples if one in known]


def table_rows(loaded: Loaded, previews: SamplePreviews, rows: Sequence[int]) -> list[PopulationRow]:
    """Return some samples, in the order of `rows`."""
    if not rows:
        return []
    there = loaded.column_names
    chosen = pa.array(rows, pa.int64())
    told = {name: loaded.column(name).take(chosen).to_pylist() for name in _COLUMNS if name in there}
    empty: list[Any] = [None] * len(rows)
    columns = {name: told.get(name, empty) for name in _COLUMNS}
    drawn = previews.known(loaded.run, set(columns[SAMPLE]))
    return [
        PopulationRow(
            row=row,
            sample=text(columns[SAMPLE][place]),
            subset=text(columns[SUBSET][place]),
            label=_text_or_none(columns[LABEL][place]),
            prediction=_text_or_none(columns[PREDICTION][place]),
            correct=columns[CORRECT][place],
            loss=columns[LOSS][place],
            preview=columns[SAMPLE][place] in drawn,
            suspicion=columns[SUSPICION][place],
            suggested=_text_or_none(columns[SUGGESTED][place]),
            decision=cast('Literal["accepted", "rejected"] | None', columns[DECISION][place]),
        )
        for place, row in enumerate(rows)
    ]


def _text_or_none(value: str | None) -> str | None:
    return None if value is None else text(value)
