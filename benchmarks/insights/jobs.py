"""Which populations are looked at: those to tune on, or those that are held back and looked at once."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.insights.generated import Drawing
from benchmarks.insights.trained import Training

__all__ = ["FULL", "QUICK", "InsightsSize", "held_back", "seeds_of"]

# The seeds that are held back begin here; those before are for tuning.
FIRST_HELD_BACK = 1_000


@dataclass(frozen=True)
class InsightsSize:
    """How many seeds of each case: of populations that are drawn, and of trainings; one worker takes so many."""

    drawn: int = 12
    trained: int = 3
    together: int = 6


FULL = InsightsSize()
QUICK = InsightsSize(drawn=1, trained=1, together=1)


def held_back(setting: Drawing | Training, seed: int) -> bool:
    """Whether nobody looks at a population while tuning: its setting is held back, or its seed is.

    >>> from benchmarks.insights.generated import GENERATED
    >>> [held_back(GENERATED[0], seed) for seed in (0, 1_000)], held_back(GENERATED[-1], 0)
    ([False, True], True)
    """
    return setting.held_back or seed >= FIRST_HELD_BACK


def seeds_of(count: int, *, held: bool) -> list[int]:
    """Return so many seeds: of those that are held back, or for tuning."""
    first = FIRST_HELD_BACK if held else 0
    return list(range(first, first + count))
