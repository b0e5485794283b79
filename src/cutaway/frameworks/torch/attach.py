"""`cutaway.attach`: a hook in one line."""

from __future__ import annotations

from typing import Any

import torch

from cutaway.errors import ConfigurationError
from cutaway.frameworks.torch.hook import Hook
from cutaway.run.leases import RunState

__all__ = ["attach"]


def attach(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer | None = None,
    loss: torch.nn.Module | None = None,
    **settings: Any,
) -> Hook:
    """Watch a training: `with cutaway.attach(model, optimizer) as hook:`. `settings` are the arguments of `Hook`."""
    hook = Hook(**settings)
    try:
        hook.register_module(model)
        if loss is not None:
            hook.register_loss(loss)
        if optimizer is not None:
            hook.register_optimizer(optimizer)
    except ConfigurationError:
        # Nobody else holds this hook who could close it.
        hook.close(RunState.FAILED)
        raise
    return hook
