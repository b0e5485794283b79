"""Tiny models, losses and batches to train in tests."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional


class Net(nn.Module):
    """Two linear layers with one activation between them."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(4, 6)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc2(self.relu(self.fc1(x)))


def net(seed: int = 0) -> Net:
    """The same model for the same seed."""
    torch.manual_seed(seed)
    return Net()


def sgd(model: nn.Module, lr: float = 0.1) -> torch.optim.SGD:
    return torch.optim.SGD(model.parameters(), lr=lr)


def batches(count: int, size: int = 5, seed: int = 1) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Random inputs of 4 numbers with labels of 3 classes."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        yield torch.randn(size, 4, generator=generator), torch.randint(0, 3, (size,), generator=generator)


def train(model: nn.Module, optimizer: torch.optim.Optimizer, loss: nn.Module, steps: int, seed: int = 1) -> None:
    """A plain loop."""
    for x, y in batches(steps, seed=seed):
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()


def plain_loss(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(model(x), y)
