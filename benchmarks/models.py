"""The two models, their data and one training step. Knows no capture tool.

The data is made here from a seed, so that a run needs nothing outside the repository and is the same in every
virtual environment.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn

BATCH_SIZE = 64
BATCHES = 32
CLASSES = 10
# Some labels are wrong on purpose: without them the loss reaches zero within the run, gradients underflow to
# denormal numbers, and every step becomes slower for a reason that has nothing to do with capture.
WRONG_LABELS = 0.1

Batch = tuple[torch.Tensor, torch.Tensor]


class Mlp(nn.Module):
    """784-512-256-10: about 2.3 ms a step, so that fixed costs per step show."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(784, 512)
        self.fc2 = nn.Linear(512, 256)
        self.fc3 = nn.Linear(256, CLASSES)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Class scores of a batch of 28x28 images."""
        hidden = torch.relu(self.fc1(images.flatten(1)))
        hidden = torch.relu(self.fc2(hidden))
        scores: torch.Tensor = self.fc3(hidden)
        return scores


class Cnn(nn.Module):
    """Two convolutions and two linear layers, 206,922 parameters: about 12 ms a step."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = nn.Linear(32 * 7 * 7, 128)
        self.fc2 = nn.Linear(128, CLASSES)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Class scores of a batch of 28x28 images."""
        hidden = torch.max_pool2d(torch.relu(self.conv1(images)), 2)
        hidden = torch.max_pool2d(torch.relu(self.conv2(hidden)), 2)
        hidden = torch.relu(self.fc1(hidden.flatten(1)))
        scores: torch.Tensor = self.fc2(hidden)
        return scores


MODELS: dict[str, Callable[[], nn.Module]] = {"mlp": Mlp, "cnn": Cnn}


class Trainee:
    """A model with its loss and optimizer, and the step that trains it."""

    def __init__(self, model: str, *, seed: int = 0) -> None:
        torch.manual_seed(seed)
        self.model = MODELS[model]()
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def step(self, batch: Batch) -> None:
        """One plain training step, as a user writes it."""
        images, labels = batch
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(images), labels)
        loss.backward()
        self.optimizer.step()


class Shelf(nn.Module):
    """A module that only holds weights of given sizes, for measuring the store without the cost of training."""

    def __init__(self, sizes: list[int], *, seed: int = 0) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        for number, size in enumerate(sizes):
            slot = nn.Module()
            slot.weight = nn.Parameter(torch.randn(size, generator=generator), requires_grad=False)
            self.add_module(f"slot{number:02d}", slot)
        self._nothing = torch.zeros(1)

    def forward(self, value: torch.Tensor) -> torch.Tensor:
        """Does nothing: a forward is only how a hook learns that a step began."""
        return value

    def step(self) -> None:
        """One forward, without gradients: nothing is trained here."""
        with torch.no_grad():
            self(self._nothing)


def log_spaced(smallest: int, largest: int, count: int) -> list[int]:
    """Element counts from `smallest` to `largest` at equal ratios."""
    ratio = math.log(largest / smallest) / (count - 1)
    return [round(smallest * math.exp(ratio * index)) for index in range(count)]


def batches(*, seed: int = 0) -> list[Batch]:
    """Digit-like images: one smooth random shape per class, shifted and noisy, black where the shape is not."""
    generator = torch.Generator().manual_seed(seed)
    shapes = torch.randn(CLASSES, 1, 7, 7, generator=generator)
    shapes = nn.functional.interpolate(shapes, size=28, mode="bicubic", align_corners=False)
    made: list[Batch] = []
    for _ in range(BATCHES):
        truth = torch.randint(0, CLASSES, (BATCH_SIZE,), generator=generator)
        noise = 0.3 * torch.randn(BATCH_SIZE, 1, 28, 28, generator=generator)
        images = (shapes[truth] + noise).clamp(0.0, 1.0)
        wrong = torch.rand(BATCH_SIZE, generator=generator) < WRONG_LABELS
        other = torch.randint(0, CLASSES, (BATCH_SIZE,), generator=generator)
        made.append((images, torch.where(wrong, other, truth)))
    return made
