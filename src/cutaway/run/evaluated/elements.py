"""What confusion metrics hold, as columns: what was expected of each label of each sample, and its probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.arrays import BoolArray, Float64Array, Int64Array
from cutaway.errors import EvaluationError
from cutaway.run.evaluations import Evaluation
from cutaway.run.sample_columns import ELEMENT, is_elements

__all__ = ["Elements", "read_elements"]

POSITIVE = "positive"


class Elements(NamedTuple):
    """Confusion elements, each of the sample in `rows`; a sample may have any number of them, also none."""

    rows: Int64Array
    labels: pa.Array
    expected: BoolArray
    probabilities: Float64Array

    def of(self, chosen: BoolArray) -> Elements:
        """Return some of them."""
        return Elements(
            self.rows[chosen],
            self.labels.filter(pa.array(chosen)),
            self.expected[chosen],
            self.probabilities[chosen],
        )


def read_elements(evaluation: Evaluation, subsets: Sequence[str], column: str) -> Elements:
    """Return the elements of a column, the rows of the subsets counted one after the other."""
    rows, flat, begin = [], [], 0
    for subset in subsets:
        if column in evaluation.column_names(subset):
            lists = _lists(evaluation, subset, column)
            rows.append(np.asarray(pc.list_parent_indices(lists).to_numpy(), np.int64) + begin)
            flat.append(pc.list_flatten(lists).cast(ELEMENT))
        begin += evaluation.count(subset)
    held = pa.chunked_array([chunk for one in flat for chunk in one.chunks], ELEMENT)
    labels, expected, probabilities = (
        pc.struct_field(held, name) for name in ("label", "expected_outcome", "predicted_probability")
    )
    return Elements(
        np.concatenate([np.empty(0, np.int64), *rows]),
        labels.combine_chunks(),
        np.asarray(pc.equal(expected, POSITIVE).fill_null(False).to_numpy(), np.bool_),  # noqa: FBT003
        np.asarray(probabilities.fill_null(np.nan).to_numpy(), np.float64),
    )


def _lists(evaluation: Evaluation, subset: str, column: str) -> pa.ChunkedArray:
    held = evaluation.table(subset, [column])[column]
    if not (is_elements(held.type) or pa.types.is_null(held.type)):
        raise EvaluationError(
            f"The table of {subset!r} is not as Cutaway writes it: {column} holds {held.type}.", hint="Evaluate again."
        )
    return held.cast(pa.list_(ELEMENT))
