"""What a column is: its kind, its range, how many values it has, and how closely the loss follows it."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.curves.strength import rank_correlation_value, rank_share_value
from cutaway.analysis.samples import CORRECT, LABEL, LOSS, PREDICTION, SAMPLE, SUBSET
from cutaway.studio.populations import derived
from cutaway.studio.populations.coding import is_number, numbers, texts
from cutaway.studio.populations.loaded import Loaded
from cutaway.studio.populations.texts import is_text
from cutaway.studio.wire import PopulationColumn

__all__ = ["described_columns", "is_searched"]

Kind = Literal["number", "category", "yes-or-no", "text"]
Group = Literal["sample", "answer", "score", "metadata", "metric", "analysis"]

# A text column of which nearly every value is another one is read, not coloured; of few samples all columns are so.
FEWEST_TEXTS = 50
NEARLY_ALL = 0.8
# How closely the loss follows a column is told from so many samples, and for at most so many values.
MOST_RANKED = 50_000
MOST_GROUPS = 1_000
AT_ONCE = 8
_GROUPS: dict[str, Group] = {
    SAMPLE: "sample",
    SUBSET: "sample",
    "error": "sample",
    LABEL: "answer",
    PREDICTION: "answer",
    CORRECT: "answer",
    derived.PROBABILITY: "answer",
}
_RANKED_GROUPS = ("metadata", "metric", "sample")


def described_columns(loaded: Loaded) -> list[PopulationColumn]:
    """Return every column of a population, without keeping those that nobody asked for yet."""
    return [*loaded.remembered("described", None, lambda: _own(loaded)), *_added(loaded)]


def _own(loaded: Loaded) -> list[PopulationColumn]:
    names = loaded.own_columns
    found = []
    # Several at a time: a file of a million samples takes long to open, and all at once would fill the memory.
    for start in range(0, len(names), AT_ONCE):
        table = loaded.fresh_columns(names[start : start + AT_ONCE])
        found += [_described(loaded, name, table[name]) for name in table.column_names]
    return found


def _added(loaded: Loaded) -> list[PopulationColumn]:
    names = [name for name in loaded.column_names if name not in loaded.own_columns]
    return [
        loaded.remembered(
            ("described", name), loaded.column_stamp(name), partial(_described, loaded, name, loaded.column(name))
        )
        for name in names
    ]


def is_searched(loaded: Loaded, name: str) -> bool:
    """Whether a text that is looked for may stand in a column: one of texts that is not the id or the subset."""
    return name not in (SAMPLE, SUBSET, "error") and is_text(loaded.column(name).type)


def _described(loaded: Loaded, name: str, column: pa.ChunkedArray) -> PopulationColumn:
    numeric = numbers(column) if is_number(column.type) else None
    finite = None if numeric is None else numeric[np.isfinite(numeric)]
    distinct = len(loaded) - loaded.repeated_ids if name == SAMPLE else _distinct(column)
    kind = "category" if name == derived.CLUSTER else _kind(column, distinct)
    group = _group(name)
    return PopulationColumn(
        name=name,
        kind=kind,
        group=group,
        values=None if kind == "number" else distinct,
        missing=column.null_count if numeric is None else int(np.isnan(numeric).sum()),
        min=float(finite.min()) if finite is not None and len(finite) else None,
        max=float(finite.max()) if finite is not None and len(finite) else None,
        strength=_strength(loaded, column, kind) if group in _RANKED_GROUPS and name != SAMPLE else None,
    )


def _group(name: str) -> Group:
    if name in _GROUPS:
        return _GROUPS[name]
    if name == LOSS or name.startswith("loss."):
        return "score"
    return "metadata" if name.startswith("metadata.") else "metric" if name.startswith("metric.") else "analysis"


def _kind(column: pa.ChunkedArray, distinct: int) -> Kind:
    if is_number(column.type):
        return "number"
    if pa.types.is_boolean(column.type):
        return "yes-or-no"
    present = len(column) - column.null_count
    is_read = is_text(column.type) and distinct > FEWEST_TEXTS and distinct > NEARLY_ALL * present
    return "text" if is_read else "category"


def _distinct(column: pa.ChunkedArray) -> int:
    """Return how many values a column has; of numbers nobody asks, but for those of clusters."""
    if pa.types.is_null(column.type) or pa.types.is_floating(column.type):
        return 0
    return int(pc.count_distinct(column, mode="only_valid").as_py())


def _strength(loaded: Loaded, column: pa.ChunkedArray, kind: Kind) -> float | None:
    """Return how closely the loss follows a column, by ranks, on a fair sample of the rows."""
    if LOSS not in loaded.own_columns or kind == "text":
        return None
    rows = loaded.order[:MOST_RANKED]
    loss = loaded.remembered("loss of some", None, lambda: numbers(loaded.column(LOSS))[rows])
    if kind == "number":
        values = numbers(column)[rows]
        valid = np.isfinite(values) & np.isfinite(loss)
        found = rank_correlation_value(values[valid], loss[valid])
    else:
        codes = _codes(column.take(pa.array(rows)))
        valid = (codes >= 0) & np.isfinite(loss)
        few = len(np.unique(codes[valid])) <= MOST_GROUPS
        found = rank_share_value(codes[valid], loss[valid]) if few else None
    return None if found is None else abs(found)


def _codes(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    whole = texts(column).combine_chunks()
    encoded = pc.dictionary_encode(whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole)
    return np.asarray(pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False), np.int64)
