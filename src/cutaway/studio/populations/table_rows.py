"""Samples as rows of the table beside the map."""

from __future__ import annotations

from collections.abc import Sequence

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
    none = pa.nulls(len(rows))
    told = pa.table({name: loaded.column(name).take(chosen) if name in there else none for name in _COLUMNS})
    drawn = previews.known(loaded.run, set(told[SAMPLE].to_pylist()))
    return [
        PopulationRow(
            row=row,
            sample=text(one[SAMPLE]),
            subset=text(one[SUBSET]),
            label=_text_or_none(one[LABEL]),
            prediction=_text_or_none(one[PREDICTION]),
            correct=one[CORRECT],
            loss=one[LOSS],
            preview=one[SAMPLE] in drawn,
            suspicion=one[SUSPICION],
            suggested=_text_or_none(one[SUGGESTED]),
            decision=one[DECISION],
        )
        for row, one in zip(rows, told.to_pylist(), strict=True)
    ]


def _text_or_none(value: str | None) -> str | None:
    return None if value is None else text(value)
