"""Planted wrong labels: how many are found from one training, and by two peers that train four times more.

The peers get the same network, rate and as many epochs in each of four folds. Their predictions out of fold are left
in a file for cleanlab, which has an environment of its own (`margins`); the loss of them is judged here. Knows no bars.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.labels.planting import Planted, plant
from benchmarks.labels.settings import SETTINGS, Floats, Setting, read_data
from benchmarks.labels.watching import chances_of, positions, train, watch
from cutaway.analysis.fixing import choose
from cutaway.analysis.labels import calibration_error, reliability

__all__ = ["chances_out_of_fold", "corrections", "measure_finding"]

FOLDS = 4
Bools = npt.NDArray[np.bool_]


def measure_finding(job: dict[str, Any]) -> dict[str, Any]:
    """Train once on planted labels, rank, and compare with the truth; then let the peers train four times."""
    from sklearn.metrics import average_precision_score

    setting, seed = SETTINGS[job["setting"]], job["seed"]
    data = read_data(setting.name, job["source"], share=job["share"])
    planted = plant(data.y, job["kind"], job["rate"], seed, setting.confusable)
    watched = watch(setting, data.x, planted.labels, seed=seed, scratch=Path(job["scratch"]))
    table = watched.candidates
    order = positions(table["sample"].to_pylist())
    wrong, scores = planted.wrong[order], np.asarray(table["score"].to_numpy(), np.float64)
    named = np.array([int(one) for one in table["suggested"].to_pylist()]) == data.y[order]
    answer = {
        "precision": float(average_precision_score(wrong, -np.arange(len(wrong)))),
        "wrong": int(wrong.sum()),
        "expected": float(scores.sum()),
        "named": int(named[wrong].sum()),
        "calibration_error": calibration_error(scores, wrong),
        "bins": reliability(scores, wrong).to_pylist(),
        "training": watched.training,
        "looking": watched.evaluating + watched.looking,
        **corrections(table, planted, data.y)[1],
    }
    return answer | (_out_of_fold(setting, data.x, planted, job) if job["folds"] else {})


def corrections(table: Any, planted: Planted, right: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], Any]:
    """The labels after the corrections that `cutaway fix` accepts, -1 where it drops a sample, and counts of them."""
    decisions = choose(table, samples=len(right)).decisions
    relabels = [one for one in decisions if one.action == "relabel"]
    rows = positions([one.sample for one in relabels])
    fixed = planted.labels.copy()
    fixed[positions([one.sample for one in decisions])] = -1
    fixed[rows] = [int(one.label or "") for one in relabels]
    counts = {
        "accepted": len(rows),
        "accepted_wrong": int(planted.wrong[rows].sum()),
        "accepted_right": int((fixed[rows] == right[rows]).sum()),
        "dropped": int((fixed < 0).sum()),
        "dropped_wrong": int(planted.wrong[fixed < 0].sum()),
    }
    return fixed, counts


def _out_of_fold(setting: Setting, x: Floats, planted: Planted, job: dict[str, Any]) -> dict[str, Any]:
    """What the loss of predictions out of fold finds, and how many seconds of training they cost."""
    from sklearn.metrics import average_precision_score

    began = time.perf_counter()
    chances = chances_out_of_fold(setting, x, planted.labels, job["seed"])
    seconds = time.perf_counter() - began
    own = chances[np.arange(len(x)), planted.labels]
    np.savez(job["folds"], chances=chances, labels=planted.labels, wrong=planted.wrong)
    return {"loss_precision": float(average_precision_score(planted.wrong, -own)), "folds_seconds": seconds}


def chances_out_of_fold(setting: Setting, x: Floats, labels: npt.NDArray[np.int64], seed: int) -> Floats:
    """The probabilities that a network gives samples which it was not trained on: one training for each fold."""
    folds = np.random.default_rng(seed + 77).integers(0, FOLDS, len(x))
    chances = np.zeros((len(x), setting.classes), np.float32)
    for fold in range(FOLDS):
        held = folds == fold
        module = train(setting, x, labels, seed=seed * 10 + fold + 1000, rows=np.flatnonzero(~held))
        chances[held] = chances_of(module, x[held])
    return np.asarray(chances / chances.sum(axis=1, keepdims=True), np.float32)
