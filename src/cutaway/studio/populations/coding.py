"""Columns as a page takes them: numbers as floats, everything else as codes with the texts that they stand for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.samples import LABEL, PREDICTION
from cutaway.arrays import Float64Array, Int32Array
from cutaway.studio.populations.derived import CLUSTER, SUGGESTED
from cutaway.studio.populations.loaded import Loaded

__all__ = ["MOST_VALUES", "CodedColumn", "columns_table", "encoded", "is_number", "numbers", "texts"]

# More values than these are no colours: the rarest become one.
MOST_VALUES = 4096
# A text beyond this is cut; no condition can be as long.
MOST_CHARACTERS = 2000
OTHER, NONE = "other", "none"
# Which row each point is, also where there is no map that would say so.
ROW = "row"
# Whole numbers up to here are the same in float32.
EXACT = 1 << 24
_CLASSES = (LABEL, PREDICTION, SUGGESTED)


class CodedColumn(NamedTuple):
    """Codes with the texts that they stand for, -1 where there is no value. `values` counts before rare ones folded."""

    codes: Int32Array
    names: list[str]
    values: int


def columns_table(loaded: Loaded, names: Iterable[str]) -> pa.Table:
    """Return columns in the order of the points, `row` among them; the schema's metadata says what each was before."""
    told: dict[str, dict[str, Any]] = {}
    columns: dict[str, pa.Array] = {}
    for name in dict.fromkeys(names):
        if name == ROW:
            told[name], columns[name] = {"type": "uint32"}, pa.array(loaded.order)
            continue
        column = loaded.column(name)
        told[name] = {"type": str(column.type)}
        if is_number(column.type) and name != CLUSTER:
            columns[name] = pa.array(_floats(column)[loaded.order])
            continue
        make = partial(_coded_column, loaded, name, column)
        coded = loaded.remembered(("coded", name), loaded.column_stamp(name), make)
        folded = coded.values > len(coded.names)
        told[name] |= {"values": coded.values, "other": len(coded.names) - 1 if folded else None}
        codes = coded.codes[loaded.order]
        columns[name] = pa.DictionaryArray.from_arrays(
            pa.array(codes, mask=codes < 0), pa.array(coded.names, pa.string())
        )
    about = {"n": len(loaded), "evaluation": loaded.number, "columns": told}
    return pa.table(columns).replace_schema_metadata({key: json.dumps(value) for key, value in about.items()})


def is_number(kind: pa.DataType) -> bool:
    """Whether a type is one of numbers; yes and no are none."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def numbers(column: pa.ChunkedArray) -> Float64Array:
    """Return a column of numbers, or of yes and no, as float64, NaN where there is none."""
    cast = pc.cast(column, pa.float64(), safe=False)
    return np.asarray(pc.fill_null(cast, np.nan).to_numpy(), np.float64)


def texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as texts, whatever it holds."""
    try:
        return column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        shown = [None if one is None else str(one) for one in column.to_pylist()]
        return pa.chunked_array([pa.array(shown, pa.string())])


def _floats(column: pa.ChunkedArray) -> npt.NDArray[np.floating[Any]]:
    """Return float32 where that is the same number, else float64."""
    narrow = pa.types.is_floating(column.type) and column.type.bit_width <= 32
    values = numbers(column)
    if pa.types.is_integer(column.type):
        with np.errstate(invalid="ignore"):
            narrow = not bool((np.abs(values) > EXACT).any())
    return values.astype(np.float32) if narrow else values


def _coded_column(loaded: Loaded, name: str, column: pa.ChunkedArray) -> CodedColumn:
    if pa.types.is_boolean(column.type):
        codes = pc.fill_null(column.cast(pa.int8()), -1).to_numpy().astype(np.int32)
        return CodedColumn(codes, ["no", "yes"], 2)
    coded = encoded(texts(column))
    if name == CLUSTER:
        held = (int(one) for one in coded.names)
        return _ordered(coded, [str(one) for one in sorted(one for one in held if one >= 0)], {"-1": NONE})
    if name in _CLASSES and len(loaded.classes) <= MOST_VALUES:
        coded = _ordered(coded, loaded.classes, {})
    return _folded(coded)


def encoded(column: pa.ChunkedArray) -> CodedColumn:
    """Return texts as codes, in the order in which they come first."""
    whole = column.combine_chunks()
    found = pc.dictionary_encode(whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole)
    codes = pc.fill_null(found.indices, -1).to_numpy(zero_copy_only=False).astype(np.int32)
    names = [str(one) for one in found.dictionary.to_pylist()]
    return CodedColumn(codes, names, len(names))


def _ordered(coded: CodedColumn, first: Sequence[str], called: dict[str, str]) -> CodedColumn:
    """Return the same with some names first, whether they occur or not, and some called otherwise."""
    places = {name: place for place, name in enumerate(dict.fromkeys(first))}
    for name in coded.names:
        places.setdefault(name, len(places))
    # The last place is that of no value at all.
    moved = np.array([*(places[name] for name in coded.names), -1], np.int32)
    return CodedColumn(moved[coded.codes], [called.get(name, name) for name in places], len(places))


def _folded(coded: CodedColumn) -> CodedColumn:
    """Return the same with the rarest values as one, where there are too many to tell apart; texts are cut."""
    names = [one[:MOST_CHARACTERS] for one in coded.names]
    if len(names) <= MOST_VALUES:
        return CodedColumn(coded.codes, names, coded.values)
    counts = np.bincount(coded.codes[coded.codes >= 0], minlength=len(names))
    kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_VALUES - 1])
    moved = np.full(len(names) + 1, MOST_VALUES - 1, np.int32)
    moved[kept], moved[-1] = np.arange(len(kept)), -1
    return CodedColumn(moved[coded.codes], [*(names[place] for place in kept), OTHER], coded.values)
