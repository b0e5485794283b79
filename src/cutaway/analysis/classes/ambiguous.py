"""`find_ambiguous`: samples that lie between two classes, whatever their labels. Says nothing about wrong labels.

A wrong label has neighbours that agree with each other against it. An ambiguous sample has neighbours, or a model, that
do not agree with each other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cutaway.analysis.classes.between import (
    Between,
    Opinion,
    between_classes,
    opinion_of_centres,
    opinion_of_probabilities,
    support_of,
)
from cutaway.analysis.classes.centres import nearest_classes
from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.samples import LABEL, PREDICTION, SUBSET, Samples
from cutaway.analysis.samples.coding import Coded, coded, left_out
from cutaway.analysis.samples.ranked import Ranked
from cutaway.arrays import Float32Array, Float64Array, Int64Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError

__all__ = ["find_ambiguous"]


TRAINING = "training"
# Neighbours with at most so many bits of entropy agree, and a model that gives one class so much is sure.
AGREED, SURE = 0.5, 0.9
# So many rows of probabilities are turned into entropies at a time.
BLOCK = 65_536


class _Classes(NamedTuple):
    """The classes and which one each sample is said to have: its label, else its prediction, else -1."""

    names: tuple[str, ...]
    labels: Int64Array
    either: Int64Array


def find_ambiguous(samples: Samples, nearest: Nearest, *, least: float = 0.5) -> Ranked:
    """Return the samples that lie between two classes, the most evenly divided first.

    The classes of a sample's neighbours (their labels, or predictions where there are none) and the probabilities of
    the model are averaged; without probabilities, the distances to the class centres take their place. The score is 1
    less the difference between the two classes with most support: 1 where they are even, 0 where all agree. Samples of
    at least `least` are told. What a model says of a label that it was trained on counts only as far as neighbours have
    that label too, so a wrong label that was learnt by heart is not taken for ambiguity.

    Beside sample, score and reason, the columns are between (the two classes), share and other_share (their support),
    entropy (of the probabilities) and neighbour_entropy, both in bits, subset, and label and prediction where there
    are any.
    """
    if not 0 < least <= 1:
        raise ConfigurationError(f"`0 < least <= 1` must hold, but got least={least}.")
    if len(nearest.indices) != len(samples):
        raise ConfigurationError(f"`nearest` is about {len(nearest.indices)} samples, but there are {len(samples)}.")
    classes = _classes(samples)
    opinion, second = _opinion(samples, nearest, classes)
    between = between_classes(nearest, classes.either, opinion)
    scores = 1 - (between.first_share - between.second_share)
    told = np.flatnonzero(np.nan_to_num(scores) >= least)
    told = told[np.lexsort((told, -scores[told]))]
    table = _table(samples, told, scores, [_told(classes.names, between, opinion, second, int(row)) for row in told])
    unknown = {"with neither a neighbour that has a class nor probabilities": int(np.isnan(scores).sum())}
    voters = "labels" if samples.has(LABEL) else "predictions" if samples.has(PREDICTION) else ""
    used = " and ".join(one for one in (f"the {voters} of neighbours" if voters else "", second) if one)
    notes = (f"What was looked at: {used}.", *left_out(len(samples), unknown))
    return Ranked(table, _words(told, classes, between, int(np.isfinite(scores).sum())), notes)


def _classes(samples: Samples) -> _Classes:
    empty = Coded(samples.classes, np.full(len(samples), -1, np.int64))
    labels = coded(LABEL, samples.column(LABEL), samples.classes) if samples.has(LABEL) else empty
    predicted = coded(PREDICTION, samples.column(PREDICTION), labels.names) if samples.has(PREDICTION) else empty
    names = predicted.names if len(predicted.names) > len(labels.names) else labels.names
    either = np.where(labels.codes >= 0, labels.codes, predicted.codes)
    if samples.probabilities is None and not (either >= 0).any():
        raise AnalysisUnavailable(
            "ambiguous samples", "no sample has a label, a prediction or probabilities of classes"
        )
    if len(names) < 2:
        raise AnalysisUnavailable("ambiguous samples", f"there is one class only: {', '.join(names)}")
    return _Classes(names, labels.codes, either)


def _opinion(samples: Samples, nearest: Nearest, classes: _Classes) -> tuple[Opinion | None, str]:
    """Return what is asked beside the neighbours, and what it is called."""
    chances = samples.probabilities
    if chances is not None and chances.shape[1] > 1:
        trained = np.array([one == TRAINING for one in samples.table[SUBSET].to_pylist()], np.bool_)
        known = np.where(trained & (classes.labels < chances.shape[1]), classes.labels, -1)
        return opinion_of_probabilities(
            chances, known, support_of(nearest, classes.labels)
        ), "the model's probabilities"
    if not (samples.finite & (classes.either >= 0)).any():
        return None, ""
    said = [classes.names[one] if one >= 0 else None for one in classes.either.tolist()]
    near = nearest_classes(samples.latents, said, classes.names, 2)
    return opinion_of_centres(near.numbers, near.distances.astype(np.float64)), "the distances to class centres"


def _told(names: tuple[str, ...], between: Between, opinion: Opinion | None, second: str, row: int) -> dict[str, Any]:
    """Return what the table says of one sample by its neighbours and the second opinion."""
    pair = [names[one] for one in (between.first[row], between.second[row]) if one >= 0]
    shares = float(between.first_share[row]), float(between.second_share[row])
    said = " and ".join(f"{share:.0%} for {name}" for share, name in zip(shares, pair, strict=False))
    who = [f"{between.voters[row]} neighbours"] if between.voters[row] else []
    if opinion is not None and opinion.classes[row, 0] >= 0:
        who.append(second)
        if opinion.shares[row].max() >= SURE and between.entropy[row] <= AGREED:
            said += ", for each is sure of another class"
    bits = float(between.entropy[row])
    return {
        "reason": f"By {' and '.join(who)}: {said}.",
        "between": " and ".join(pair),
        "share": shares[0],
        "other_share": shares[1],
        "neighbour_entropy": None if np.isnan(bits) else bits,
    }


def _table(samples: Samples, rows: Int64Array, scores: Float64Array, told: list[dict[str, Any]]) -> pa.Table:
    chosen = samples.table.take(pa.array(rows))
    entropies = _entropies(samples.probabilities, rows)
    texts, numbers = pa.string(), pa.float64()
    columns: dict[str, Any] = {
        "sample": pa.array([samples.ids[row] for row in rows], texts),
        "score": pa.array(scores[rows], numbers),
        "reason": pa.array([one["reason"] for one in told], texts),
        "between": pa.array([one["between"] for one in told], texts),
        "share": pa.array([one["share"] for one in told], numbers),
        "other_share": pa.array([one["other_share"] for one in told], numbers),
        "entropy": pa.array(entropies, numbers, mask=~np.isfinite(entropies)),
        "neighbour_entropy": pa.array([one["neighbour_entropy"] for one in told], numbers),
        SUBSET: chosen[SUBSET],
    }
    return pa.table(columns | {one: chosen[one] for one in (LABEL, PREDICTION) if samples.has(one)})


def _entropies(chances: Float32Array | None, rows: Int64Array) -> Float64Array:
    found = np.full(len(rows), np.nan)
    for start in range(0, len(rows) if chances is not None else 0, BLOCK):
        held = np.asarray(chances)[rows[start : start + BLOCK]].astype(np.float64)
        with np.errstate(invalid="ignore"):
            found[start : start + BLOCK] = -(held * np.log2(np.maximum(held, 1e-300))).sum(axis=1)
    return found


def _words(told: Int64Array, classes: _Classes, between: Between, known: int) -> tuple[str, ...]:
    if not len(told):
        return (f"None of {known:,} samples lies between two classes.",)
    words = [f"{len(told):,} of {known:,} samples {'lies' if len(told) == 1 else 'lie'} between two classes."]
    pairs = np.sort(np.stack([between.first[told], between.second[told]], axis=1), axis=1)
    kinds, counts = np.unique(pairs[pairs[:, 0] >= 0], axis=0, return_counts=True)
    if len(kinds):
        most = np.argsort(-counts, kind="stable")[:3]
        listed = ", ".join(
            f"{classes.names[kinds[one, 0]]} and {classes.names[kinds[one, 1]]} ({counts[one]:,})" for one in most
        )
        words.append(f"Most often between {listed}.")
    return tuple(words)
