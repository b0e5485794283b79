"""How many independent looks a search amounts to, and what is then more than chance.

The outcome is dealt out anew to the rows a few times, and the whole search repeated, ends moved and all. The best
scores that chance reaches tell how many independent looks it is worth: far fewer than there are boxes, since most of
them share rows. It holds for small tables, for rare mistakes and for columns that go together alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from cutaway.analysis.slices.fitting import left_over
from cutaway.analysis.slices.outcome import Target
from cutaway.analysis.slices.refining import refined
from cutaway.analysis.slices.scoring import one_sided
from cutaway.analysis.slices.searching import Searcher

__all__ = ["DEALS", "FIRST", "looks_of", "step_up"]

DEALS = 12
# Of the bests of a deal, so many are refined: another than the very best may gain most.
REFINED = 3
# Where one slice is all there is, it must be surer than one among many: tables in which nothing is wrong are common.
# A few deals show the middle of what chance reaches, not its tail, which is heavier than they say by a factor of
# about four (346 tables of random losses): a twentieth of alpha is then about 1 % of such tables.
FIRST = 0.05


def looks_of(searcher: Searcher, target: Target, seed: int, done: Callable[[], None]) -> float:
    """Return how many independent looks a search is worth."""
    generator = np.random.default_rng(seed)
    chances = []
    for _ in range(DEALS):
        dealt = replace(target, scores=generator.permutation(target.scores))
        left = left_over(dealt, ())
        best = [refined(searcher, left, one).score for one in searcher.search(left)[:REFINED]]
        chances.append(one_sided(max(best)) if best else 1.0)
        done()
    # The chance of the best of m looks is exponential with the mean 1 / m.
    return max(1.0, DEALS / max(sum(chances), 1e-300))


def step_up(scores: Sequence[float], looks: float, alpha: float) -> list[float]:
    """Return for each score its p after correction: at or below `alpha`, all these are reported together.

    Benjamini's and Hochberg's: of what is reported, a share `alpha` is false at most, on average. The best one must be
    surer than that by itself (`FIRST`), or nothing is reported at all.
    """
    order = np.argsort(-np.asarray(scores), kind="stable")
    chances = np.array([min(1.0, looks * one_sided(scores[place])) for place in order])
    raised = chances / np.arange(1, len(chances) + 1)
    held = np.minimum.accumulate(raised[::-1])[::-1]
    if len(chances) and chances[0] > FIRST * alpha:
        held = np.maximum(held, chances[0] / FIRST)
    result = np.empty(len(chances))
    result[order] = np.minimum(held, 1.0)
    return [float(one) for one in result]
