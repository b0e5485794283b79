"""By which samples a model is judged where nobody chose: those held out from it, never mixed with training ones.

Also what is said of those that are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.arrays import BoolArray
from cutaway.errors import refuse_unknown
from cutaway.wording import counted

__all__ = [
    "TRAINING",
    "UNLABELED",
    "VALIDATION",
    "counted_subsets",
    "judged_rows",
    "judged_subsets",
    "left_out_subsets",
    "rows_of_subsets",
    "subsets_with",
]

TRAINING, VALIDATION, UNLABELED = "training", "validation", "unlabeled"


def judged_subsets(names: Iterable[str]) -> tuple[str, ...]:
    """Return the subsets that tell how good a model is: the held-out ones, or training where nothing is held out.

    >>> judged_subsets(["training", "validation", "unlabeled", "test"]), judged_subsets(["training", "unlabeled"])
    (('validation', 'test'), ('training',))
    """
    known = tuple(dict.fromkeys(names))
    held = tuple(name for name in known if name not in (TRAINING, UNLABELED))
    return held or tuple(name for name in known if name == TRAINING)


def subsets_with(subsets: pa.ChunkedArray, known: BoolArray) -> tuple[str, ...]:
    """Return the `judged_subsets` of those that have a known outcome: a test set without labels tells nothing."""
    return judged_subsets(subsets.cast(pa.string()).filter(pa.array(known)).drop_null().unique().to_pylist())


def rows_of_subsets(subsets: pa.ChunkedArray, names: Iterable[str]) -> BoolArray:
    """Return which rows are in one of some subsets."""
    wanted = pa.array(list(names), pa.string())
    return np.asarray(pc.is_in(subsets.cast(pa.string()), value_set=wanted), np.bool_)


def judged_rows(subsets: pa.ChunkedArray, known: BoolArray) -> BoolArray:
    """Return the rows that tell how good a model is: those with a known outcome in the subsets that are judged."""
    return np.asarray(known & rows_of_subsets(subsets, subsets_with(subsets, known)), np.bool_)


def counted_subsets(subsets: pa.ChunkedArray, known: BoolArray, asked: Sequence[str] | None) -> tuple[str, ...]:
    """Return the subsets that somebody asked for, or those by which models are judged; all where nothing is known.

    Raises where one that was asked for has no samples.
    """
    there = subsets.cast(pa.string()).drop_null().unique().to_pylist()
    if asked is None:
        return subsets_with(subsets, known) or tuple(there)
    for name in asked:
        refuse_unknown("subset", name, there)
    return tuple(dict.fromkeys(asked))


def left_out_subsets(subsets: pa.ChunkedArray, chosen: BoolArray) -> tuple[str, ...]:
    """Say how many samples of other subsets do not count, and of training why."""
    others = subsets.cast(pa.string()).filter(pa.array(~chosen)).value_counts().to_pylist()
    return tuple(
        f"{counted(one['counts'], 'training sample')}, which inflate accuracy, are left out."
        if one["values"] == TRAINING
        else f"{counted(one['counts'], 'sample')} of {one['values']} are left out."
        for one in others
    )
