"""What `cutaway fix` buys: accuracy of trainings on right, wrong and corrected labels, on samples held out. No bars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from benchmarks.labels.finding import corrections
from benchmarks.labels.planting import plant
from benchmarks.labels.settings import SETTINGS, Data, read_data
from benchmarks.labels.watching import chances_of, train, watch

__all__ = ["measure_mending"]


def measure_mending(job: dict[str, Any]) -> dict[str, Any]:
    """For each seed and kind of wrong labels: train on right ones, on wrong ones, correct, and train on those.

    The three trainings of a seed begin with the same weights and see the samples in the same order. The labels of the
    test samples are right throughout.
    """
    setting = SETTINGS[job["setting"]]
    rows = []
    for seed in job["seeds"]:
        data = read_data(setting.name, job["mnist"], split=seed, share=job["share"])
        clean = _accuracy(train(setting, data.x, data.y, seed=seed), data)
        for kind in job["kinds"]:
            planted = plant(data.y, kind, job["rate"], seed)
            watched = watch(setting, data.x, planted.labels, seed=seed, scratch=Path(job["scratch"]))
            labels, counts = corrections(watched.candidates, planted, data.y)
            fixed = _accuracy(train(setting, data.x, labels, seed=seed, rows=np.flatnonzero(labels >= 0)), data)
            accuracies = {"clean": clean, "noisy": _accuracy(watched.module, data), "fixed": fixed}
            rows.append({"seed": seed, "kind": kind, "wrong": int(planted.wrong.sum()), **accuracies, **counts})
    return {"rows": rows}


def _accuracy(module: nn.Sequential, data: Data) -> float:
    return float(np.mean(chances_of(module, data.x_test).argmax(axis=1) == data.y_test))
