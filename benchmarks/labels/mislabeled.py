"""Planted wrong labels: how many are found from one training, and by two peers that train four times more.

Returns plain rows; says nothing about bars. The peers get the same network, rate and as many epochs in each of four
folds: the loss of predictions that are out of fold, and cleanlab's normalized margin of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import nn

from benchmarks.labels.networks import convolutional, dense
from benchmarks.labels.planting import plant
from benchmarks.labels.training import left_behind, predictions, train
from cutaway.analysis.labels import accepted, calibration_error, find_mislabeled, reliability
from cutaway.analysis.nearest import nearest_of
from cutaway.analysis.neighbours import build_index
from cutaway.analysis.samples import Floats

__all__ = ["DIGITS", "MNIST", "Setting", "digits", "mislabeled_rows", "one_row"]

Ints = npt.NDArray[np.int64]
FOLDS = 4


@dataclass(frozen=True)
class Setting:
    """A data set with an ordinary training on it."""

    name: str
    network: Callable[[int], nn.Sequential]
    epochs: int
    rate: float


MNIST = Setting("MNIST", convolutional, 5, 1e-3)
DIGITS = Setting("digits", dense, 30, 2e-3)


def digits() -> tuple[Floats, Ints]:
    """The digits of scikit-learn between 0 and 1, and their classes."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    return (x / 16).astype(np.float32), y.astype(np.int64)


def mislabeled_rows(
    setting: Setting,
    x: Floats,
    y: Ints,
    *,
    cases: Sequence[tuple[str, float]],
    seeds: Sequence[int],
    peers: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> list[dict[str, Any]]:
    """One row for each kind and rate of wrong labels and each seed."""
    rows = []
    for kind, rate in cases:
        for seed in seeds:
            rows.append(one_row(setting, x, y, kind=kind, rate=rate, seed=seed, peers=peers))
            say(f"{setting.name}, {rate:.0%} {kind}, seed {seed}: {rows[-1]['ours']:.4f}")
    return rows


def one_row(
    setting: Setting, x: Floats, y: Ints, *, kind: str, rate: float, seed: int, peers: bool = True
) -> dict[str, Any]:
    """Train once on planted labels, rank, and compare with the truth; then let the peers train four times."""
    from sklearn.metrics import average_precision_score

    planted = plant(y, kind, rate, seed)
    trained = train(setting.network(seed), x, planted.labels, epochs=setting.epochs, rate=setting.rate, seed=seed)
    samples = left_behind(trained, x, planted.labels)
    began = time.perf_counter()
    table = find_mislabeled(samples, nearest_of(samples, lambda: build_index(samples.latents)), seed=seed).table
    seconds = time.perf_counter() - began
    order = np.array([int(one) for one in table["sample"].to_pylist()])
    wrong, scores = planted.wrong[order], table["score"].to_numpy()
    named = np.array([int(one) for one in table["suggested"].to_pylist()]) == y[order]
    chosen, sure = accepted(table), scores >= 0.95
    row = {
        "setting": setting.name,
        "kind": kind,
        "rate": rate,
        "seed": seed,
        "wrong": int(wrong.sum()),
        "expected": float(scores.sum()),
        "ours": _average(average_precision_score, wrong, -np.arange(len(wrong))),
        "suggested": _share(named[wrong]),
        "sure": int(sure.sum()),
        "sure_precision": _share(wrong[sure]),
        "accepted": int(chosen.sum()),
        "accepted_precision": _share(wrong[chosen]),
        "accepted_recall": _share(chosen[wrong]),
        "calibration_error": calibration_error(scores, wrong),
        "bins": reliability(scores, wrong).to_pylist(),
        "training_seconds": trained.seconds,
        "seconds": seconds,
    }
    return row | (_peers(setting, x, planted.labels, planted.wrong, seed) if peers else {})


def _peers(setting: Setting, x: Floats, labels: Ints, wrong: npt.NDArray[np.bool_], seed: int) -> dict[str, Any]:
    """What predictions out of fold find, and how many seconds of training they cost."""
    from cleanlab.rank import get_label_quality_scores
    from sklearn.metrics import average_precision_score

    began = time.perf_counter()
    folds = np.random.default_rng(seed + 77).integers(0, FOLDS, len(x))
    chances = np.zeros((len(x), 10), np.float32)
    for fold in range(FOLDS):
        module = setting.network(seed * 10 + fold + 1000)
        rows = np.flatnonzero(folds != fold)
        train(module, x, labels, epochs=setting.epochs, rate=setting.rate, seed=seed * 10 + fold + 1000, rows=rows)
        held = folds == fold
        chances[held] = predictions(module, x[held])[1]
    seconds = time.perf_counter() - began
    chances /= chances.sum(axis=1, keepdims=True)
    own = chances[np.arange(len(x)), labels]
    margins = get_label_quality_scores(labels, chances, method="normalized_margin")
    return {
        "out_of_fold_loss": _average(average_precision_score, wrong, -own),
        "cleanlab_margin": _average(average_precision_score, wrong, -margins),
        "peer_seconds": seconds,
    }


def _average(precision: Callable[..., Any], wrong: npt.NDArray[np.bool_], scores: npt.NDArray[Any]) -> float:
    return float(precision(wrong, scores)) if wrong.any() else float("nan")


def _share(hits: npt.NDArray[np.bool_]) -> float:
    return float(hits.mean()) if len(hits) else float("nan")
