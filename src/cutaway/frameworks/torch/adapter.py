"""PyTorch's side of a hook: what is registered, and the taps that follow it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

import cutaway
from cutaway.capture.hook import AdaptedHook
from cutaway.capture.records import StepRecord
from cutaway.capture.requests import Refused
from cutaway.errors import did_you_mean
from cutaway.frameworks.torch.distributed import this_worker
from cutaway.frameworks.torch.forward_taps import ForwardTaps
from cutaway.frameworks.torch.loop import TrainingLoop
from cutaway.frameworks.torch.loss_taps import LossTaps
from cutaway.frameworks.torch.optimizer_taps import OptimizerTaps
from cutaway.frameworks.torch.taps import RemovableTaps
from cutaway.run.control import SETTINGS
from cutaway.tensors.collections import Collections

__all__ = ["TorchAdapter"]

# Fewer idle steps than this are not worth taking taps down for.
_LONG_IDLE = 4


class TorchAdapter:
    """Follows one model, its losses and its optimizers."""

    framework = "torch"
    versions: Mapping[str, str] = {"cutaway": cutaway.__version__, "torch": torch.__version__}

    hook: AdaptedHook
    loop: TrainingLoop
    losses: LossTaps

    def __init__(self) -> None:
        self.worker = this_worker()
        self._taps = RemovableTaps()

    @property
    def root(self) -> torch.nn.Module | None:
        """The user's own module, where one is registered."""
        return self.loop.model.root

    # -- what users register -----------------------------------------------------------------------------------------

    def watch_model(self, module: torch.nn.Module) -> None:
        """Follow the forwards of a model."""
        self.loop.model.set_root(module)
        if self.hook.active:
            ForwardTaps(self.loop).hang(module, self._taps)
            # Until a forward is seen: a model that is compiled from now on may never call its hooks.
            self.loop.gradients.tap_parameters(self.loop.model.root)
            self.hook.documents.config.update(self.loop.model.describe())

    def watch_loss(self, loss: torch.nn.Module) -> None:
        """Follow the calls of a loss module."""
        if self.hook.active and loss not in self.loop.model.names:
            self.losses.hang(loss, self._taps)

    def watch_optimizer(self, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler | None) -> None:
        """Follow the updates of an optimizer, whose gradients a GradScaler may have scaled."""
        if scaler is not None:
            # Mixed precision may skip an update; such a step must be seen to be counted.
            self.loop.scaler, self.hook.steps.may_idle = scaler, False
        if self.hook.active and optimizer not in self.loop.optimizers:
            OptimizerTaps(self.loop).hang(optimizer, self._taps)

    # -- the contract of an adapter ----------------------------------------------------------------------------------

    def attach(self, hook: AdaptedHook) -> None:
        """Take the hook to feed."""
        self.hook = hook
        self.loop = TrainingLoop(hook, self._taps)
        self.losses = LossTaps(self.loop)

    def resolve(self, collections: Collections) -> None:
        """Turn parameters and modules that were added to collections into names."""
        self.loop.model.resolve(collections)

    def complete(self, record: StepRecord) -> None:
        """Read the weights of a step that ends without a backward."""
        self.loop.complete(record)

    def set_idle(self, steps: int) -> None:
        """Take taps down for a long idle, and hang them again after it."""
        if not steps:
            self._taps.hang()
        elif steps >= _LONG_IDLE:
            self._taps.drop()

    def set_learning_rate(self, arguments: Mapping[str, Any]) -> str:
        """Set `lr`, or multiply by `lr_factor`, in every parameter group. Raises `Refused` where that cannot be."""
        setting, value = _checked(arguments)
        if not self.loop.optimizers:
            raise Refused("no optimizer is registered with `hook.register_optimizer`")
        if self.worker.workers != 1:
            raise Refused("several processes train together, and one alone must not change it: set it in the loop")
        changes = []
        for group in (group for optimizer in self.loop.optimizers for group in optimizer.param_groups):
            before = float(group["lr"])
            after = value if setting == "lr" else before * value
            if isinstance(group["lr"], torch.Tensor):
                # A compiled or captured update reads this very tensor.
                group["lr"].fill_(after)
            else:
                group["lr"] = after
            changes.append(f"{before:g} to {after:g}")
        said = ", ".join(dict.fromkeys(changes))
        return f"lr from {said}; a scheduler of the loop may set it again"

    def detach(self) -> None:
        """Take every tap down."""
        self._taps.remove()
        self.loop.gradients.untap_parameters()


def _checked(arguments: Mapping[str, Any]) -> tuple[str, float]:
    if len(arguments) != 1:
        raise Refused(f"`set` takes one of {' and '.join(SETTINGS)}, but got {', '.join(arguments) or 'nothing'}")
    ((name, value),) = arguments.items()
    if name not in SETTINGS:
        raise Refused(f"nothing called {name!r} can be set.{did_you_mean(name, SETTINGS)}")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise Refused(f"`{name}` must be a number that is not negative, but got {value!r}")
    return name, float(value)
