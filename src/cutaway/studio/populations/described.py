"""What a column is: its kind, its range, how many values it has, and how closely the loss follows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.curves.strength import rank_correlation_value, rank_share_value
from cutaway.analysis.samples import CORRECT, LABEL, LOSS, PREDICTION, SAMPLE, SUBSET
from cutaway.analysis.samples.held_out import judged_rows
from cutaway.arrays import Float64Array, Int64Array
from cutaway.run.evaluated.glimpse import LARGE, Told, glimpse_of, together, told_by_files
from cutaway.run.exporting import is_text, readable_texts
from cutaway.studio.populations import derived
from cutaway.studio.populations.coding import encoded, is_number, numbers, texts
from cutaway.studio.populations.loaded import Loaded
from cutaway.studio.wire.population import PopulationColumn

__all__ = ["described_columns", "is_searched", "looked_at"]

Kind = Literal["number", "category", "yes-or-no", "text"]
Group = Literal["sample", "answer", "score", "metadata", "metric", "analysis"]

# A text column of which nearly every value is another one is read, not coloured; of few samples all columns are so.
FEWEST_TEXTS = 50
NEARLY_ALL = 0.8
# How closely the loss follows a column is told from so many samples, and for at most so many values.
MOST_RANKED = 10_000
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


class _DescribedRows(NamedTuple):
    """Rows by which columns are described: all of a population, or some; and of these a fair sample to rank by."""

    table: pa.Table
    total: int
    ranked: Int64Array
    loss: Float64Array | None
    told: Mapping[str, Told]


def described_columns(loaded: Loaded) -> list[PopulationColumn]:
    """Return every column of a population, without keeping those that nobody asked for yet."""
    return [*loaded.remembered("described", None, lambda: _own_described(loaded)), *_added(loaded)]


def looked_at(loaded: Loaded) -> int:
    """Return how many samples columns are described by: all of them, or of very many some at even distances."""
    if len(loaded) <= LARGE:
        return len(loaded)
    return sum(glimpse_of(loaded.population).counts.values())


def _own_described(loaded: Loaded) -> list[PopulationColumn]:
    names, total = loaded.own_columns, len(loaded)
    if total > LARGE:
        table = glimpse_of(loaded.population).table(names)
        return _all_described(loaded, table, names, _told_by_all_files(loaded))
    found = []
    # Several at a time: a file of many samples takes long to open, and all at once would fill the memory.
    for start in range(0, len(names), AT_ONCE):
        some_names = names[start : start + AT_ONCE]
        found += _all_described(loaded, loaded.fresh_columns(some_names), some_names, {})
    return found


def _all_described(
    loaded: Loaded, table: pa.Table, names: Sequence[str], told: Mapping[str, Told]
) -> list[PopulationColumn]:
    ranked = np.random.default_rng(0).permutation(len(table))
    loss = None
    if LOSS in loaded.own_columns:
        losses, subsets = (table[one] if one in table.column_names else loaded.column(one) for one in (LOSS, SUBSET))
        known = numbers(losses)
        # Training samples do not tell what the loss depends on.
        ranked = ranked[judged_rows(subsets, np.isfinite(known))[ranked]][:MOST_RANKED]
        loss = known[ranked]
    seen = _DescribedRows(table, len(loaded), ranked, loss, told)
    ids = len(loaded) - loaded.repeated_ids
    return [_described(name, readable_texts(table[name]), seen, ids if name == SAMPLE else None) for name in names]


def _told_by_all_files(loaded: Loaded) -> dict[str, Told]:
    """Return what the files say about columns as pages call them."""
    answer = loaded.population.answer
    called = {SAMPLE: "id", LABEL: answer.label_column, PREDICTION: answer.prediction_column}
    each = [told_by_files(loaded.evaluation, name) for name in loaded.subsets]
    found = {}
    for name in loaded.own_columns:
        pieces = [one[called.get(name, name)] for one in each if called.get(name, name) in one]
        # A subset that lacks the column is none of which a file tells.
        if len(pieces) == len(each):
            found[name] = together(pieces)
    return found


def _added(loaded: Loaded) -> list[PopulationColumn]:
    names = [name for name in loaded.column_names if name not in loaded.own_columns]
    return [
        loaded.remembered(("described", name), loaded.column_stamp(name), partial(_added_one, loaded, name))
        for name in names
    ]


def _added_one(loaded: Loaded, name: str) -> PopulationColumn:
    column = derived.some_values(loaded, name) if len(loaded) > LARGE else loaded.column(name)
    seen = _DescribedRows(pa.table({name: column}), len(loaded), np.zeros(0, np.int64), None, {})
    return _described(name, column, seen, None)


def is_searched(loaded: Loaded, name: str) -> bool:
    """Whether a text that is looked for may stand in a column: one of texts that is not the id or the subset."""
    return name not in (SAMPLE, SUBSET, "error") and is_text(loaded.column(name).type)


def _described(name: str, column: pa.ChunkedArray, seen: _DescribedRows, values: int | None) -> PopulationColumn:
    numeric = numbers(column) if is_number(column.type) else None
    finite = None if numeric is None else numeric[np.isfinite(numeric)]
    distinct = _distinct(column) if values is None else values
    kind = "category" if name == derived.CLUSTER else _kind(column, distinct)
    group = _group(name)
    ends = (float(finite.min()), float(finite.max())) if finite is not None and len(finite) else (None, None)
    told = seen.told.get(name)
    if told is not None and ends[0] is not None:
        ends = (ends[0] if told.min is None else told.min, ends[1] if told.max is None else told.max)
    ranked = group in _RANKED_GROUPS and name != SAMPLE
    return PopulationColumn(
        name=name,
        kind=kind,
        group=group,
        values=None if kind == "number" else distinct,
        missing=_missing(column, numeric, seen, told),
        min=ends[0],
        max=ends[1],
        strength=_strength(column, kind, seen) if ranked else None,
    )


def _missing(column: pa.ChunkedArray, numeric: Float64Array | None, seen: _DescribedRows, told: Told | None) -> int:
    """Return how many samples have no value: as the files say, and of those without a number as many as were seen."""
    nulls = int(column.null_count)
    without = nulls if numeric is None else int(np.isnan(numeric).sum())
    share = seen.total / max(1, len(column))
    if told is None:
        return round(without * share)
    return told.missing + round((without - nulls) * share)


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


def _strength(column: pa.ChunkedArray, kind: Kind, seen: _DescribedRows) -> float | None:
    """Return how closely the loss follows a column, by ranks, on a fair sample of the rows the model is judged by."""
    loss = seen.loss
    if loss is None or kind == "text":
        return None
    if kind == "number":
        values = numbers(column)[seen.ranked]
        valid = np.isfinite(values) & np.isfinite(loss)
        found = rank_correlation_value(values[valid], loss[valid])
    else:
        codes = encoded(texts(column.take(pa.array(seen.ranked)))).codes.astype(np.int64)
        valid = (codes >= 0) & np.isfinite(loss)
        few = len(np.unique(codes[valid])) <= MOST_GROUPS
        found = rank_share_value(codes[valid], loss[valid]) if few else None
    return None if found is None else abs(found)
