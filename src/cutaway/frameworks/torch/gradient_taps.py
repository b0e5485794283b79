"""Hears of a backward pass: through the gradient of what the model returned, or through every parameter's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

from cutaway.capture.hook import AdaptedHook
from cutaway.frameworks.torch.names import parameter_names
from cutaway.frameworks.torch.taps import Tap
from cutaway.frameworks.torch.tensors import tensors_in

__all__ = ["GradientTaps", "when_backward_ends"]


class GradientTaps:
    """Taps that call a function with the first gradients of each backward pass."""

    def __init__(self, hook: AdaptedHook, on_gradient: Callable[..., None]) -> None:
        self.hear_outputs = True  # whether the gradient of the model's output tells of every backward
        self._hook = hook
        self._on_gradient = on_gradient
        self.on_parameters: list[RemovableHandle] = []  # empty where no parameter is tapped

    def await_backward(self, outputs: Any, root: torch.nn.Module | None) -> None:
        """Hear of the backward pass that begins at the outputs of a forward."""
        waiting = False
        for tensor in tensors_in(outputs):
            if tensor.grad_fn is not None:
                tensor.register_hook(Tap(self._hook, self._on_gradient, "the backward"))  # type: ignore[no-untyped-call]
                waiting = True
        self.hear_outputs = waiting
        if not waiting:
            self.tap_parameters(root)
        elif self.on_parameters:
            self.untap_parameters()

    def tap_parameters(self, root: torch.nn.Module | None) -> None:
        """Hear of the backward pass through every parameter: costs more, but needs no forward that we see."""
        if root is None or self.on_parameters:
            return
        for name, parameter in parameter_names(root):
            if parameter.requires_grad and not isinstance(parameter, torch.nn.UninitializedParameter):
                tap = Tap(self._hook, self._on_gradient, f"the backward of {name}")
                self.on_parameters.append(parameter.register_hook(tap))  # type: ignore[no-untyped-call]

    def untap_parameters(self) -> None:
        """Take the taps of all parameters down."""
        for handle in self.on_parameters:
            handle.remove()
        self.on_parameters.clear()


def when_backward_ends(call: Tap, *, after: bool) -> None:
    """Run a function when the running backward pass has accumulated every gradient.

    `after` runs it behind the callbacks that others queue meanwhile: DistributedDataParallel averages in one.
    """
    queue = torch.autograd.Variable._execution_engine.queue_callback  # noqa: SLF001 - torch has no public way
    queue((lambda: queue(call)) if after else call)
