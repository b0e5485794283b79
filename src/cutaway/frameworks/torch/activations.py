"""What modules receive and return: taps on just the modules of which something was asked, and who stayed silent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from cutaway.capture.records import Offer, StepRecord
from cutaway.frameworks.torch.tensors import copy_of, has_gradient, tensors_in

__all__ = ["Activations", "patterns_by_type"]

# How many inputs or outputs of a module are tried against the patterns to see whether it needs a tap at all.
_TRIED = 8
# The collections that hold what modules of a type receive or return, whatever these are called.
_BY_TYPE: tuple[tuple[str, str, tuple[type[torch.nn.Module], ...]], ...] = (
    ("relu_inputs", "input", (torch.nn.ReLU, torch.nn.ReLU6)),
    ("relu_outputs", "output", (torch.nn.ReLU, torch.nn.ReLU6)),
    ("tanh_inputs", "input", (torch.nn.Tanh,)),
    ("sigmoid_inputs", "input", (torch.nn.Sigmoid,)),
)


def patterns_by_type(modules: Iterable[tuple[str, torch.nn.Module]]) -> Iterator[tuple[str, str]]:
    """Yield collections with a pattern for the tensors of the modules whose type puts them there.

    In a `Sequential` modules are called "0", "1" and so on: their names alone do not tell.
    """
    named = list(modules)
    for collection, kind, types in _BY_TYPE:
        names = [re.escape(name) for name, module in named if isinstance(module, types)]
        if names:
            yield collection, rf"^(?:{'|'.join(names)})_{kind}_\d+$"


class Activations:
    """Offers the wanted inputs and outputs of tapped modules to the open step."""

    def __init__(self, wants: Callable[[str], bool], activity: Callable[[str], bool]) -> None:
        self._wants = wants
        self._activity = activity
        self._counts: dict[str, int] = {}
        self._fired: set[str] = set()
        self._tapped: dict[str, torch.nn.Module] = {}

    def __contains__(self, module: torch.nn.Module) -> bool:
        return module in self._tapped.values()

    def needs_tap(self, name: str) -> bool:
        """Whether any pattern could want a tensor of this module."""
        return any(self._wants(f"{name}_{kind}_{i}") for kind in ("input", "output") for i in range(_TRIED))

    def add(self, name: str, module: torch.nn.Module) -> None:
        """Remember a tapped module, to notice when its tap stays silent."""
        self._tapped[name] = module

    def begin(self) -> None:
        """Forget the last step: a module that is used twice in a step gets the next indices."""
        self._counts.clear()
        self._fired.clear()

    def offer(self, record: StepRecord, name: str, inputs: Any, outputs: Any) -> None:
        """Copy what is wanted of one call of a module."""
        self._fired.add(name)
        record.offers += self._wanted(f"{name}_input", tensors_in(inputs))
        record.offers += self._wanted(f"{name}_output", tensors_in(outputs))

    def silent(self) -> list[str]:
        """Return the tapped modules whose parameters got a gradient although their tap did not fire."""
        return [
            name
            for name, module in self._tapped.items()
            if name not in self._fired and any(has_gradient(p) for p in module.parameters(recurse=False))
        ]

    def _wanted(self, prefix: str, tensors: Iterable[torch.Tensor]) -> list[Offer]:
        offers = []
        index = self._counts.get(prefix, 0)
        for tensor in tensors:
            name = f"{prefix}_{index}"
            index += 1
            if self._wants(name):
                offers.append(copy_of(name, tensor, activity=self._activity(name)))
        self._counts[prefix] = index
        return offers
