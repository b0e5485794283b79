"""The small network whose latent vectors are mapped and searched, and whose answers are explained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

__all__ = [
    "DEEPEST",
    "HEAD",
    "LATENTS",
    "PREDICTED",
    "RATE",
    "export_onnx",
    "latents_of",
    "network",
    "train_epoch",
    "turned_and_shifted",
]

LATENTS, CLASSES, SIDE = 128, 10, 28
# Where the last layer that keeps places apart and the classification head stand in the network.
DEEPEST, HEAD = 5, 9
BATCH, RATE = 64, 1e-3
# Images at a time where nothing is learned.
PREDICTED = 1000
# Turned by at most so many degrees, shifted by at most so many places.
TURN, SHIFT = 15.0, 3.0

Floats = npt.NDArray[np.float32]


def network(seed: int = 0) -> nn.Sequential:
    """Two convolutions and two dense layers, the same weights each time; the global generator stays as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(32 * (SIDE // 4) ** 2, LATENTS),
            nn.ReLU(),
            nn.Linear(LATENTS, CLASSES),
        )


def train_epoch(
    module: nn.Sequential, optimizer: torch.optim.Optimizer, x: Floats, y: npt.NDArray[np.int64], epoch: int
) -> None:
    """Show every image once, in an order of this epoch."""
    images, labels = torch.from_numpy(x), torch.from_numpy(y)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(epoch))
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        loss = nn.functional.cross_entropy(module(images[rows]), labels[rows])
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()


def latents_of(module: nn.Sequential, x: Floats) -> Floats:
    """What goes into the classification head."""
    with torch.no_grad():
        parts = [module[:HEAD](torch.from_numpy(x[at : at + PREDICTED])) for at in range(0, len(x), PREDICTED)]
    return torch.cat(parts).numpy()


def turned_and_shifted(x: Floats, random: torch.Generator) -> Floats:
    """Each image turned and shifted a little, by chance."""
    count = len(x)
    angle = (torch.rand(count, generator=random) * 2 - 1) * np.deg2rad(TURN)
    far = (torch.rand(count, 2, generator=random) * 2 - 1) * (2 * SHIFT / SIDE)
    rows = [
        torch.stack([angle.cos(), -angle.sin(), far[:, 0]], 1),
        torch.stack([angle.sin(), angle.cos(), far[:, 1]], 1),
    ]
    grid = nn.functional.affine_grid(torch.stack(rows, 1), list(x.shape), align_corners=False)
    return nn.functional.grid_sample(torch.from_numpy(x), grid, align_corners=False).numpy()


def export_onnx(module: nn.Sequential, path: Path) -> None:
    """Write the network as an `.onnx` file that takes any number of images."""
    torch.onnx.export(
        module,
        (torch.zeros(2, 1, SIDE, SIDE),),
        str(path),
        input_names=["image"],
        output_names=["scores"],
        dynamic_axes={"image": {0: "batch"}, "scores": {0: "batch"}},
        dynamo=False,
    )
