"""Columns of values that have no distances, such as classes, as whole numbers. Refuses columns of lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cutaway.arrays import BoolArray, Int64Array
from cutaway.errors import ConfigurationError

__all__ = ["Coded", "coded", "left_out", "most_frequent"]


class Coded(NamedTuple):
    """The different values of a column as texts, and for each row the number of its value: -1 where it has none."""

    names: tuple[str, ...]
    codes: Int64Array

    def of(self, rows: BoolArray) -> Coded:
        """Return some of the rows."""
        return Coded(self.names, self.codes[rows])


def coded(name: str, column: pa.ChunkedArray, order: Sequence[str] = ()) -> Coded:
    """Number the values of a column: those of `order` first, whether they occur or not, then the others ascending."""
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
        raise ConfigurationError(f"Column {name!r} holds {column.type}, but one plain value for each sample is needed.")
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    # NaN is no value.
    present = [one if one == one else None for one in encoded.dictionary.to_pylist()]  # noqa: PLR0124
    known = {text: place for place, text in enumerate(order)}
    for one in sorted(one for one in present if one is not None):
        known.setdefault(_text(one), len(known))
    numbers = np.array([-1 if one is None else known[_text(one)] for one in present] or [-1], np.int64)
    places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return Coded(tuple(known), np.where(places < 0, -1, numbers[places]))


def most_frequent(values: Coded, most: int) -> tuple[Coded, int]:
    """Keep the `most` values that occur most often, those that occur; return also how many were let go."""
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.names))
    frequent = np.argsort(-counts, kind="stable")[:most]
    kept = np.sort(frequent[counts[frequent] > 0])
    numbers = np.full(len(values.names) + 1, -1, np.int64)  # the last one is for rows without a value
    numbers[kept] = np.arange(len(kept))
    names = tuple(values.names[place] for place in kept)
    return Coded(names, numbers[values.codes]), int((counts > 0).sum()) - len(kept)


def left_out(rows: int, reasons: Mapping[str, int]) -> tuple[str, ...]:
    """Say how many of so many samples are left out and why, or nothing where none is.

    >>> left_out(1000, {"without a finite loss": 12, "without a label": 0})
    ('12 of 1,000 samples are left out: 12 without a finite loss.',)
    """
    given = {reason: count for reason, count in reasons.items() if count}
    if not given:
        return ()
    why = ", ".join(f"{count:,} {reason}" for reason, count in given.items())
    return (f"{sum(given.values()):,} of {rows:,} samples are left out: {why}.",)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
