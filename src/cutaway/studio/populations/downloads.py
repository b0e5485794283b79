"""Samples as CSV for other programs, in pieces: all their columns, or a list to label that `cutaway fix --from` takes.

No cell is one that a spreadsheet would run; how that is done is the same as wherever the library writes CSV.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa

from cutaway.analysis.samples import CORRECT, LABEL, LOSS, PREDICTION, SAMPLE, SUBSET
from cutaway.arrays import IndexArray
from cutaway.run.exporting import csv_bytes
from cutaway.studio.populations.derived import CLUSTER, DECISION, SUGGESTED, SUSPICION
from cutaway.studio.populations.loaded import Loaded

__all__ = ["csv_pieces", "file_name"]

PIECE_ROWS = 20_000
_FIRST = (SAMPLE, SUBSET, LABEL, PREDICTION, CORRECT, LOSS)


def csv_pieces(loaded: Loaded, rows: IndexArray, form: str) -> Iterator[bytes]:
    """Return the bytes of a CSV file, a piece at a time. What can be refused is refused before the first."""
    made = _to_label(loaded) if form == "label" else _samples(loaded)

    def pieces() -> Iterator[bytes]:
        yield csv_bytes(made.slice(0, 0), header=True)
        for start in range(0, len(rows), PIECE_ROWS):
            yield csv_bytes(made.take(pa.array(rows[start : start + PIECE_ROWS])), header=False)

    return pieces()


def file_name(loaded: Loaded, form: str) -> str:
    """Return a plain name for the file: of the run what is ASCII."""
    run = re.sub(r"[^A-Za-z0-9._-]+", "-", loaded.run.name).strip("-.")[:80] or "run"
    return f"{run}-{loaded.number}-{'to-label' if form == 'label' else 'samples'}.csv"


def _samples(loaded: Loaded) -> pa.Table:
    own = [name for name in loaded.own_columns if name in _FIRST or name.startswith(("metadata.", "metric."))]
    table = loaded.select(own)
    placed = next(loaded.maps(), None)
    if placed is not None:
        for axis, values in zip(("x", "y"), placed.positions.T, strict=True):
            table = table.append_column(axis, pa.array(values, from_pandas=True))
    if CLUSTER in loaded.column_names:
        table = table.append_column(CLUSTER, loaded.column(CLUSTER))
    return table


def _to_label(loaded: Loaded) -> pa.Table:
    """A line for each sample; one without an action is not decided."""
    there, empty = loaded.column_names, pa.nulls(len(loaded), pa.string())
    columns = {SAMPLE: loaded.column(SAMPLE), "action": empty, "label": empty, "weight": empty}
    if LABEL in there:
        columns["present_label"] = loaded.column(LABEL)
    for name in (SUGGESTED, SUSPICION, PREDICTION, LOSS, DECISION):
        if name in there:
            columns[name] = loaded.column(name)
    return pa.table(columns)
