"""Ten small networks of torch, each of a real architecture's parts, with weights that make every answer vary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["ARCHITECTURES", "Batch", "make"]

Batch = dict[str, np.ndarray]


class Residual(nn.Module):
    def __init__(self, width_in: int, width: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width_in, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
        self.short = (
            nn.Identity()
            if stride == 1
            else nn.Sequential(nn.Conv2d(width_in, width, 1, stride), nn.BatchNorm2d(width))
        )

    def forward(self, x: Tensor) -> Tensor:
        y = functional.relu(self.bn1(self.conv1(x)))
        return functional.relu(self.bn2(self.conv2(y)) + self.short(x))


class InvertedResidual(nn.Module):
    def __init__(self, width_in: int, width: int, stride: int) -> None:
        super().__init__()
        hidden = width_in * 2
        self.same = stride == 1 and width_in == width
        self.body = nn.Sequential(
            nn.Conv2d(width_in, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(),
            nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(),
            nn.Conv2d(hidden, width, 1, bias=False), nn.BatchNorm2d(width),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x) if self.same else self.body(x)


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU())
        self.bottom = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.head = nn.Conv2d(16, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        skip = self.down(x)
        raised = self.up(self.bottom(skip)) + functional.interpolate(
            functional.max_pool2d(skip, 2), scale_factor=2, mode="bilinear"
        )
        return self.head(torch.cat([skip, raised], 1))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(6, 12, num_layers=2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(24, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.lstm(x)[0][:, -1])


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(6, 16)
        layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1, batch_first=True, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.encoder(self.embed(x)).mean(1))


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        n, t, d = x.shape
        q, k, v = self.qkv(x).reshape(n, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        return self.out(functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, t, d))


class VisionTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, 4)
        self.token = nn.Parameter(torch.zeros(1, 1, 16))
        self.position = nn.Parameter(torch.zeros(1, 17, 16))
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(16), Attention(16, 2), nn.LayerNorm(16)
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
        self.head = nn.Linear(16, 5)

    def forward(self, x: Tensor) -> Tensor:
        patches = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(patches.shape[0], -1, -1), patches], 1) + self.position
        x = x + self.attention(self.norm1(x))
        return self.head((x + self.mlp(self.norm2(x)))[:, 0])


class TwoInputs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.picture = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.numbers = nn.Linear(5, 8)
        self.head = nn.Linear(16, 3)

    def forward(self, picture: Tensor, numbers: Tensor) -> Tensor:
        return self.head(torch.cat([self.picture(picture), torch.tanh(self.numbers(numbers))], 1))


class TwoOutputs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.BatchNorm2d(8), nn.ELU(), nn.AvgPool2d(2), nn.Flatten())
        self.classes, self.box = nn.Linear(72, 4), nn.Linear(72, 2)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        seen = self.body(x)
        return torch.softmax(self.classes(seen), 1), torch.sigmoid(self.box(seen))


def cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 12, 3), nn.LeakyReLU(0.1),
        nn.Dropout(0.2), nn.Flatten(), nn.Linear(12 * 36, 10),
    )  # fmt: skip


def resnet() -> nn.Module:
    stem = [nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    blocks = [Residual(8, 8), Residual(8, 16, 2)]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5))


def mobilenet() -> nn.Module:
    blocks = [InvertedResidual(8, 8, 1), InvertedResidual(8, 12, 2)]
    stem = [nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.Hardswish()]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(12, 5))


PICTURE = {"x": (3, 16, 16)}
ARCHITECTURES: dict[str, tuple[Callable[[], nn.Module], dict[str, tuple[int, ...]]]] = {
    "MLP": (lambda: nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 10)), {"x": (20,)}),
    "CNN": (cnn, PICTURE),
    "ResNet": (resnet, PICTURE),
    "MobileNet": (mobilenet, PICTURE),
    "U-Net": (UNet, PICTURE),
    "LSTM": (Recurrent, {"x": (7, 6)}),
    "transformer encoder": (Encoder, {"x": (7, 6)}),
    "ViT": (VisionTransformer, PICTURE),
    "two inputs": (TwoInputs, {"picture": (3, 16, 16), "numbers": (5,)}),
    "two outputs": (TwoOutputs, PICTURE),
}


def make(name: str) -> tuple[nn.Module, Callable[[int], Batch]]:
    """Return a network whose weights and running statistics are all random, and a maker of batches for it."""
    torch.manual_seed(0)
    build, shapes = ARCHITECTURES[name]
    module = build().eval()
    with torch.no_grad():
        for key, values in module.state_dict().items():
            if values.is_floating_point():
                noise = 0.3 * torch.randn_like(values)
                values.copy_(values + (noise.abs() if key.endswith("running_var") else noise))

    def batch(rows: int) -> Batch:
        rng = np.random.default_rng(rows)
        return {key: rng.standard_normal((rows, *shape)).astype(np.float32) for key, shape in shapes.items()}

    return module, batch


def answers(module: nn.Module, batch: Batch) -> list[Any]:
    """What torch itself says: every output."""
    with torch.no_grad():
        given = module(*(torch.from_numpy(values) for values in batch.values()))
    return [one.numpy() for one in (given if isinstance(given, tuple) else (given,))]


def input_gradient(module: nn.Module, batch: Batch) -> np.ndarray:
    """What torch itself says: the gradient of the predicted class's score by the first input."""
    tensors = [torch.from_numpy(values).clone().requires_grad_() for values in batch.values()]
    given = module(*tensors)
    output = given[0] if isinstance(given, tuple) else given
    summed = output.flatten(2).sum(2) if output.dim() > 2 else output
    score = summed.gather(1, summed.argmax(1, keepdim=True)).sum()
    return torch.autograd.grad(score, tensors[0])[0].numpy()
