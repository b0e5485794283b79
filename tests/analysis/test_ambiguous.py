"""Blends of two digits are planted and rank high; wrong labels in the middle of another class rank low."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from cutaway.analysis.classes.ambiguous import find_ambiguous
from cutaway.analysis.samples import Samples
from tests.analysis.read_digits import TRAINING, Reader, in_order, neighbours, trained

PLANTED = 60


class Planted(NamedTuple):
    samples: Samples
    blended: Any
    flipped: Any
    classes: list[set[str]]


@cache
def planted(seed: int) -> Planted:
    """Blends in training (labelled as one of their two digits) and in test, and 5 % wrong labels in training."""
    chance = np.random.default_rng(seed)
    images, labels = in_order(seed)
    pairs = chance.integers(0, len(images), (2000, 2))
    pairs = pairs[labels[pairs[:, 0]] != labels[pairs[:, 1]]][: 2 * PLANTED]
    blends = images[pairs].mean(axis=1)
    flips = chance.choice(TRAINING, TRAINING // 20, replace=False)
    given = labels.copy()
    given[flips] = (given[flips] + chance.integers(1, 10, len(flips))) % 10
    trained_on = np.concatenate([np.arange(TRAINING), len(images) + np.arange(PLANTED)])
    every, said = np.concatenate([images, blends]), np.concatenate([given, labels[pairs[:, 0]]])
    subsets = np.full(len(every), "test", object)
    subsets[trained_on] = "training"
    one = Reader(images, labels, *trained(every[trained_on], said[trained_on], seed))
    rows = np.arange(len(every))
    two = [{str(labels[a]), str(labels[b])} for a, b in pairs]
    return Planted(one.samples(every, said, subsets.tolist()), rows >= len(images), np.isin(rows, flips), two)


def scores(samples: Samples) -> Any:
    """Return the score of every sample; those that agree entirely are not told and have 0."""
    table = find_ambiguous(samples, neighbours(samples), least=1e-9).table
    told = dict(zip(table["sample"].to_pylist(), table["score"].to_pylist(), strict=True))
    return np.array([told.get(one, 0.0) for one in samples.ids])


@pytest.mark.parametrize("seed", [0, 1])
def test_blends_of_two_digits_rank_above_digits(seed: int) -> None:
    samples, blended, flipped, _ = planted(seed)
    found = scores(samples)
    # Many a blend looks like one of its two digits: 0.91 was measured.
    assert roc_auc_score(blended[~flipped], found[~flipped]) >= 0.88


@pytest.mark.parametrize("seed", [0, 1])
def test_wrong_labels_rank_below_blends(seed: int) -> None:
    samples, blended, flipped, _ = planted(seed)
    found = scores(samples)
    some = blended | flipped
    assert roc_auc_score(blended[some], found[some]) >= 0.75
    assert np.median(found[flipped]) < 0.3 < np.median(found[blended])


def test_the_two_classes_of_a_blend_are_named() -> None:
    samples, blended, _, two = planted(0)
    table = find_ambiguous(samples, neighbours(samples)).table
    named = dict(zip(table["sample"].to_pylist(), table["between"].to_pylist(), strict=True))
    planted_ids = np.array(samples.ids)[blended].tolist()
    given = [(set(named[one].split(" and ")), pair) for one, pair in zip(planted_ids, two, strict=True) if one in named]
    assert len(given) >= 0.4 * len(two)
    assert np.mean([bool(names & pair) for names, pair in given]) >= 0.9


@pytest.mark.parametrize("known", ["labels only", "probabilities only"])
def test_half_of_the_evidence_is_enough(known: str) -> None:
    samples, blended, flipped, _ = planted(0)
    if known == "labels only":
        some = Samples(samples.table.drop_columns(["prediction", "correct", "loss"]), samples.latents, samples.classes)
    else:
        some = Samples(
            samples.table.drop_columns(["label", "correct", "loss"]),
            samples.latents,
            samples.classes,
            samples.probabilities,
        )
    assert roc_auc_score(blended[~flipped], scores(some)[~flipped]) >= 0.85


def test_the_overlap_of_two_crowds_is_ambiguous_and_their_middles_are_not() -> None:
    chance = np.random.default_rng(0)
    labels = chance.integers(0, 2, 2000)
    vectors = chance.normal(size=(2000, 2)) + np.stack([labels * 3.0, np.zeros(2000)], axis=1)
    samples = Samples.from_arrays(vectors, labels)
    found = scores(samples)
    middle = np.abs(vectors[:, 0] - 1.5)
    assert found[middle < 0.2].mean() > 0.7
    assert found[middle > 1.5].mean() < 0.1
