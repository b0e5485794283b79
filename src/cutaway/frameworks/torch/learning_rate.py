"""Sets the learning rate of optimizers on somebody's request, and says from what to what."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from cutaway.capture.requests import Refused
from cutaway.errors import did_you_mean
from cutaway.run.control import SETTINGS

__all__ = ["set_learning_rate"]


def set_learning_rate(optimizers: Sequence[torch.optim.Optimizer], arguments: Mapping[str, Any], *, alone: bool) -> str:
    """Set `lr`, or multiply by `lr_factor`, in every parameter group. Raises `Refused` where that cannot be."""
    setting, value = _checked(arguments)
    if not optimizers:
        raise Refused("no optimizer is registered with `hook.register_optimizer`")
    if not alone:
        raise Refused("several processes train together, and one alone must not change it: set it in the loop")
    changes = []
    for group in (group for optimizer in optimizers for group in optimizer.param_groups):
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


def _checked(arguments: Mapping[str, Any]) -> tuple[str, float]:
    if len(arguments) != 1:
        raise Refused(f"`set` takes one of {' and '.join(SETTINGS)}, but got {', '.join(arguments) or 'nothing'}")
    ((name, value),) = arguments.items()
    if name not in SETTINGS:
        raise Refused(f"nothing called {name!r} can be set.{did_you_mean(name, SETTINGS)}")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise Refused(f"`{name}` must be a number that is not negative, but got {value!r}")
    return name, float(value)
