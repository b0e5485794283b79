"""What `cutaway fix` changes and buys: accuracy of trainings on right, wrong and corrected labels. Knows no bars.

A peer prunes what it finds by predictions out of fold; it has an environment of its own (`margins`), so that it is
asked between `measure_mending`, which leaves those predictions in a file, and `measure_pruning`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from benchmarks.labels.finding import chances_out_of_fold, corrections
from benchmarks.labels.planting import CLEAN, Planted, plant
from benchmarks.labels.settings import SETTINGS, Data, Setting, read_data
from benchmarks.labels.watching import chances_of, train, watch

__all__ = ["measure_mending", "measure_pruning"]


def measure_mending(job: dict[str, Any]) -> dict[str, Any]:
    """Train on wrong labels, correct, and train on those: with the same weights to begin with, in the same order.

    The labels of the test samples are right throughout.
    """
    setting, data, planted = _planted(job)
    seed = job["seed"]
    watched = watch(setting, data.x, planted.labels, seed=seed, scratch=Path(job["scratch"]))
    labels, counts = corrections(watched.candidates, planted, data.y)
    noisy = fixed = _accuracy(watched.module, data)
    if not np.array_equal(labels, planted.labels):
        fixed = _accuracy(train(setting, data.x, labels, seed=seed, rows=np.flatnonzero(labels >= 0)), data)
    clean = noisy if job["kind"] == CLEAN else _accuracy(train(setting, data.x, data.y, seed=seed), data)
    if job["folds"]:
        chances = chances_out_of_fold(setting, data.x, planted.labels, seed)
        np.savez(job["folds"], chances=chances, labels=planted.labels, wrong=planted.wrong)
    accuracies = {"clean": clean, "noisy": noisy, "fixed": fixed}
    return {"samples": len(data.y), "wrong": int(planted.wrong.sum()), **accuracies, **counts}


def measure_pruning(job: dict[str, Any]) -> dict[str, Any]:
    """The accuracy of a training without the samples that a peer found."""
    setting, data, planted = _planted(job)
    issues = np.array(job["issues"], np.int64)
    kept = np.setdiff1d(np.arange(len(data.y)), issues)
    module = train(setting, data.x, planted.labels, seed=job["seed"], rows=kept)
    return {
        "pruned": len(issues),
        "pruned_wrong": int(planted.wrong[issues].sum()),
        "accuracy": _accuracy(module, data),
    }


def _planted(job: dict[str, Any]) -> tuple[Setting, Data, Planted]:
    setting = SETTINGS[job["setting"]]
    data = read_data(setting.name, job["source"], split=job["seed"], share=job["share"])
    rate = 0.0 if job["kind"] == CLEAN else job["rate"]
    return setting, data, plant(data.y, job["kind"], rate, job["seed"], setting.confusable)


def _accuracy(module: nn.Sequential, data: Data) -> float:
    return float(np.mean(chances_of(module, data.x_test).argmax(axis=1) == data.y_test))
