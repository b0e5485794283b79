"""What the best of a search reaches by chance, and what is then more than chance.

The outcome is dealt out anew to the rows a few times, and the whole search repeated, ends moved and all. The best
scores that chance reaches give the level above which slices begin to count. Boxes share rows, and no formula knows how
much: this way it holds for small tables, for rare mistakes and for columns that go together alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from cutaway.analysis.slices.fitting import left_over
from cutaway.analysis.slices.outcome import Target
from cutaway.analysis.slices.refining import refined
from cutaway.analysis.slices.searching import Searcher

__all__ = ["DEALS", "FIRST", "HOPE", "LOOKED_AT", "false_boxes", "level_of", "step_up"]

DEALS = 12
# Of the bests of a search so many are refined, if that may raise them above the others: it raises by about `HOPE`.
LOOKED_AT, HOPE = 40, 1.0
# Half the squared score of the best box falls off as exp(-x / TAIL). It would be 1 for boxes that were given; moving
# ends makes it 1.1 to 1.4 (60 deals each of 20,000 rows and 30 columns). A few deals cannot tell, so it is fixed.
TAIL = 1.5
EULER = 0.5772156649015329
# Where one slice is all there is, it must be surer than one among many: tables in which nothing is wrong are common.
FIRST = 0.2


def level_of(searcher: Searcher, target: Target, seed: int, done: Callable[[], None]) -> float:
    """Return the level of half the squared score at which chance gives about one box."""
    generator = np.random.default_rng(seed)
    reached = []
    for _ in range(DEALS):
        dealt = replace(target, scores=generator.permutation(target.scores))
        left = left_over(dealt, ())
        best = -np.inf
        for one in sorted(searcher.search(left)[:LOOKED_AT], key=lambda one: -one.score):
            if one.score + HOPE <= best:
                break
            best = max(best, refined(searcher, left, one).score)
        reached.append(max(best, 0.0) ** 2 / 2)
        done()
    return float(np.mean(reached)) - EULER * TAIL


def false_boxes(score: float, level: float) -> float:
    """Return how many boxes with at least this score chance gives on average."""
    return math.exp((level - max(score, 0.0) ** 2 / 2) / TAIL)


def step_up(scores: Sequence[float], level: float, alpha: float) -> list[float]:
    """Return for each score its p after correction: at or below `alpha`, all these are reported together.

    Benjamini's and Hochberg's: of what is reported, a share `alpha` is false at most, on average. The best one must be
    surer than that by itself (`FIRST`), or nothing is reported at all.
    """
    order = np.argsort(-np.asarray(scores), kind="stable")
    chances = np.array([false_boxes(scores[place], level) for place in order])
    raised = chances / np.arange(1, len(chances) + 1)
    held = np.minimum.accumulate(raised[::-1])[::-1]
    if len(chances) and chances[0] > FIRST * alpha:
        held = np.maximum(held, chances[0] / FIRST)
    result = np.empty(len(chances))
    result[order] = np.minimum(held, 1.0)
    return [float(one) for one in result]
