"""Per-sample loss, margin and correctness, computed once from what a registered loss received."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from cutaway.arrays import Float64Array

__all__ = ["sample_values"]

_CLASSES = (nn.CrossEntropyLoss, nn.NLLLoss)
_BINARY = (nn.BCEWithLogitsLoss, nn.BCELoss)
_OTHERS = (nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss, nn.PoissonNLLLoss, nn.SoftMarginLoss)
_KNOWN = frozenset(kind.forward for kind in (*_CLASSES, *_BINARY, *_OTHERS))
# Beyond this, keeping a copy of the predictions would cost more than it tells.
_MOST_PREDICTIONS = 4_000_000

Values = Mapping[str, Float64Array]


def sample_values(loss: nn.Module, inputs: Sequence[torch.Tensor]) -> Callable[[], Values] | None:
    """Return a function that computes one value per sample and name, or None for losses that we do not know.

    The inputs are copied now; the function runs on the writer thread.
    """
    if type(loss).forward not in _KNOWN or len(inputs) < 2:
        # Someone's own loss, also where it derives from one of these: only its author knows what it does.
        return None
    if inputs[0].dim() < 1 or not 0 < inputs[0].numel() <= _MOST_PREDICTIONS:
        return None
    predictions, targets = (tensor.detach().clone() for tensor in inputs[:2])
    if predictions.dtype in (torch.bfloat16, torch.float16):
        # As autocast computes losses, which is not in force on the writer thread.
        predictions = predictions.float()
    # The loss as the user configured it (weights, smoothing, ignored labels), but one number a sample.
    single: Any = copy.copy(loss)
    single.reduction = "none"

    def compute() -> Values:
        with torch.no_grad():
            losses = type(single).forward(single, predictions, targets)
            values = {"loss": _mean_per_sample(losses)}
            if isinstance(single, _CLASSES) and targets.dim() == 1 and predictions.dim() == 2:
                values |= _class_values(predictions, targets, single.ignore_index)
            elif isinstance(single, _BINARY):
                values |= _binary_values(predictions, targets, logits=isinstance(single, nn.BCEWithLogitsLoss))
            return {name: value.double().numpy(force=True) for name, value in values.items()}

    return compute


def _mean_per_sample(losses: torch.Tensor) -> torch.Tensor:
    return losses if losses.dim() == 1 else losses.reshape(losses.shape[0], -1).mean(dim=1)


def _class_values(predictions: torch.Tensor, targets: torch.Tensor, ignored: int) -> dict[str, torch.Tensor]:
    known = (targets >= 0) & (targets < predictions.shape[1]) & (targets != ignored)
    labels = targets.clamp(0, predictions.shape[1] - 1).unsqueeze(1)
    own = predictions.gather(1, labels).squeeze(1)
    others = predictions.scatter(1, labels, -torch.inf).amax(dim=1)
    margin = torch.where(known, own - others, torch.nan)
    correct = torch.where(known, (predictions.argmax(dim=1) == targets).to(own.dtype), torch.nan)
    return {"margin": margin, "correct": correct}


def _binary_values(predictions: torch.Tensor, targets: torch.Tensor, *, logits: bool) -> dict[str, torch.Tensor]:
    """The margin of the worst output, and whether all outputs are right."""
    signed = (predictions - (0.0 if logits else 0.5)) * (2 * targets.to(predictions.dtype) - 1)
    worst = signed.reshape(signed.shape[0], -1).amin(dim=1)
    return {"margin": worst, "correct": (worst > 0).to(worst.dtype)}
