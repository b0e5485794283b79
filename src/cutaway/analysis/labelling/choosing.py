"""Which unlabelled samples to label next: by coverage of the latent space, by doubt, or by both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.devices import choose_device
from cutaway.analysis.labelling.chosen import Chosen, chosen_table, chosen_words
from cutaway.analysis.labelling.covering import Cover, Pick
from cutaway.analysis.labelling.pool import Pool, pool_of
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.arrays import BoolArray, Float32Array, Float64Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError, refuse_unknown
from cutaway.evaluation.progress import Listener

__all__ = ["METHODS", "choose_to_label"]


METHODS = ("mix", "coreset", "uncertainty")
ANALYSIS = "list of samples to label"
# The model is never so sure of a sample that no distance could make it worth a label.
SUREST = 1e-3
# The spread around a sample is the mean distance to so many of its nearest, among at most so many others.
ROOM_NEIGHBOURS, OTHERS = 10, 2_000
BLOCK = 2_048
# Nothing counts as more crowded than this part of the usual spread: copies of one sample lie at distance 0.
SMALLEST = 0.25


def choose_to_label(
    samples: Samples, count: int, *, method: str = "mix", seed: int = 0, progress: Listener | None = None
) -> Ranked:
    """Return `count` samples without a label, in the order in which to label them.

    - `coreset` takes, again and again, the sample that lies farthest in the latent space from everything labelled or
      chosen (greedy k-centre). It covers the space, and every outlier in it.
    - `uncertainty` takes those with the smallest margin between the two likeliest classes, however alike they are.
    - `mix` takes the sample for which this is largest: the distance to everything labelled or chosen, divided by the
      mean distance to its own neighbours, times the root of the uncertainty. An outlier has distant neighbours too and
      gains nothing by its distance; a copy of a chosen sample is worth nothing. Without probabilities it goes by
      distances alone, and says so.

    Each is greedy: the first ten of a hundred are the ten that would have been chosen alone. The table has `sample`,
    `score` (what the sample adds, the first being 1; for `uncertainty` the uncertainty itself), `reason`, `rank`,
    `uncertainty` (1 less the margin), `distance` (to the nearest labelled or earlier chosen sample), `nearest` (which
    one that is), `prediction` and `subset`. The same `seed` gives the same list.
    """
    _check(count, method)
    choose_device()  # says what to install before anything is computed
    usable, why = _usable(samples, method)
    pool = pool_of(samples, usable, why, ANALYSIS)
    doubts = _doubts(samples, pool)
    total = min(count, len(pool.candidates))
    counter = Counter(progress, total, "samples", "choosing samples to label")
    candidates = np.ascontiguousarray(samples.latents[pool.candidates], np.float32)
    cover = Cover(candidates, np.ascontiguousarray(samples.latents[pool.labelled], np.float32))
    if method == "uncertainty" and doubts is not None:
        order = np.argsort(-doubts, kind="stable")[:total]
        chosen = _chosen(cover.followed(order, doubts), counter)
    else:
        weights = _weights(candidates, doubts, seed) if method == "mix" else np.ones(len(candidates), np.float32)
        chosen = _chosen(cover.farthest(weights, total), counter)
        chosen = replace(chosen, values=_in_parts(chosen.values))
    table = chosen_table(samples, pool, chosen, doubts)
    notes = _notes(pool, count, by_distance_alone=method == "mix" and doubts is None)
    return Ranked(table, chosen_words(table, len(pool.candidates), method), notes)


def _check(count: int, method: str) -> None:
    refuse_unknown("method", method, METHODS)
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ConfigurationError(f"`count >= 1` must hold for a whole number, but got count={count!r}.")


def _notes(pool: Pool, count: int, *, by_distance_alone: bool) -> tuple[str, ...]:
    notes = [*pool.notes]
    if by_distance_alone:
        notes.append("There are no probabilities of two or more classes, so `mix` goes by distances alone.")
    if count > len(pool.candidates):
        notes.append(f"{count:,} were asked for, and {len(pool.candidates):,} can be chosen.")
    if not len(pool.labelled):
        notes.append("No sample has a label and a latent vector, so the first is one from the middle of all.")
    return tuple(notes)


def _usable(samples: Samples, method: str) -> tuple[BoolArray, str]:
    """Return which samples a method can judge, and what the others lack."""
    chances = samples.probabilities
    if chances is not None and chances.shape[1] > 1 and method != "coreset":
        return np.asarray(np.isfinite(chances).all(axis=1)), "without finite probabilities"
    if method == "uncertainty":
        raise AnalysisUnavailable(
            ANALYSIS,
            "`uncertainty` needs the probabilities of two or more classes, and these samples have none.",
            hint="Take `coreset`, which goes by latent vectors alone.",
        )
    return np.ones(len(samples), np.bool_), ""


def _doubts(samples: Samples, pool: Pool) -> Float32Array | None:
    chances = samples.probabilities
    return None if chances is None or chances.shape[1] < 2 else uncertainty(chances[pool.candidates])


def _weights(candidates: Float32Array, doubts: Float32Array | None, seed: int) -> Float32Array:
    """Return what a distance counts for: more where the model is unsure, less where there is much room anyway."""
    usual = 1 / crowding(candidates, seed)
    doubt = np.ones_like(usual) if doubts is None else np.maximum(np.sqrt(doubts), SUREST)
    return np.asarray(usual * doubt, np.float32)


def _chosen(picks: Iterable[Pick], counter: Counter) -> Chosen:
    rows = []
    for pick in picks:
        rows.append(pick)
        counter.advance()
    places, values, distances, nearest = (np.array(side) for side in zip(*rows, strict=True))
    return Chosen(places, values, distances, nearest)


def _in_parts(values: Float64Array) -> Float64Array:
    """Return what each adds in parts of what the first does, never more than the one before it."""
    if not np.isfinite(values[0]):  # nothing was there before it, so it adds no less than the next
        values = np.concatenate([values[1:2] if len(values) > 1 else [1.0], values[1:]])
    return np.minimum.accumulate(values / values[0] if values[0] > 0 else values)


def uncertainty(probabilities: Float32Array) -> Float32Array:
    """Return 1 less the margin between the two likeliest classes: 0 for certain, 1 where both are as likely.

    >>> [round(float(one), 2) for one in uncertainty(np.array([[1.0, 0.0], [0.5, 0.5]], np.float32))]
    [0.0, 1.0]
    """
    if probabilities.shape[1] < 2:
        return np.zeros(len(probabilities), np.float32)
    top = np.partition(probabilities, -2, axis=1)[:, -2:]
    return np.asarray(np.clip(1 - (top[:, 1] - top[:, 0]), 0, 1), np.float32)


def crowding(candidates: Float32Array, seed: int) -> Float32Array:
    """Return how much room is around each candidate, in parts of the usual: 1 for most, large for outliers.

    It is the mean distance to the nearest few of a random sample of the others, so that it costs the same for each
    candidate however many there are. What is crowded more than four times as much as usual counts as four times.
    """
    import torch

    count = len(candidates)
    kept = min(ROOM_NEIGHBOURS, count - 1)
    if kept < 1:
        return np.ones(count, np.float32)
    vectors = torch.from_numpy(candidates - candidates.mean(axis=0))
    chosen = np.sort(np.random.default_rng(seed).choice(count, min(OTHERS, count), replace=False))
    others = vectors[torch.from_numpy(chosen)]
    squares = others.square().sum(1)
    place = np.full(count, -1)
    place[chosen] = np.arange(len(chosen))
    room = np.empty(count, np.float32)
    kept = min(kept, len(others) - 1)
    for start in range(0, count, BLOCK):
        part = vectors[start : start + BLOCK]
        # cdist takes several times as long; near distances, which products round, are averaged here.
        found = torch.addmm(squares[None, :], part, others.T, alpha=-2.0) + part.square().sum(1, keepdim=True)
        own = torch.from_numpy(place[start : start + BLOCK])
        rows = torch.nonzero(own >= 0)[:, 0]
        found[rows, own[rows]] = torch.inf  # a sample is no neighbour of its own
        room[start : start + BLOCK] = found.topk(kept, largest=False).values.clamp(min=0).sqrt().mean(1).numpy()
    usual = float(np.median(room)) or float(room.mean()) or 1.0
    return np.asarray(np.maximum(room / usual, SMALLEST), np.float32)
