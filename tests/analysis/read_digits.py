"""A small network that reads digits, and images with a known answer for it to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from cutaway.analysis.neighbours import build_index
from cutaway.analysis.neighbours.nearest import Nearest, nearest_of
from cutaway.analysis.samples import Samples

TRAINING = 1200


@dataclass(frozen=True)
class Reader:
    """What was trained, and the images in an order of chance: the first 1,200 were trained on."""

    images: Any
    labels: Any
    features: Any
    head: Any

    def samples(self, images: Any, labels: Any, subsets: Sequence[str], hashes: bool = False) -> Samples:
        """Return what the network makes of some images."""
        import torch

        with torch.no_grad():
            latents = self.features(torch.from_numpy(np.asarray(images, np.float32)))
            chances = torch.softmax(self.head(latents), dim=1).numpy()
        ids = [f"{subset}/{row}" for row, subset in enumerate(subsets)]
        made = Samples.from_arrays(latents.numpy(), labels, chances, {"sample": ids, "subset": list(subsets)})
        content = tuple(np.asarray(one, np.float32).tobytes().hex() for one in images) if hashes else None
        return replace(made, hashes=content)


def neighbours(samples: Samples) -> Nearest:
    return nearest_of(samples, lambda: build_index(samples.latents))


def in_order(seed: int) -> tuple[Any, Any]:
    data = load_digits()
    order = np.random.default_rng(seed).permutation(len(data.target))
    return (data.data[order] / 16).astype(np.float32), data.target[order]


def trained(images: Any, labels: Any, seed: int = 0, epochs: int = 15) -> tuple[Any, Any]:
    """Return the layers up to the latent space, and the last one."""
    torch = pytest.importorskip("torch")
    nn = torch.nn
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        features = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU())
        head = nn.Linear(64, 10)
    model = nn.Sequential(features, head)
    optimizer = torch.optim.Adam(model.parameters(), 2e-3)
    x, y = torch.from_numpy(np.asarray(images, np.float32)), torch.from_numpy(np.asarray(labels))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # batches of this size are slower with more
    try:
        for _ in range(epochs):
            for rows in torch.randperm(len(x), generator=generator).split(32):
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
                optimizer.step()
    finally:
        torch.set_num_threads(threads)
    return features, head


@cache
def reader(seed: int = 0) -> Reader:
    """Return a network that was trained on clean digits, once for all tests."""
    images, labels = in_order(seed)
    return Reader(images, labels, *trained(images[:TRAINING], labels[:TRAINING], seed))
