"""The names of tensors, as upstream gives them: `Net_fc1.weight`, `gradient/Net_fc1.weight`, `fc1_output_0`."""

from __future__ import annotations

from collections.abc import Iterator

import torch

__all__ = ["GRADIENT", "module_names", "parameter_names", "unwrap"]

GRADIENT = "gradient/"
_COMPILED = "_orig_mod"


def unwrap(module: torch.nn.Module) -> torch.nn.Module:
    """Return the user's own module inside `torch.compile`, DistributedDataParallel and DataParallel."""
    while True:
        inner = getattr(module, _COMPILED, None)
        if inner is None and isinstance(module, (torch.nn.parallel.DistributedDataParallel, torch.nn.DataParallel)):
            inner = module.module
        if not isinstance(inner, torch.nn.Module):
            return module
        module = inner


def parameter_names(root: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Parameter]]:
    """Yield each parameter once, with its name."""
    model = type(root).__name__
    for name, parameter in root.named_parameters():
        yield f"{model}_{_clean(name)}", parameter


def module_names(root: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module]]:
    """Yield each module once, with the first part of its tensors' names; the root goes by its class."""
    for name, module in root.named_modules():
        clean = _clean(name)
        if module is root or clean:
            yield clean or type(root).__name__, module


def _clean(name: str) -> str:
    """Leave out the layers that compiling a part of a model puts into its names."""
    return ".".join(part for part in name.split(".") if part != _COMPILED)
