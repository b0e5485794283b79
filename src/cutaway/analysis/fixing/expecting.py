"""What corrections are expected to buy, before anything is trained with them. Pure.

A wrong label costs accuracy where the network learned it, and next to nothing where the network still disagrees with
it. So what a correction buys is told by how many labels it puts right, and how many of those the network had learned.
How much each is worth was measured (`make bench-labels`), and differs between data sets: hence the interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from cutaway.analysis.fixing.gain import points
from cutaway.analysis.samples import LABEL, PREDICTION

if TYPE_CHECKING:
    from cutaway.analysis.fixing.choosing import Decision

__all__ = ["LEAST_GAIN", "Expected", "Mistakes", "expected_gain"]


class Worth(NamedTuple):
    """Points of accuracy for each per cent of the training labels: the least, the usual and the most."""

    least: float
    usual: float
    most: float


# As measured: of wrong labels that the network had learned, and of those that it still resisted.
LEARNED = Worth(0.0, 0.3, 0.7)
OTHER = Worth(0.0, 0.08, 0.3)
LEAST_GAIN = 0.0005
"""An expected gain below this, 0.05 points, is none: hardly a test set is large enough to show it."""


class Mistakes(NamedTuple):
    """How many samples are changed in one way, and how many of these changes are expected to be wrong."""

    action: str
    changes: int
    expected: float


@dataclass(frozen=True)
class Expected:
    """How many samples are changed, how many of them rightly, and how much accuracy that is expected to buy.

    `mistakes` has a line for each way in which samples are changed: a good sample that is dropped is one, too.
    """

    changes: int
    right: float
    gain: float
    low: float
    high: float
    mistakes: tuple[Mistakes, ...] = ()

    @property
    def wrong(self) -> float:
        """How many changes are expected to be wrong: each with what is left of its probability to be right."""
        return sum(one.expected for one in self.mistakes)

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
        told = asdict(self)
        return {**told, "wrong": self.wrong, "mistakes": [one._asdict() for one in self.mistakes], "words": self.words}


def expected_gain(changed: pa.Table, decisions: Sequence[Decision], samples: int) -> Expected:
    """Return what decisions about the rows of a table, in their order, are expected to buy a training on `samples`."""
    right = np.array([one.score or 0.0 for one in decisions], np.float64)
    table = {row["sample"]: row for row in changed.select(["sample", LABEL, PREDICTION]).to_pylist()}
    learned = np.array([table[one.sample][PREDICTION] in (None, table[one.sample][LABEL]) for one in decisions], bool)
    put_right, resisted, made_wrong = right[learned].sum(), right[~learned].sum(), (1 - right).sum()
    # A label that is made wrong, or a right sample that is dropped, costs what a wrong one is worth.
    gain, low, high = (
        (learned_worth * put_right + other_worth * resisted - cost * made_wrong) / max(samples, 1)
        for learned_worth, other_worth, cost in (
            (LEARNED.usual, OTHER.usual, OTHER.usual),
            (LEARNED.least, OTHER.least, OTHER.most),
            (LEARNED.most, OTHER.most, OTHER.least),
        )
    )
    return Expected(len(right), float(right.sum()), float(gain), float(low), float(high), _mistakes(decisions))


def _mistakes(decisions: Sequence[Decision]) -> tuple[Mistakes, ...]:
    doubts: dict[str, list[float]] = {}
    for one in decisions:
        doubts.setdefault(one.action, []).append(1 - (one.score or 0.0))
    return tuple(Mistakes(action, len(each), sum(each)) for action, each in doubts.items())
