"""A copy of a live module whose parameters are shuffled, and the shuffled parameters of an exported program.

The copy shares nothing with the user's module. Buffers, such as running statistics, stay as they are.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cutaway.errors import AnalysisUnavailable
from cutaway.models.random_weights import RANDOM_WEIGHTS, shuffled_all

__all__ = ["randomised_copy", "shuffled_tensors"]

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
# Numbers that numpy has no type for travel as whole numbers of their size; their order is all that matters.
_SAME_SIZE = {1: torch.uint8, 2: torch.int16}


def randomised_copy(root: torch.nn.Module, seed: int) -> torch.nn.Module:
    """Return a copy of a module with its parameters shuffled. Raises `AnalysisUnavailable` where there can be none."""
    try:
        other = copy.deepcopy(root)
    except Exception as error:  # the user's own classes may raise anything when they are copied
        reason = f"{type(root).__name__} cannot be copied ({type(error).__name__}: {str(error)[:200]})."
        raise AnalysisUnavailable(RANDOM_WEIGHTS, reason) from error
    for module in other.modules():
        _without_the_users_hooks(module)
    ours = {name: parameter for name, parameter in other.named_parameters() if not _is_lazy(parameter)}
    with torch.no_grad():
        for name, values in shuffled_tensors(ours, seed).items():
            ours[name].copy_(values)
    return other


def shuffled_tensors(tensors: Mapping[str, torch.Tensor], seed: int) -> dict[str, torch.Tensor]:
    """Return the tensors of floating-point numbers, those that differ within themselves, in another order."""
    weights = {name: tensor.detach() for name, tensor in tensors.items() if tensor.is_floating_point()}
    arrays = shuffled_all({name: _as_array(tensor) for name, tensor in weights.items()}, seed)
    return {name: _like(weights[name], values) for name, values in arrays.items()}


def _without_the_users_hooks(module: torch.nn.Module) -> None:
    """Hooks would tell the user's code of forwards that it never asked for; those of torch itself make weights."""
    for kind in _HOOKS:
        hooks: dict[int, Any] = vars(module)[kind]
        for key, hook in list(hooks.items()):
            if not str(getattr(hook, "__module__", "")).startswith("torch."):
                del hooks[key]


def _is_lazy(parameter: torch.Tensor) -> bool:
    return isinstance(parameter, torch.nn.UninitializedParameter)


def _as_array(tensor: torch.Tensor) -> Any:
    held = tensor.cpu().contiguous()
    if held.dtype in (torch.float64, torch.float32, torch.float16):
        return held.numpy()
    # Finite ones only: as whole numbers they would not show.
    finite = bool(torch.isfinite(held.float()).all())
    return held.view(_SAME_SIZE[held.element_size()]).numpy() if finite else np.zeros(0)


def _like(tensor: torch.Tensor, values: Any) -> torch.Tensor:
    shuffled = torch.from_numpy(values)
    return (shuffled if shuffled.dtype == tensor.dtype else shuffled.view(tensor.dtype)).to(tensor.device)
