"""`find_outliers`: samples that lie farther from the training samples than chance explains. Removes none of them.

The measure is the mean distance to the ten nearest training samples. Measured on planted noise, inverted, scrambled and
foreign images, it ranked as well as or better than distances relative to the local density or to the class, distances
to class centres, and the largest probability, which a network that is sure of everything does not lower.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cutaway.analysis.neighbours.nearest import Nearest, without_self
from cutaway.analysis.samples import LABEL, PREDICTION, SUBSET, Samples
from cutaway.analysis.samples.coding import left_out
from cutaway.analysis.samples.ranked import Ranked
from cutaway.analysis.statistics.false_shares import false_shares
from cutaway.arrays import BoolArray, Float64Array, Int64Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.wording import chance_words

__all__ = ["find_outliers"]


TRAINING = "training"
# So many neighbours have a say, and with fewer reference samples nothing tells what is usual.
NEIGHBOURS, FEWEST = 10, 30
# The distances beyond the upper share are continued from the fall between the two: samples out there may be strange
# themselves, so they do not say what is usual.
LOWER, UPPER = 0.90, 0.98
# A model that gives one class so much is sure.
SURE = 0.9


class _Far(NamedTuple):
    """How far each sample lies from the samples called `name`, and what that means; `usual` is their median."""

    name: str
    usual: float
    distances: Float64Array
    chances: Float64Array
    shares: Float64Array


def find_outliers(samples: Samples, nearest: Nearest, *, false_share: float = 0.1) -> Ranked:
    """Return the samples that are out of distribution, the strangest first.

    Each sample's mean distance to its ten nearest training samples is compared with that of the training samples
    among themselves (all samples where none is in training). `p` is the share of usual samples that lie as far; beyond
    the farthest 2 % an exponential tail continues it, which errs on the side of silence for distances that fall off
    as they do in networks. Of those told in a subset at most `false_share` is chance, and the score is 1 less the share
    of chance among the samples of the subset that are as strange or stranger.

    Strange samples within training that lie in a crowd of their own, of more than ten, are usual there and are not
    found. Beside sample, score and reason, the columns are distance, usual (the median of the training samples), p,
    subset, and label and prediction where there are any.
    """
    if not 0 < false_share < 1:
        raise ConfigurationError(f"`0 < false_share < 1` must hold, but got false_share={false_share}.")
    if len(nearest.indices) != len(samples):
        raise ConfigurationError(f"`nearest` is about {len(nearest.indices)} samples, but there are {len(samples)}.")
    reference, name = _reference(samples)
    distances = _mean_distances(samples, nearest, reference)
    chances = _tail(distances[reference], distances)
    far = _Far(name, float(np.median(distances[reference])), distances, chances, _shares(samples, chances))
    found = np.flatnonzero(far.shares <= false_share)
    found = found[np.lexsort((found, -distances[found], far.shares[found]))]
    lost = left_out(len(samples), {"without a finite latent vector": int((~samples.finite).sum())})
    words = _words(samples, found, far, false_share)
    return Ranked(_table(samples, found, far), words, (*lost, *_said(name)))


def _reference(samples: Samples) -> tuple[BoolArray, str]:
    """Return the samples that say what is usual, and what they are called."""
    finite = samples.finite
    training = finite & np.array([one == TRAINING for one in samples.table[SUBSET].to_pylist()], np.bool_)
    if int(training.sum()) >= FEWEST:
        return training, TRAINING
    if int(finite.sum()) < FEWEST:
        raise AnalysisUnavailable(
            "outliers",
            f"{int(finite.sum())} of {len(samples)} samples have a finite latent vector, "
            f"and {FEWEST} are needed to say what is usual",
        )
    return finite, "other"


def _mean_distances(samples: Samples, nearest: Nearest, reference: BoolArray) -> Float64Array:
    """Return each sample's mean distance to its nearest reference samples, itself never one; NaN where not finite."""
    found = np.full(len(samples), np.nan)
    usable = np.flatnonzero(samples.finite)
    count = min(NEIGHBOURS, int(reference.sum()) - 1)
    indices = nearest.indices[usable]
    counts = (indices >= 0) & reference[indices]
    # The first `count` of those that count.
    chosen = counts & (np.cumsum(counts, axis=1) <= count)
    enough = chosen.sum(axis=1) == count
    sums = np.where(chosen, nearest.distances[usable].astype(np.float64), 0.0).sum(axis=1)
    found[usable[enough]] = sums[enough] / count
    short = usable[~enough]
    if len(short):
        found[short] = _searched(samples, reference, short, count)
    return found


def _searched(samples: Samples, reference: BoolArray, rows: Int64Array, count: int) -> Float64Array:
    """Search for samples whose known neighbours are of other subsets, such as a crowd of strange test samples."""
    from cutaway.analysis.neighbours import build_index

    places = np.flatnonzero(reference)
    index = build_index(samples.latents[places], exact=True)
    near = index.search(samples.latents[rows], count + 1)
    # Where equal vectors crowded a sample out of its own neighbours, the last one is as near.
    _, distances = without_self(rows, places[np.maximum(near.indices, 0)], near.distances)
    return np.asarray(distances.astype(np.float64).mean(axis=1))


def _tail(usual: Float64Array, distances: Float64Array) -> Float64Array:
    """Return which share of usual samples lies as far as each distance; 1 where there is no distance."""
    ordered = np.sort(usual)
    lower, upper = np.quantile(ordered, [LOWER, UPPER])
    scale = (upper - lower) / np.log((1 - LOWER) / (1 - UPPER))
    known = np.nan_to_num(distances, nan=-1.0)
    ranks = (1 + len(ordered) - np.searchsorted(ordered, known, side="left")) / (len(ordered) + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = (1 - UPPER) * np.exp(-(known - upper) / scale)
    return np.asarray(np.minimum(np.where(known > upper, beyond, ranks), 1.0))


def _shares(samples: Samples, chances: Float64Array) -> Float64Array:
    """Return the share of chance among those as strange, in each subset by itself."""
    shares = np.ones(len(samples))
    subsets = np.array([str(one) for one in samples.table[SUBSET].to_pylist()])
    for subset in np.unique(subsets):
        rows = np.flatnonzero((subsets == subset) & samples.finite)
        shares[rows] = false_shares(chances[rows] * len(rows))
    return shares


def _table(samples: Samples, rows: Int64Array, far: _Far) -> pa.Table:
    chosen = samples.table.take(pa.array(rows))
    columns: dict[str, Any] = {
        "sample": pa.array([samples.ids[row] for row in rows], pa.string()),
        "score": pa.array(1 - far.shares[rows], pa.float64()),
        "reason": pa.array([_reason(samples, int(row), far) for row in rows], pa.string()),
        "distance": pa.array(far.distances[rows], pa.float64()),
        "usual": pa.array(np.full(len(rows), far.usual), pa.float64()),
        "p": pa.array(far.chances[rows], pa.float64()),
        SUBSET: chosen[SUBSET],
    }
    return pa.table(columns | {one: chosen[one] for one in (LABEL, PREDICTION) if samples.has(one)})


def _reason(samples: Samples, row: int, far: _Far) -> str:
    distance = float(far.distances[row])
    times = (
        f"{distance / far.usual:.1f} times as far as is usual" if far.usual > 0 else "where others lie on each other"
    )
    sure = ""
    if samples.probabilities is not None and samples.probabilities.shape[1]:
        largest = samples.probabilities[row].max()
        if np.isfinite(largest) and largest >= SURE:
            sure = f" The model is sure of it all the same ({largest:.2f})."
    return f"Its nearest {far.name} samples are {distance:.3g} away, {times}.{sure}"


def _words(samples: Samples, found: Int64Array, far: _Far, false_share: float) -> tuple[str, ...]:
    if not len(found):
        farthest = int(np.nanargmax(far.distances))
        return (
            f"No sample lies farther from the {far.name} samples than chance explains. The farthest of "
            f"{int(samples.finite.sum()):,} is {samples.ids[farthest]} ({chance_words(float(far.chances[farthest]))}).",
        )
    subsets = Counter(str(one) for one in samples.table[SUBSET].to_pylist())
    strange = Counter(str(samples.table[SUBSET][int(row)].as_py()) for row in found)
    return tuple(
        f"{count:,} of {subsets[name]:,} {name} samples {'lies' if count == 1 else 'lie'} outside what the {far.name} "
        f"samples look like to the model; up to {false_share:.0%} of them may be chance."
        for name, count in strange.most_common()
    )


def _said(name: str) -> tuple[str, ...]:
    crowd = f"A crowd of more than {NEIGHBOURS} strange samples that are alike"
    if name == TRAINING:
        return (f"{crowd} is found outside training only; within training it counts as usual.",)
    return (f"No subset is {TRAINING}, so all samples say together what is usual. {crowd} is not found.",)
