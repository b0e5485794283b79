"""What corrections are expected to buy, before anything is trained with them. Pure.

A wrong label costs accuracy where the network learned it, and next to nothing where the network still disagrees with
it. So what a correction buys is told by how many labels it puts right, and how many of those the network had learned.
How much each is worth was measured (`make bench-labels`), and differs between data sets: hence the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.fixing.gain import points
from cutaway.analysis.samples import LABEL, PREDICTION

if TYPE_CHECKING:
    from cutaway.analysis.fixing.choosing import Decision

__all__ = ["LEAST_GAIN", "Expected", "expected_gain"]

# Points of accuracy for each per cent of the training labels that is put right: the least, the usual and the most that
# was measured; of labels that the network had learned, and of others.
LEARNED = np.array([0.05, 0.35, 0.75])
OTHER = np.array([0.0, 0.05, 0.2])
# A right sample that is dropped, or whose label is made wrong, costs as much as a learned wrong label is worth.
LEAST_GAIN = 0.0005
"""An expected gain below this, 0.05 points, is none: hardly a test set is large enough to show it."""


@dataclass(frozen=True)
class Expected:
    """How many samples are changed, how many of them rightly, and how much accuracy that is expected to buy."""

    changes: int
    right: float
    gain: float
    low: float
    high: float

    @property
    def is_gain(self) -> bool:
        """Whether any gain is expected."""
        return self.gain >= LEAST_GAIN

    @property
    def words(self) -> str:
        """Say the gain with its interval."""
        return points(self.gain, self.low, self.high) if self.is_gain else "no gain expected"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {**asdict(self), "words": self.words}


def expected_gain(changed: pa.Table, decisions: Sequence[Decision], samples: int) -> Expected:
    """Return what decisions about the rows of a table, in their order, are expected to buy a training on `samples`."""
    right = np.array([one.score or 0.0 for one in decisions], np.float64)
    table = {row["sample"]: row for row in changed.select(["sample", LABEL, PREDICTION]).to_pylist()}
    learned = np.array([table[one.sample][PREDICTION] in (None, table[one.sample][LABEL]) for one in decisions], bool)
    wrong = (1 - right).sum()
    low, gain, high = (
        learned_worth * (right[learned].sum() - wrong) + other_worth * right[~learned].sum()
        for learned_worth, other_worth in zip(LEARNED, OTHER, strict=True)
    )
    share = np.array([gain, low, high]) / max(samples, 1)
    return Expected(len(right), float(right.sum()), *(float(one) for one in share))
