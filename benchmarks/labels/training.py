"""One ordinary training, and what it leaves behind: the numbers that a hook would have recorded, and the latents.

The hook's own numbers are the same (a test holds it); this loop records them without a run folder, since a benchmark
of dozens of trainings is about what is made of the numbers, not about writing them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from cutaway.analysis.dynamics import Dynamics
from cutaway.analysis.samples import Floats, Samples

__all__ = ["BATCH", "Trained", "left_behind", "predictions", "train"]

BATCH = 64
# Samples at a time where nothing is learned.
PREDICTED = 1000

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Trained:
    """A trained network, what each of its samples was worth to it, and the seconds that it took."""

    module: nn.Sequential
    dynamics: Dynamics
    seconds: float


def train(
    module: nn.Sequential, x: Floats, labels: Ints, *, epochs: int, rate: float, seed: int, rows: Ints | None = None
) -> Trained:
    """Train with Adam on all rows, or some, and record loss and margin of each sample at each visit."""
    inputs, targets = torch.from_numpy(x), torch.from_numpy(labels)
    chosen = np.arange(len(x)) if rows is None else rows
    optimizer = torch.optim.Adam(module.parameters(), rate)
    losses = np.full((epochs, len(x)), np.nan, np.float32)
    margins = losses.copy()
    random = np.random.default_rng(seed)
    began = time.perf_counter()
    for epoch in range(epochs):
        order = random.permutation(chosen)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            scores, wanted = module(inputs[batch]), targets[batch]
            single = nn.functional.cross_entropy(scores, wanted, reduction="none")
            optimizer.zero_grad()
            torch.autograd.backward(single.mean())
            optimizer.step()
            losses[epoch, batch] = single.detach().numpy()
            margins[epoch, batch] = _margins(scores.detach(), wanted)
    return Trained(module, Dynamics(losses, margins), time.perf_counter() - began)


def predictions(module: nn.Sequential, x: Floats) -> tuple[Floats, Floats]:
    """The latent vectors and the probabilities of some inputs."""
    with torch.no_grad():
        latents = torch.cat([module[0](torch.from_numpy(x[at : at + PREDICTED])) for at in range(0, len(x), PREDICTED)])
        return latents.numpy(), torch.softmax(module[1](latents), dim=1).numpy()


def left_behind(trained: Trained, x: Floats, labels: Ints) -> Samples:
    """The samples of a training as an evaluation gives them: latents, probabilities, labels and dynamics."""
    latents, probabilities = predictions(trained.module, x)
    names = ["training"] * len(x)
    found = Samples.from_arrays(latents, labels, probabilities, {"subset": names})
    return Samples(found.table, found.latents, found.classes, found.probabilities, trained.dynamics)


def _margins(scores: torch.Tensor, labels: torch.Tensor) -> Floats:
    own = scores.gather(1, labels[:, None])
    others = scores.scatter(1, labels[:, None], -torch.inf).amax(dim=1)
    return (own[:, 0] - others).numpy()
