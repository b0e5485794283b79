"""A training on digits of which some have wrong labels, with everything that a hook records of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import torch
from sklearn.datasets import load_digits
from torch import nn

from cutaway.analysis.neighbours import build_index
from cutaway.analysis.neighbours.nearest import Nearest, nearest_of
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.dynamics import Dynamics

Ints = npt.NDArray[np.int64]

CONFUSABLE = np.array([6, 7, 7, 5, 9, 3, 0, 1, 3, 4])


def flipped(labels: Ints, kind: str, rate: float, seed: int) -> Ints:
    """Labels of which a share is that of another digit: any other, or the one it is taken for."""
    random = np.random.default_rng(100 + seed)
    rows = random.choice(len(labels), int(rate * len(labels)), replace=False)
    found = labels.copy()
    other = (labels[rows] + random.integers(1, 10, len(rows))) % 10
    found[rows] = other if kind == "uniform" else CONFUSABLE[labels[rows]]
    return found


def digits() -> tuple[npt.NDArray[np.float32], Ints]:
    """The digits of scikit-learn, between 0 and 1."""
    x, y = load_digits(return_X_y=True)
    return (x / 16).astype(np.float32), y.astype(np.int64)


def network(seed: int) -> nn.Sequential:
    """A body of two dense layers and a head."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        body = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU())
        return nn.Sequential(body, nn.Linear(64, 10))


def trained(x: npt.NDArray[np.float32], labels: Ints, *, epochs: int = 30, seed: int = 0) -> Samples:
    """What one ordinary training leaves behind."""
    model, inputs, targets = network(seed), torch.from_numpy(x), torch.from_numpy(labels)
    optimizer = torch.optim.Adam(model.parameters(), 2e-3)
    random = np.random.default_rng(seed)
    losses = np.full((epochs, len(x)), np.nan, np.float32)
    margins = losses.copy()
    for epoch in range(epochs):
        for rows in torch.from_numpy(random.permutation(len(x))).split(64):
            scores = model(inputs[rows])
            single = nn.functional.cross_entropy(scores, targets[rows], reduction="none")
            optimizer.zero_grad()
            single.mean().backward()
            optimizer.step()
            losses[epoch, rows] = single.detach().numpy()
            others = scores.detach().scatter(1, targets[rows, None], -torch.inf).amax(dim=1)
            margins[epoch, rows] = scores.detach().gather(1, targets[rows, None])[:, 0] - others
    with torch.no_grad():
        latents = model[0](inputs)
        chances = torch.softmax(model[1](latents), dim=1)
    samples = Samples.from_arrays(latents.numpy(), labels, chances.numpy(), {"subset": ["training"] * len(x)})
    return replace(samples, dynamics=Dynamics(losses, margins))


def near(samples: Samples) -> Nearest:
    """The neighbours of some samples."""
    return nearest_of(samples, lambda: build_index(samples.latents))
