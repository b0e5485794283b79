"""Holds slices against halves of the samples that did not choose them. Looks for no new slices.

The samples are halved at random a few times. In one half the best box on a slice's columns is looked for anew, and the
other half, which had no part in that, says whether it is worse; then the other way round. Twice the median of these
chances holds whatever the halves share (Meinshausen, Meier and Bühlmann), and is corrected for all sets of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cutaway.analysis.slices.features import Box, Part, box_rows
from cutaway.analysis.slices.fitting import Left, left_over
from cutaway.analysis.slices.outcome import Target
from cutaway.analysis.slices.pursuing import SAME, Held, SliceLimits, kept
from cutaway.analysis.slices.refining import apart, refined
from cutaway.analysis.slices.searching import MOST_PAIRED, Candidate, Searcher, box_score
from cutaway.analysis.slices.values import HeldBack
from cutaway.analysis.statistics.intervals import normal_tail
from cutaway.arrays import BoolArray, Int64Array

__all__ = ["ADDS", "CONFIRMED", "confirmed"]

HALVINGS = 6
# What twice the median may be, corrected for all sets of columns. The search has a bound of its own, which holds too.
CONFIRMED = 0.1
# The share of it that single columns have.
OF_SINGLES = 0.8
# The same for each of two conditions, which nothing else holds against chance.
ADDS = 0.01
# With this chance a slice goes, whatever becomes of the others.
HOPELESS = 0.5
# In half of the samples a slice may be half as small, but of fewer nothing is said.
FEWEST_OF_HALF = 5


@dataclass(frozen=True)
class _Half:
    """Some of the rows with a searcher of their own."""

    rows: Int64Array
    searcher: Searcher
    target: Target

    def left(self, masks: Sequence[BoolArray]) -> Left:
        """Return what some slices leave over of these rows."""
        return left_over(self.target, [mask[self.rows] for mask in masks])


class _Seen(NamedTuple):
    """What a half says of the box that the other one chose: its chance, by how much it is worse, and so the slice."""

    chance: float
    effect: float = 0.0
    own: float = 0.0


def confirmed(
    searcher: Searcher, target: Target, limits: SliceLimits, held: Sequence[Held], seed: int
) -> list[tuple[Held, HeldBack]]:
    """Return the slices that hold in halves that did not choose them, and how far; others go, the weakest first.

    A condition that adds nothing to the other one there is dropped before.
    """
    halves = _halves(searcher, target, seed)
    boxes = [one.box for one in held]
    for place, box in enumerate(boxes):
        if len(box) > 1:
            boxes[place] = _shortened(searcher, halves, boxes, place)
    found = list(held)
    if boxes != [one.box for one in held]:
        found = kept(searcher, target, limits, boxes)
    while found:
        masks = [box_rows(searcher.features, one.box) for one in found]
        told = [_held_back(searcher, halves, found, masks, place) for place in range(len(found))]
        worst = max(one.p for one in told)
        if worst <= CONFIRMED:
            return list(zip(found, told, strict=True))
        # What one slice explains the next may explain as well, so they go one by one, but for those without a hope.
        bound = min(worst, HOPELESS)
        found = [one for one, seen in zip(found, told, strict=True) if seen.p < bound]
    return []


def _halves(searcher: Searcher, target: Target, seed: int) -> list[tuple[_Half, _Half]]:
    generator = np.random.default_rng([seed, 1])
    count = searcher.rows
    made = []
    for _ in range(HALVINGS):
        order = generator.permutation(count)
        first, second = (np.sort(rows) for rows in (order[: count // 2], order[count // 2 :]))
        pair = _half(searcher, target, first), _half(searcher, target, second)
        made += [pair, pair[::-1]]
    return made


def _half(searcher: Searcher, target: Target, rows: Int64Array) -> _Half:
    features = [replace(one, codes=one.codes[rows]) for one in searcher.features]
    fewest = max(FEWEST_OF_HALF, searcher.fewest // 2)
    return _Half(rows, Searcher(features, fewest, max(fewest, searcher.largest // 2)), target.take(rows))


def _held_back(
    searcher: Searcher,
    halves: Sequence[tuple[_Half, _Half]],
    found: Sequence[Held],
    masks: Sequence[BoolArray],
    place: int,
) -> HeldBack:
    box, mask = found[place].box, masks[place]
    others = [*masks[:place], *masks[place + 1 :]]
    seen = [_seen(searcher, choosing, judging, box, mask, others) for choosing, judging in halves]
    chance = 2 * float(np.median([one.chance for one in seen])) * _column_sets(searcher, box)
    effect, own = sum(one.effect for one in seen), sum(one.own for one in seen)
    return HeldBack(min(1.0, chance), min(1.0, max(0.0, effect / own)) if own > 0 else 0.0)


def _column_sets(searcher: Searcher, box: Box) -> float:
    """Return by what a chance is multiplied: most of what is allowed goes to the few single columns, not to pairs."""
    columns = len(searcher.features)
    paired = min(columns, MOST_PAIRED)
    if columns == 1:
        return 1.0
    return columns / OF_SINGLES if len(box) == 1 else paired * (paired - 1) / 2 / (1 - OF_SINGLES)


def _seen(  # noqa: PLR0917  the parts of one question
    searcher: Searcher, choosing: _Half, judging: _Half, box: Box, mask: BoolArray, others: Sequence[BoolArray]
) -> _Seen:
    left = choosing.left(others)
    places = [part[0] for part in box]
    if len(places) == 1:
        best = choosing.searcher.stretch(places[0], left)
    else:
        best = refined(choosing.searcher, left, choosing.searcher.pair(places[0], places[1], left))
    if not _is_same(searcher, best, mask):
        return _Seen(1.0)
    rows, slice_ = box_rows(judging.searcher.features, best.box), mask[judging.rows]
    if not rows.any() or not slice_.any():
        return _Seen(1.0)
    score = box_score(judging.left(others), rows)[0]
    scores = judging.target.scores
    effects = (float(scores[one].mean() - scores[~one].mean()) for one in (rows, slice_))
    return _Seen(float(normal_tail(score)), *effects)


def _is_same(searcher: Searcher, found: Candidate, mask: BoolArray) -> bool:
    if not found.box or not np.isfinite(found.gain):
        return False
    rows = box_rows(searcher.features, found.box)
    return bool((rows & mask).sum() >= SAME * (rows | mask).sum())


def _shortened(searcher: Searcher, halves: Sequence[tuple[_Half, _Half]], boxes: Sequence[Box], place: int) -> Box:
    """Return a box of two conditions, or the one of them to which the other adds nothing."""
    box = boxes[place]
    others = [box_rows(searcher.features, one) for other, one in enumerate(boxes) if other != place]
    chances = [_adding(searcher, halves, box, added, others) for added in box]
    worst = int(np.argmax(chances))
    if chances[worst] <= ADDS:
        return box
    return tuple(part for part in box if part != box[worst])


def _adding(
    searcher: Searcher, halves: Sequence[tuple[_Half, _Half]], box: Box, added: Part, others: Sequence[BoolArray]
) -> float:
    """Return the chance of what a condition adds to the other one, corrected for the columns it could be on."""
    base = tuple(part for part in box if part != added)
    known = [*others, box_rows(searcher.features, base)]
    chances = []
    for choosing, judging in halves:
        best = choosing.searcher.stretch(added[0], choosing.left(known), base)
        if not best.box or not np.isfinite(best.gain):
            chances.append(1.0)
            continue
        inside = box_rows(judging.searcher.features, best.box)
        beside = box_rows(judging.searcher.features, base) & ~inside
        chances.append(float(normal_tail(apart(judging.left(known), inside, beside))))
    return min(1.0, 2 * float(np.median(chances)) * max(1, len(searcher.features) - 1))
