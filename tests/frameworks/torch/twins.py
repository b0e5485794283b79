"""A small network with its maps by captum, for the formats that have to give the same ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from cutaway.arrays import Array
from tests.frameworks.torch.networks import seeded

IMAGES = np.random.default_rng(8).random((3, 2, 12, 10)).astype(np.float32)
TARGETS = np.array([2, 0, 1])
METHODS = ("grad_cam", "integrated_gradients", "input_gradient", "occlusion")
# What occlusion is asked for, by captum and by us.
WINDOW, STRIDE = 3, 2


class Twin(nn.Module):
    """Convolutions, pooling and dense layers, of which every framework has its own."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.relu1, self.pool = nn.Conv2d(2, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)
        self.conv2, self.relu2 = nn.Conv2d(6, 5, 3), nn.ReLU()
        self.dense, self.head = nn.Linear(5 * 4 * 3, 7), nn.Linear(7, 4)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        deep = self.relu2(self.conv2(self.pool(self.relu1(self.conv1(image)))))
        return self.head(self.dense(deep.flatten(1)).tanh())


def twin() -> nn.Module:
    """The same network each time."""
    return seeded(Twin)


def by_captum(module: Any, method: str) -> Array:
    """Captum's maps of `IMAGES`: (3, 12, 10), or with channels where the method has them."""
    from captum.attr import IntegratedGradients, LayerAttribution, LayerGradCam, Occlusion, Saliency

    images, targets = torch.tensor(IMAGES), torch.tensor(TARGETS)
    if method == "grad_cam":
        small = LayerGradCam(module, module.relu2).attribute(images, targets, relu_attributions=True)
        found = LayerAttribution.interpolate(small, IMAGES.shape[2:], "bilinear")[:, 0]
    elif method == "integrated_gradients":
        found = IntegratedGradients(module).attribute(images, target=targets)
    elif method == "input_gradient":
        found = Saliency(module).attribute(images.requires_grad_(), target=targets, abs=False)
    else:
        found = Occlusion(module).attribute(images, (2, WINDOW, WINDOW), (1, STRIDE, STRIDE), target=targets)[:, 0]
    return np.asarray(found.detach().numpy())
