"""Copies of torch tensors that numpy and the writer can hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from cutaway.capture.records import Offer

__all__ = ["copy_of", "has_gradient", "tensors_in"]


def copy_of(name: str, tensor: torch.Tensor, *, activity: bool = False) -> Offer:
    """Copy a tensor to the CPU: training goes on changing the original."""
    with torch.no_grad():
        plain = tensor.detach()
        if plain.layout is not torch.strided or plain.is_quantized:
            plain = plain.dequantize() if plain.is_quantized else plain.to_dense()
        copied = torch.empty(plain.shape, dtype=plain.dtype, device="cpu").copy_(plain)
    dtype = str(plain.dtype).removeprefix("torch.")
    array = copied.view(torch.uint16).numpy() if plain.dtype is torch.bfloat16 else copied.resolve_conj().numpy()
    return Offer(name, array, dtype, activity=activity)


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors of a module's arguments or result, in order, through lists, tuples and dictionaries."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)


def has_gradient(parameter: torch.Tensor) -> bool:
    """Whether a parameter has more than the zeros that `zero_grad(set_to_none=False)` leaves."""
    gradient = parameter.grad
    if gradient is None:
        return False
    values = gradient if gradient.layout is torch.strided else gradient.coalesce().values()
    return bool(values.any())
