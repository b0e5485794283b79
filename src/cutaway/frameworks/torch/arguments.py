"""How a module is called: which inputs its `forward` has, and arrays by name as the arguments of one call."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cutaway.arrays import Array
from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.frameworks.torch import answers
from cutaway.models.backend import Arrays
from cutaway.models.batches import Batch

__all__ = ["call", "call_arguments", "named_example", "required_inputs", "tensors_of"]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def required_inputs(root: torch.nn.Module) -> list[str]:
    """Return the parameters of `forward` that have no default, or its first one where all have."""
    parameters = list(inspect.signature(root.forward).parameters.values())
    required = [p.name for p in parameters if p.kind in _POSITIONAL and p.default is inspect.Parameter.empty]
    return required or [next((p.name for p in parameters if p.kind in _POSITIONAL), "input")]


def named_example(root: torch.nn.Module, example: Batch) -> dict[str, Array]:
    """Return a batch by the names of the parameters of `forward`. Raises `ConfigurationError` where it does not fit."""
    if isinstance(example, Mapping):
        named = {name: np.asarray(values) for name, values in example.items()}
        _check_names(root, list(named))
        return named
    arrays = [example] if isinstance(example, np.ndarray) else [np.asarray(values) for values in example]
    parameters = inspect.signature(root.forward).parameters.values()
    names = [p.name for p in parameters if p.kind in _POSITIONAL] or required_inputs(root)
    if len(arrays) > len(names) or not arrays:
        raise ConfigurationError(f"`forward` takes {', '.join(names)}, but the example has {len(arrays)} arrays.")
    return dict(zip(names, arrays, strict=False))


def call_arguments(
    root: torch.nn.Module, tensors: Mapping[str, torch.Tensor]
) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
    """Return what is given by position, as far as the parameters go in order, and what by name."""
    parameters = inspect.signature(root.forward).parameters
    takes_any = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters.values())
    if takes_any and any(name not in parameters for name in tensors):
        return list(tensors.values()), {}
    positional, keywords = [], dict(tensors)
    for name, parameter in parameters.items():
        if name not in keywords or parameter.kind not in _POSITIONAL:
            break
        positional.append(keywords.pop(name))
    return positional, keywords


def call(root: torch.nn.Module, tensors: Mapping[str, torch.Tensor]) -> Any:
    """Call a module with tensors by the names of its inputs."""
    positional, keywords = call_arguments(root, tensors)
    return root(*positional, **keywords)


def tensors_of(root: torch.nn.Module, batch: Arrays) -> dict[str, torch.Tensor]:
    """Return copies where the module's parameters are, floating-point numbers in their dtype."""
    first = next(root.parameters(), next(root.buffers(), None))
    device = torch.device("cpu") if first is None else first.device
    floating = next((p.dtype for p in root.parameters() if p.is_floating_point()), torch.float32)
    return {name: answers.as_tensor(values, device, floating) for name, values in batch.items()}


def _check_names(root: torch.nn.Module, names: list[str]) -> None:
    parameters = inspect.signature(root.forward).parameters
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return
    for name in names:
        if name not in parameters:
            known = list(parameters)
            raise ConfigurationError(
                f"`forward` of {type(root).__name__} has no parameter {name!r}.",
                hint=f"{did_you_mean(name, known)} It has {', '.join(known)}.",
            )
