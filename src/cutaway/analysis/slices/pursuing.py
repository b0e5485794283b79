"""Finds slices one after another, each in what the ones before leave over, and keeps those that hold in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cutaway.analysis.slices.features import Box, Feature, Part, box_rows
from cutaway.analysis.slices.fitting import Left, left_over
from cutaway.analysis.slices.multiplicity import FIRST, HOPE, LOOKED_AT, false_boxes, step_up
from cutaway.analysis.slices.outcome import Target
from cutaway.analysis.slices.refining import refined, worse_than_parents
from cutaway.analysis.slices.searching import Searcher, box_score
from cutaway.arrays import BoolArray

__all__ = ["ROUNDS", "Held", "SliceLimits", "kept", "pursued"]


# Searches at most, and slices that one search may give: those that share hardly a row with each other.
ROUNDS = 25
PASSES = 3
AT_ONCE = 4
APART = 0.05
# Slices that share so much of their rows are the same.
SAME = 0.5
# A slice beside a surer one on the same columns, and smaller than this part of it, is a crumb of it.
CRUMB = 0.5


@dataclass(frozen=True)
class SliceLimits:
    """What a slice must reach: `level` is what chance reaches, `effect` in the units that are tested."""

    level: float
    alpha: float
    effect: float
    most: int

    def allows(self, score: float, already: int) -> bool:
        """Whether a score is more than chance as one more of so many."""
        return false_boxes(score, self.level) <= self.alpha * (already + 1 if already else FIRST)


@dataclass(frozen=True)
class Held:
    """A slice that holds beside all others, and its p after correction."""

    box: Box
    score: float
    p: float


def pursued(searcher: Searcher, target: Target, limits: SliceLimits, done: Callable[[], None]) -> list[Held]:
    """Return boxes that are worse than expected, each beside all others, the surest first."""
    boxes: list[Box] = []
    for _ in range(PASSES):
        before = boxes
        boxes = _more(searcher, target, limits, boxes, done)
        held = kept(searcher, target, limits, boxes)
        boxes = [one.box for one in held]
        if set(boxes) <= set(before):
            break
    return held


def _more(
    searcher: Searcher, target: Target, limits: SliceLimits, boxes: list[Box], done: Callable[[], None]
) -> list[Box]:
    """Return boxes and those that are found in what they leave over, until nothing is."""
    for _ in range(ROUNDS):
        masks = [box_rows(searcher.features, box) for box in boxes]
        found = _round(searcher, left_over(target, masks), limits, masks)
        done()
        boxes = polished(searcher, target, boxes + found)
        if not found or len(boxes) > 2 * limits.most:
            break
    return boxes


def _round(searcher: Searcher, left: Left, limits: SliceLimits, masks: list[BoolArray]) -> list[Box]:
    taken: list[Box] = []
    rows: list[BoolArray] = []
    for candidate in searcher.search(left)[:LOOKED_AT]:
        already = len(masks) + len(taken)
        if len(taken) == AT_ONCE:
            break
        if not limits.allows(candidate.score + HOPE, already):
            continue
        _, score, box = refined(searcher, left, candidate)
        if not limits.allows(score, already):
            continue
        mask = box_rows(searcher.features, box)
        if any(_shared(mask, other) > APART for other in rows) or any(_jaccard(mask, one) > SAME for one in masks):
            continue
        taken.append(box)
        rows.append(mask)
    return taken


def polished(searcher: Searcher, target: Target, boxes: list[Box]) -> list[Box]:
    """Return boxes with their ends moved to where they are worst, given all the others."""
    boxes = list(boxes)
    masks = [box_rows(searcher.features, box) for box in boxes]
    for place, box in enumerate(boxes):
        left = left_over(target, masks[:place] + masks[place + 1 :])
        boxes[place] = refined(searcher, left, searcher.weighed(box, left)).box
        masks[place] = box_rows(searcher.features, boxes[place])
    return boxes


def kept(searcher: Searcher, target: Target, limits: SliceLimits, boxes: list[Box]) -> list[Held]:
    """Return the boxes that hold beside all others, the surest first; the weakest goes until all do."""
    boxes = _different(searcher, boxes)
    masks = [box_rows(searcher.features, box) for box in boxes]
    while boxes:
        lefts = [left_over(target, masks[:place] + masks[place + 1 :]) for place in range(len(boxes))]
        scores = [searcher.weighed(box, left).score for box, left in zip(boxes, lefts, strict=True)]
        chances = step_up(scores, limits.level, limits.alpha)
        fine = [
            p <= limits.alpha and box_score(left, mask)[1] >= limits.effect and worse_than_parents(searcher, left, box)
            for p, left, mask, box in zip(chances, lefts, masks, boxes, strict=True)
        ]
        if all(fine):
            order = sorted(range(len(boxes)), key=lambda place: -scores[place])
            whole = [place for rank, place in enumerate(order) if not _crumb(searcher, boxes, masks, order[: rank + 1])]
            return [Held(boxes[place], scores[place], chances[place]) for place in whole[: limits.most]]
        weakest = min((place for place, held in enumerate(fine) if not held), key=lambda place: scores[place])
        del boxes[weakest], masks[weakest]
    return []


def _crumb(searcher: Searcher, boxes: list[Box], masks: list[BoolArray], order: list[int]) -> bool:
    """Whether the last of some boxes is what the ends of a larger, surer one left lying beside it."""
    *surer, last = order
    return any(
        masks[last].sum() < CRUMB * masks[place].sum()
        and [part[0] for part in boxes[place]] == [part[0] for part in boxes[last]]
        and all(map(_touch, (searcher.features[part[0]] for part in boxes[last]), boxes[last], boxes[place]))
        for place in surer
    )


def _touch(feature: Feature, one: Part, two: Part) -> bool:
    line = one[1] < feature.ordered and two[1] < feature.ordered
    return one[1] <= two[2] and two[1] <= one[2] if line else one == two


def _different(searcher: Searcher, boxes: list[Box]) -> list[Box]:
    chosen: list[Box] = []
    masks: list[BoolArray] = []
    for box in boxes:
        mask = box_rows(searcher.features, box)
        if all(_jaccard(mask, other) <= SAME for other in masks):
            chosen.append(box)
            masks.append(mask)
    return chosen


def _jaccard(one: BoolArray, two: BoolArray) -> float:
    return float((one & two).sum() / max(int((one | two).sum()), 1))


def _shared(one: BoolArray, two: BoolArray) -> float:
    return float((one & two).sum() / max(min(int(one.sum()), int(two.sum())), 1))
