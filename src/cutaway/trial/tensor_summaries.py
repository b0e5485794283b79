"""What a table of a run's tensors shows, from stretches of steps: each one's steps and its newest statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cutaway.arrays import Array
from cutaway.tensors.statistic_names import STATISTIC_NAMES
from cutaway.trial.stretch_rows import StretchRows, owned_rows, owners_of

__all__ = ["TensorSummary", "summarize"]


class TensorSummary(NamedTuple):
    """A tensor of a run: the steps that recorded it, and its newest statistics (NaN where it has none)."""

    name: str
    first_step: int
    last_step: int
    steps: int
    most_nonfinite: int
    size: int
    last: Mapping[str, float]


def summarize(pieces: Sequence[StretchRows]) -> list[TensorSummary]:
    """Return every tensor once, in the order in which the run first recorded them."""
    owners = owners_of(pieces)
    number = {name: i for i, name in enumerate(owners)}
    count = len(owners)
    first, last = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
    steps, most = np.zeros(count, np.int64), np.zeros(count, np.int64)
    newest = np.full((1 + len(STATISTIC_NAMES), count), np.nan)
    for piece in pieces:
        rows, own = owned_rows(piece, owners, number)
        np.add.at(steps, own, piece.take("steps", rows))
        np.maximum.at(most, own, piece.take("nonfinite_max", rows))
        np.minimum.at(first, own, piece.take("own_first", rows))
        ended = piece.take("own_last", rows)
        chosen, at = _newest(own, ended, last)
        last[at] = ended[chosen]
        for row, column in enumerate(("size", *(f"{name}_last" for name in STATISTIC_NAMES))):
            newest[row, at] = piece.take(column, rows[chosen])
    whole = [column.tolist() for column in (first, last, steps, most, newest[0].astype(np.int64))]
    values = (dict(zip(STATISTIC_NAMES, own, strict=True)) for own in newest[1:].T.tolist())
    return [TensorSummary(*row) for row in zip(owners, *whole, values, strict=True)]


def _newest(own: Array, ended: Array, known: Array) -> tuple[Array, Array]:
    """Return which rows hold the newest step of a tensor, newer than what is known, and the tensors' numbers."""
    order = np.argsort(ended, kind="stable")
    chosen = np.full(len(known), -1)
    chosen[own[order]] = order  # of several rows of a tensor the last one stays
    at = np.flatnonzero(chosen >= 0)
    at = at[ended[chosen[at]] > known[at]]
    return chosen[at], at
