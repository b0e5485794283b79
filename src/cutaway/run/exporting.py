"""Tables as files for other programs: CSV of which no spreadsheet runs a cell. Parquet holds the same cells exactly.

A spreadsheet runs a cell that begins with `=`, `+`, `-`, `@`, a tab or a line break as a formula, and labels and ids
are anybody's texts. Such a text gets one `'` in front, which spreadsheets show as text; so does a text that would look
the same as one that got it, so that exactly what was there can be had back. Numbers stay numbers, also those
in columns of text. A NUL, at which some readers end the file, is written as its picture, U+2400.
"""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa

__all__ = ["csv_bytes", "is_text", "neutral_cell", "readable_texts", "write_csv"]

# Also the wide forms, which spreadsheets of some languages take for the same.
_BEGINNING = "[\\t\\r\\n]|[ \\t\\r\\n\\f\\v\u00a0\u3000]*[=+\\-@\uff1d\uff0b\uff0d\uff20]"
_FORMULA = f"^'*(?:{_BEGINNING})"
# Of a `+` or a `-` with a plain number behind it nothing is run.
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUL, _SHOWN_NUL = "\0", "\u2400"


def neutral_cell(text: str) -> str:
    """Return a text as it stands in a CSV of ours.

    >>> neutral_cell("=HYPERLINK(1)"), neutral_cell("cat"), neutral_cell("-1.5")
    ("'=HYPERLINK(1)", 'cat', '-1.5')
    """
    shown = text.replace(_NUL, _SHOWN_NUL)
    return f"'{shown}" if _is_formula(shown) else shown


def write_csv(table: pa.Table, path: Path) -> None:
    """Write a table as CSV: lists as texts, texts that a spreadsheet would run as texts."""
    from pyarrow import csv

    csv.write_csv(_neutral_table(table), path)


def csv_bytes(table: pa.Table, *, header: bool) -> bytes:
    """Return a table as CSV in memory, with its header or as what follows on one; for whoever sends it in pieces."""
    from pyarrow import csv

    sink = pa.BufferOutputStream()
    csv.write_csv(_neutral_table(table), sink, csv.WriteOptions(include_header=header))
    return bytes(sink.getvalue().to_pybytes())


def _neutral_table(table: pa.Table) -> pa.Table:
    columns = [_csv_column(table.column(place)) for place in range(table.num_columns)]
    return pa.table(columns, [neutral_cell(name) for name in table.column_names])


def _is_formula(text: str) -> bool:
    return bool(re.match(_FORMULA, text)) and not re.fullmatch(_NUMBER, text)


def _csv_column(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """Return a column that CSV can hold."""
    column = readable_texts(column)
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        return pa.array([None if one is None else neutral_cell(str(one)) for one in column.to_pylist()], pa.string())
    return _neutral(column) if is_text(column.type) else column


def _neutral(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow.compute as pc

    shown = pc.replace_substring(column, _NUL, _SHOWN_NUL)
    runs = pc.and_(
        pc.match_substring_regex(shown, _FORMULA), pc.invert(pc.match_substring_regex(shown, f"^(?:{_NUMBER})$"))
    )
    quoted = pc.binary_join_element_wise(pa.scalar("'", shown.type), shown, pa.scalar("", shown.type))
    return pc.if_else(runs, quoted, shown)


def is_text(kind: pa.DataType) -> bool:
    """Whether values of a type are texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def readable_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column whose texts are UTF-8, whatever bytes somebody put there; one of other values as it is."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not is_text(column.type):
        return column
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        plain = column.cast(pa.large_binary()).to_pylist()
        texts = [None if one is None else one.decode("utf-8", "backslashreplace") for one in plain]
        return pa.chunked_array([pa.array(texts, column.type)])
    return column
