"""A run of many samples to be analysed: the small CNN trained on them under a hook, and evaluated, with metadata."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import cutaway.torch as smd
from benchmarks.labels.planting import plant
from benchmarks.labels.settings import SETTINGS
from benchmarks.labels.tables import columns_of
from benchmarks.labels.watching import names_of, train
from benchmarks.population.images import read_images
from cutaway.dataset import Dataset
from cutaway.evaluation import evaluate

__all__ = ["make_run"]

# One of so many samples is for validation.
VALIDATED = 6
NUMBERS, TEXTS = 10, 20
# Wrong labels are planted, so that there is something to be found.
RATE = 0.05


def make_run(mnist: Path | None, samples: int, folder: Path) -> dict[str, Any]:
    """Train on five of six samples, evaluate them all with 30 columns of metadata, and say what that took."""
    torch.set_num_threads(os.cpu_count() or 1)
    images = read_images(mnist, samples, 0)
    labels = plant(images.train_labels, "confusable", RATE, 0).labels
    table, _ = columns_of(np.random.default_rng(0), samples, NUMBERS, TEXTS)
    columns = {name.removeprefix("metadata."): table[name].to_pylist() for name in table.column_names}
    split = samples - samples // VALIDATED
    began = time.perf_counter()
    with smd.Hook(folder) as hook:
        module = train(
            replace(SETTINGS["MNIST"], name=images.name), images.train[:split], labels[:split], seed=0, hook=hook
        )
        run = hook.run
    trained = time.perf_counter()
    parts = [
        Dataset.from_arrays(
            images.train[rows],
            labels[rows],
            metadata={name: values[rows] for name, values in columns.items()},
            labels=names_of(),
            subset=subset,
            channel_dim=1,
        )
        for subset, rows in (("training", slice(0, split)), ("validation", slice(split, samples)))
    ]
    evaluate(Dataset.join(*parts), module, run=run, keep_model=False)
    return {
        "data": images.name,
        "samples": samples,
        "training": trained - began,
        "evaluating": time.perf_counter() - trained,
    }
