"""The updates of optimizers: they end steps."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import torch

from cutaway.capture.records import Offer, StepRecord
from cutaway.frameworks.torch.loop import TrainingLoop
from cutaway.frameworks.torch.taps import RemovableTaps, Tap
from cutaway.frameworks.torch.tensors import copy_of

__all__ = ["OptimizerTaps"]


class OptimizerTaps:
    """What happens before and after each update."""

    def __init__(self, loop: TrainingLoop) -> None:
        self._loop = loop
        self._steps = loop.steps

    def hang(self, optimizer: torch.optim.Optimizer, taps: RemovableTaps) -> None:
        """Follow the updates of one more optimizer."""
        loop = self._loop
        loop.optimizers.append(optimizer)
        loop.is_shared = len(loop.optimizers) > 1
        before = Tap(loop.hook, self._before_update, "the optimizer")
        after = Tap(loop.hook, self._after_update, "the optimizer")
        taps.add(lambda: optimizer.register_step_pre_hook(before))
        taps.keep(optimizer.register_step_post_hook(after))
        groups = [{key: value for key, value in g.items() if key != "params"} for g in optimizer.param_groups]
        name = f"optimizer_{len(loop.optimizers)}" if loop.is_shared else "optimizer"
        loop.hook.set_config({name: {"class": type(optimizer).__name__, "groups": groups}})

    def _before_update(self, optimizer: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        loop, steps = self._loop, self._steps
        last = loop.last_update
        if steps.idle or loop.passes or (last is not None and last is not optimizer):
            # The last: another optimizer's update has ended this step already.
            return
        if loop.in_closure:
            # The last update did not come to its end: its closure raised.
            steps.end()
        loop.in_closure = _closure_of(args, kwargs) is not None
        record, now = steps.record, time.perf_counter()
        if record is not None:
            # Everything since the forward ended: the loss, the backward, and what the loop does with gradients.
            record.seconds["backward"] = now - loop.clock
        elif not loop.in_closure and steps.may_train:
            loop.say_silent_root()
            record = loop.start(trains=True)
        if record is not None and record.wanted and not self._gradients_are_known():
            # No gradient of the model's output was asked for; these may already be clipped, and are without scale.
            loop.gradients.hear_outputs = False
            loop.gradients.tap_parameters(loop.model.root)
            loop.capture_parameters(record, gradients=True, scaled=False)
        loop.clock = now

    def _gradients_are_known(self) -> bool:
        """Whether the gradients of the update that begins were recorded, will be, or must not be."""
        return self._loop.awaits_update or self._loop.in_closure or not self._steps.may_train

    def _after_update(self, optimizer: Any, *_: Any) -> None:
        loop, steps = self._loop, self._steps
        last = loop.last_update
        if loop.passes or (last is not None and last is not optimizer):
            # Counted already: by the forward of a model that is trained as it is evaluated, or by another optimizer.
            return
        loop.last_update = optimizer
        # Other optimizers may yet update what this step has computed; by the next forward they have.
        attend = not loop.is_shared
        if steps.idle:
            steps.count(attend=attend)
            return
        record, loop.in_closure, loop.awaits_update = steps.record, False, False
        if record is None:
            return
        record.seconds["optimizer"] = time.perf_counter() - loop.clock
        groups = [group for one in loop.optimizers for group in one.param_groups]
        for i, group in enumerate(groups):
            name = "learning_rate" if len(groups) == 1 else f"learning_rate/{i}"
            record.scalars.append((name, float(group["lr"])))
        if record.wanted and "optimizer_variables" in loop.hook.selection.names:
            for one in loop.optimizers:
                self._offer_state(record, one)
        steps.end(attend=attend)

    def _offer_state(self, record: StepRecord, optimizer: torch.optim.Optimizer) -> None:
        names, offers = self._loop.model.parameter_names(), list[Offer]()
        for parameter, state in optimizer.state.items():
            for key, value in state.items():
                if isinstance(value, torch.Tensor) and id(parameter) in names:
                    offers.append(copy_of(f"{type(optimizer).__name__}_{names[id(parameter)]}_{key}", value))
        self._loop.hook.documents.add_members(["optimizer_variables"], [offer.name for offer in offers])
        record.offers += offers


def _closure_of(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> object:
    """Return the closure that an optimizer's step was given; its arguments begin with the optimizer itself."""
    return args[1] if len(args) > 1 else kwargs.get("closure")
