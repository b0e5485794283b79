"""Moves the ends of a box to where it is worst, and drops a condition that says nothing."""

from __future__ import annotations

import numpy as np

from cutaway.analysis.slices.features import Box, box_rows
from cutaway.analysis.slices.fitting import Left
from cutaway.analysis.slices.searching import Candidate, Searcher
from cutaway.arrays import BoolArray

__all__ = ["PARENT", "apart", "refined", "worse_than_parents"]

ROUNDS = 4
# So many standard deviations lie between a box of two conditions and the rest of each one.
PARENT = 3.0


def refined(searcher: Searcher, left: Left, candidate: Candidate) -> Candidate:
    """Return the box with the best ends that is near a candidate, on one or two of its columns."""
    best = _moved(searcher, left, candidate)
    if len(best.box) == 1:
        return best
    for place, worse in enumerate(_beside(searcher, left, best.box)):
        if worse:
            continue
        # A box that is no worse than the rest of its parent is its parent's doing.
        parent = (best.box[place],)
        rows = int(box_rows(searcher.features, parent).sum())
        if searcher.fewest <= rows <= searcher.largest:
            return _moved(searcher, left, searcher.weighed(parent, left))
    return best


def worse_than_parents(searcher: Searcher, left: Left, box: Box) -> bool:
    """Whether a box is really worse than what is left of each of its conditions alone."""
    return len(box) == 1 or all(_beside(searcher, left, box))


def _moved(searcher: Searcher, left: Left, best: Candidate) -> Candidate:
    for _ in range(ROUNDS):
        before = best.gain
        for part in best.box:
            others = tuple(one for one in best.box if one[0] != part[0])
            found = searcher.stretch(part[0], left, others)
            if found.gain > best.gain + 1e-9:
                best = found._replace(box=tuple(sorted(found.box)))
        if best.gain <= before + 1e-9:
            break
    return best


def _beside(searcher: Searcher, left: Left, box: Box) -> list[bool]:
    inside = box_rows(searcher.features, box)
    return [_differ(left, inside, box_rows(searcher.features, (part,)) & ~inside) for part in box]


def _differ(left: Left, inside: BoolArray, beside: BoolArray) -> bool:
    return apart(left, inside, beside) >= PARENT


def apart(left: Left, inside: BoolArray, beside: BoolArray) -> float:
    """Return by how many standard deviations some rows are worse than others; 0 where there are none of either."""
    weights = [float(left.variance[rows].sum()) for rows in (inside, beside)]
    if min(weights) <= 0:
        return 0.0  # one condition holds wherever the other does
    means = [float(left.signal[rows].sum()) / weight for rows, weight in zip((inside, beside), weights, strict=True)]
    return float((means[0] - means[1]) / np.sqrt(1 / weights[0] + 1 / weights[1]))
