"""Small real networks that live modules and exported files are tested with."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from cutaway.arrays import Array


def seeded(kind: type[nn.Module], seed: int = 0) -> nn.Module:
    """A network whose parameters and running statistics differ from those it is born with, in evaluation mode."""
    torch.manual_seed(seed)
    module = kind().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
        for name, buffer in module.named_buffers():
            if name.endswith("running_var"):
                buffer.add_(torch.rand_like(buffer))
            elif name.endswith("running_mean"):
                buffer.add_(0.1 * torch.randn_like(buffer))
    return module


def numbers(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


class MLP(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.relu, self.drop, self.fc2 = nn.Linear(4, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc2(self.drop(self.relu(self.fc1(x))))


class CNN(nn.Module):
    """With batch normalisation, a ReLU that works in place and is used twice, and a residual connection."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6)
        self.conv2 = nn.Conv2d(6, 6, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)
        self.pool, self.head = nn.AdaptiveAvgPool2d(1), nn.Linear(6, 5)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        first = self.relu(self.bn1(self.conv1(image)))
        second = self.relu(self.conv2(first) + first)
        return self.head(self.pool(second).flatten(1))


class Encoder(nn.Module):
    """Tokens through a transformer encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(30, 16)
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 4)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(self.embedding(tokens)).mean(1))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(5, 7, batch_first=True), nn.Linear(7, 3)

    def forward(self, series: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(series)[0][:, -1])


class TwoInputs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.left, self.right, self.head = nn.Linear(4, 6), nn.Linear(2, 6), nn.Linear(12, 3)

    def forward(self, left: torch.Tensor, right: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
        return self.head(torch.cat([self.left(left).tanh(), scale * self.right(right).tanh()], 1))


class TwoAnswers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.classes, self.box = nn.Linear(4, 8), nn.Linear(8, 3), nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        hidden = self.body(x).tanh()
        return {"box": self.box(hidden), "classes": self.classes(hidden)}


class UNet(nn.Module):
    """One class for each pixel, of images of any even size."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.pool = nn.Conv2d(3, 8, 3, padding=1), nn.MaxPool2d(2)
        self.deep, self.up = nn.Conv2d(8, 8, 3, padding=1), nn.ConvTranspose2d(8, 8, 2, stride=2)
        self.head = nn.Conv2d(16, 4, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        shallow = self.down(image).relu()
        deep = self.up(self.deep(self.pool(shallow)).relu())
        return self.head(torch.cat([shallow, deep], 1))


BATCHES: dict[type[nn.Module], dict[str, Array]] = {
    MLP: {"x": numbers(5, 4)},
    CNN: {"image": numbers(5, 3, 8, 8)},
    Encoder: {"tokens": np.random.default_rng(0).integers(0, 30, (5, 6))},
    Recurrent: {"series": numbers(5, 9, 5)},
    TwoInputs: {"left": numbers(5, 4), "right": numbers(5, 2, seed=2)},
    TwoAnswers: {"x": numbers(5, 4)},
    UNet: {"image": numbers(5, 3, 8, 8)},
}
