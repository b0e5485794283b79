"""Boxes as conditions that people write, and that pick out the same rows when they are read back."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.filters import Filter, parse_filter, rows_where
from cutaway.analysis.slices.features import Box, Feature, Part
from cutaway.arrays import BoolArray
from cutaway.errors import ConfigurationError
from cutaway.wording import number_between

__all__ = ["conditions_of"]


def conditions_of(features: Sequence[Feature], box: Box, table: pa.Table) -> tuple[tuple[str, Filter], ...] | None:
    """Return the conditions of a box as text and as filters, or None where text cannot say them."""
    found = [_condition(features[part[0]], part, table) for part in box]
    told = tuple(one for one in found if one is not None)
    return told if len(told) == len(box) else None


def _condition(feature: Feature, part: Part, table: pa.Table) -> tuple[str, Filter] | None:
    wanted = (feature.codes >= part[1]) & (feature.codes < part[2])
    said = _said(feature, part, table.schema.field(feature.name).type)
    # A name in quotes is read where the bare one begins like another column's, or with a space.
    for text in (f"{feature.name} {said}", f'"{feature.name}" {said}'):
        condition = _read_back(text, table, wanted)
        if condition is not None:
            return text, condition
    return None


def _read_back(text: str, table: pa.Table, wanted: BoolArray) -> Filter | None:
    try:
        condition = parse_filter(text, table)
        return condition if bool((rows_where(table, [condition]) == wanted).all()) else None
    except ConfigurationError:
        return None


def _said(feature: Feature, part: Part, kind: pa.DataType) -> str:
    _, low, high = part
    if low >= feature.ordered:
        return _named(feature, feature.values[low - feature.ordered])
    first, last = feature.lows[low], feature.highs[high - 1]
    if first == last:
        return f"= {_exact(first)}"
    if low == 0:
        return f"< {_between(last, feature.lows[high], kind, above=True)}"
    if high == feature.ordered:
        return f"> {_between(feature.highs[low - 1], first, kind)}"
    begin = _between(feature.highs[low - 1], first, kind, above=True)
    return f"between {begin} {_between(last, feature.lows[high], kind)}"


def _named(feature: Feature, value: Any) -> str:
    if value is None:
        if feature.ordered:
            return "not between -inf inf"
        out = io.StringIO()
        csv.writer(out, lineterminator="").writerow([_plain(one) for one in feature.lows])
        return f"not in {out.getvalue()}"
    text = _plain(value)
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return f'= "{text}"' if not text or text != text.strip() or quoted else f"= {text}"


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _exact(number: Any) -> str:
    return str(int(number)) if np.issubdtype(type(number), np.integer) else repr(float(number))


def _between(low: Any, high: Any, kind: pa.DataType, *, above: bool = False) -> str:
    """Return a number from `low` up to but not `high`; where `above`, above `low` and up to `high`."""
    if np.issubdtype(type(low), np.integer):
        return str(int(high if above else low))
    narrow = kind.to_pandas_dtype() if pa.types.is_floating(kind) else np.float64

    def fits(number: float) -> bool:
        # The condition is compared in the column's own precision.
        with np.errstate(over="ignore"):
            seen = float(narrow(number))
        return bool(low < seen <= high if above else low <= seen < high)

    return number_between(float(low), float(high), fits, float(high if above else low))
