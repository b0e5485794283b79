"""The two small networks whose trainings are looked at, as ordinary code has them: a body and a head."""

from __future__ import annotations

import torch
from torch import nn

__all__ = ["convolutional", "dense"]


def convolutional(seed: int) -> nn.Sequential:
    """For images of 28 x 28: two convolutions, 128 latent units, 10 classes."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(1568, 128),
            nn.ReLU(),
        )
        return nn.Sequential(body, nn.Linear(128, 10))


def dense(seed: int, *, inputs: int = 64, classes: int = 10) -> nn.Sequential:
    """For rows of numbers, such as digits of 8 x 8: 128 and 64 units."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        body = nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU())
        return nn.Sequential(body, nn.Linear(64, classes))
