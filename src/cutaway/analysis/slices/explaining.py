"""`explain_outcome`: how much each column by itself has to do with the outcome. Finds no slices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cutaway.analysis.libraries import library
from cutaway.analysis.slices.features import Feature
from cutaway.analysis.slices.outcome import Target, as_numbers, measured_rows, target_of
from cutaway.analysis.slices.reading import Columns, as_table, features_of
from cutaway.analysis.statistics.false_shares import holm
from cutaway.arrays import Float64Array, Int64Array

__all__ = ["explain_outcome"]

# A number's bins are joined to so many: few enough that each says something, enough for a bend.
GROUPS = 10
# A value that fewer samples have is joined with the other rare ones.
FEWEST = 10
# Above this share of agreement of the ranks, a column's numbers are worse towards one end.
CLEAR = 0.5


@dataclass(frozen=True)
class _ExplainedSlice:
    column: str
    strength: float
    direction: str
    p: float
    samples: int


def explain_outcome(columns: Columns, outcome: npt.ArrayLike, *, seed: int = 0) -> pa.Table:
    """Return the columns by how much of the outcome each explains: column, strength, direction, p, samples, words.

    `strength` goes from 0, nothing, to 1, all: the share of the variance of the outcome, or of the normal scores of
    its ranks, that lies between the column's values (numbers in ten groups), less what chance would give. For numbers
    `direction` is `higher`, `lower` or `mixed`: at which values the outcome is larger, so worse; for other columns it
    is the worst value. `p` is corrected for the number of columns (Holm). Nothing here is random; `seed` is taken so
    that all searches can be called alike.

    >>> light = np.arange(1000) / 1000
    >>> explained = explain_outcome({"light": light}, np.where(light < 0.25, 2.0, light))
    >>> explained["column"][0].as_py(), explained["direction"][0].as_py()
    ('light', 'mixed')
    """
    del seed
    table, refused = as_table(columns)
    values = as_numbers(outcome)
    known = measured_rows(values, table.num_rows)
    features, _ = features_of(table, refused, FEWEST)
    target = target_of(values[known])
    found = [_explained(feature, feature.codes[known], target) for feature in features]
    chances = holm(np.array([one.p for one in found]))
    order = sorted(range(len(found)), key=lambda place: (-found[place].strength, found[place].p))
    rows = [(found[place], float(chances[place])) for place in order]
    return pa.table(
        {
            "column": pa.array([one.column for one, _ in rows], pa.string()),
            "strength": pa.array([one.strength for one, _ in rows], pa.float64()),
            "direction": pa.array([one.direction for one, _ in rows], pa.string()),
            "p": pa.array([p for _, p in rows], pa.float64()),
            "samples": pa.array([one.samples for one, _ in rows], pa.int64()),
            "words": pa.array([_words(one, p) for one, p in rows], pa.string()),
        }
    )


def _explained(feature: Feature, codes: Int64Array, target: Target) -> _ExplainedSlice:
    groups = _joined(feature, codes)
    counts = np.bincount(groups).astype(np.float64)
    sums = np.bincount(groups, target.scores, len(counts))
    present = counts > 0
    means = sums[present] / counts[present]
    total, centre = len(groups), target.scores.mean()
    between = float((counts[present] * (means - centre) ** 2).sum())
    whole = float(((target.scores - centre) ** 2).sum())
    freedom, rest = int(present.sum()) - 1, total - int(present.sum())
    if freedom < 1 or rest < 1:
        return _ExplainedSlice(feature.name, 0.0, "", 1.0, total)
    noise = max(whole - between, 0.0) / rest
    # What chance would put between so many groups is taken off (epsilon squared).
    strength = max(0.0, (between - freedom * noise) / whole)
    ratio = between / freedom / noise if noise > 0 else np.inf
    p = float(library("scipy.special", "Explaining an outcome").fdtrc(freedom, rest, ratio))
    return _ExplainedSlice(feature.name, min(1.0, strength), _direction(feature, codes, target.scores), p, total)


def _joined(feature: Feature, codes: Int64Array) -> Int64Array:
    """Return groups of rows: bins of numbers joined to about ten, other values as they are."""
    if feature.ordered <= GROUPS:
        return codes
    masses = np.bincount(codes, minlength=feature.bins + 1)[: feature.ordered]
    middle = np.cumsum(masses) - masses / 2
    groups = np.minimum((middle * GROUPS / max(masses.sum(), 1)).astype(np.int64), GROUPS - 1)
    others = GROUPS + np.arange(feature.bins + 1 - feature.ordered)
    return np.concatenate([groups, others])[codes]


def _direction(feature: Feature, codes: Int64Array, scores: Float64Array) -> str:
    sums, counts = np.bincount(codes, scores, feature.bins + 1), np.bincount(codes, minlength=feature.bins + 1)
    if feature.ordered > 1:
        line = codes < feature.ordered
        groups = _joined(feature, codes)[line]
        slope = np.corrcoef(codes[line], scores[line])[0, 1] if np.ptp(codes[line]) and np.ptp(scores[line]) else 0.0
        means = (np.bincount(groups, scores[line]) / np.maximum(np.bincount(groups), 1))[groups]
        bend = np.corrcoef(means, scores[line])[0, 1] if np.ptp(means) > 0 and np.ptp(scores[line]) > 0 else 0.0
        if abs(slope) < CLEAR * abs(bend) or not slope:
            return "mixed"
        return "higher" if slope > 0 else "lower"
    told = counts[: feature.bins] > 0
    if not told.any():
        return ""
    worst = int(np.where(told, sums[: feature.bins] / np.maximum(counts[: feature.bins], 1), -np.inf).argmax())
    value = feature.values[worst - feature.ordered] if worst >= feature.ordered else feature.lows[worst]
    return "missing" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _words(one: _ExplainedSlice, p: float) -> str:
    share = f"{100 * one.strength:.1f} %" if one.strength >= 0.001 else "next to nothing"
    if p > 0.05:
        return f"{one.column} explains no more than chance would"
    ends = {"higher": "worse at higher values", "lower": "worse at lower values", "mixed": "worse at some values"}
    told = ends.get(one.direction, f"worst at {one.direction}")
    return f"{one.column} explains {share} of the outcome: {told}"
