"""One ordinary training, with a hook on it or without; and what Cutaway then says of the labels, as a user asks for it.

What is judged is the product as it is used: the hook watches the loop, the trained model is evaluated into the same
run, and the population of that run is asked.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
from torch import nn

import cutaway.torch as smd
from benchmarks.labels.settings import Floats, Ints, Setting
from cutaway.analysis import Population
from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.samples import Samples
from cutaway.dataset import Dataset
from cutaway.evaluation import evaluate

__all__ = ["Watched", "chances_of", "look_at", "names_of", "positions", "train", "watch"]

BATCH = 64
# Samples at a time where nothing is learned.
PREDICTED = 1_000
CLASSES = 10


@dataclass(frozen=True)
class Watched:
    """A network that was trained under a hook, the candidates for wrong labels, and the seconds of each step."""

    module: nn.Sequential
    candidates: pa.Table
    training: float
    evaluating: float
    looking: float


def train(
    setting: Setting, x: Floats, labels: Ints, *, seed: int, rows: Ints | None = None, hook: smd.Hook | None = None
) -> nn.Sequential:
    """Train the network of a setting with Adam on all rows, or some, telling a hook which ones each batch has."""
    module, criterion = setting.network(seed), nn.CrossEntropyLoss()
    if hook is not None:
        hook.register_module(module)
        hook.register_loss(criterion)
    inputs, targets = torch.from_numpy(x), torch.from_numpy(labels)
    chosen = np.arange(len(x)) if rows is None else rows
    optimizer = torch.optim.Adam(module.parameters(), setting.rate)
    random = np.random.default_rng(seed)
    for _ in range(setting.epochs):
        order = random.permutation(chosen)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            if hook is not None:
                hook.set_samples(batch.tolist())
            optimizer.zero_grad()
            torch.autograd.backward(criterion(module(inputs[batch]), targets[batch]))
            optimizer.step()
    return module.eval()


def watch(setting: Setting, x: Floats, labels: Ints, *, seed: int, scratch: Path) -> Watched:
    """Train under a hook, evaluate into its run, and ask which labels are wrong."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        with smd.Hook(Path(folder) / "run") as hook:
            module = train(setting, x, labels, seed=seed, hook=hook)
            run = hook.run
        assert run is not None
        trained = time.perf_counter()
        data = Dataset.from_arrays(x, labels, labels=names_of(setting.classes), channel_dim=1)
        evaluate(data, module, run=run, keep_model=False)
        evaluated = time.perf_counter()
        with Population.open(run) as population:
            candidates = population.mislabeled(seed=seed)
    looked = time.perf_counter()
    return Watched(module, candidates, trained - began, evaluated - trained, looked - evaluated)


def look_at(
    setting: Setting, x: Floats, labels: Ints, *, trained: int, seed: int, scratch: Path
) -> tuple[Samples, Nearest]:
    """Train on the first samples under a hook, evaluate all, the others as validation, and return what is known."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        with smd.Hook(Path(folder) / "run") as hook:
            module = train(setting, x, labels, seed=seed, rows=np.arange(trained), hook=hook)
            run = hook.run
        assert run is not None
        names, parts = names_of(setting.classes), (slice(0, trained), slice(trained, len(x)))
        data = Dataset.join(
            *(
                Dataset.from_arrays(x[part], labels[part], labels=names, subset=subset, channel_dim=1)
                for subset, part in zip(("training", "validation"), parts, strict=True)
            )
        )
        evaluate(data, module, run=run, keep_model=False)
        with Population.open(run) as population:
            return population.samples, population.nearest()


def names_of(classes: int = CLASSES) -> list[str]:
    """The names of the classes: their numbers."""
    return [str(one) for one in range(classes)]


def positions(ids: list[str]) -> npt.NDArray[np.int64]:
    """Where in their arrays samples lie, by their ids."""
    return np.array([int(one.rpartition("/")[2]) for one in ids], np.int64)


def chances_of(module: nn.Sequential, x: Floats) -> Floats:
    """The probabilities of some inputs."""
    with torch.no_grad():
        parts = [module(torch.from_numpy(x[at : at + PREDICTED])) for at in range(0, len(x), PREDICTED)]
        return np.asarray(torch.softmax(torch.cat(parts), dim=1).numpy(), np.float32)
