"""By which samples a model is judged where nobody chose: those held out from it, never mixed with training ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.arrays import BoolArray

__all__ = ["TRAINING", "UNLABELED", "judged_rows", "judged_subsets"]

TRAINING, UNLABELED = "training", "unlabeled"


def judged_subsets(names: Iterable[str]) -> tuple[str, ...]:
    """Return the subsets that tell how good a model is: the held-out ones, or training where nothing is held out.

    >>> judged_subsets(["training", "validation", "unlabeled", "test"]), judged_subsets(["training", "unlabeled"])
    (('validation', 'test'), ('training',))
    """
    known = tuple(dict.fromkeys(names))
    held = tuple(name for name in known if name not in (TRAINING, UNLABELED))
    return held or tuple(name for name in known if name == TRAINING)


def judged_rows(subsets: pa.ChunkedArray, known: BoolArray) -> BoolArray:
    """Return the rows that tell how good a model is: of those with a known outcome, the ones of `judged_subsets`.

    A held-out subset without any known outcome, such as a test set without labels, is none that could tell it.
    """
    texts = subsets.cast(pa.string())
    present = judged_subsets(texts.filter(pa.array(known)).drop_null().unique().to_pylist())
    return np.asarray(known & np.asarray(pc.is_in(texts, value_set=pa.array(present, pa.string()))), np.bool_)
