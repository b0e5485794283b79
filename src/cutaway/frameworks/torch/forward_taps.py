"""The forward of the registered module: it begins a step, or belongs to the open one."""

from __future__ import annotations

import time
from typing import Any

import torch

from cutaway.frameworks.torch.loop import TrainingLoop
from cutaway.frameworks.torch.taps import RemovableTaps, Tap
from cutaway.frameworks.torch.tensors import has_gradient, tensors_in

__all__ = ["ForwardTaps"]


class ForwardTaps:
    """What happens before and after the forward of the whole model."""

    def __init__(self, loop: TrainingLoop) -> None:
        self._loop = loop
        self._steps = loop.steps
        self._config = loop.hook.documents.config

    def hang(self, module: torch.nn.Module, taps: RemovableTaps) -> None:
        """Follow the forwards of a module."""
        before = Tap(self._loop.hook, self._before_forward, "forward")
        taps.keep(module.register_forward_pre_hook(before, prepend=True, with_kwargs=True))
        after = Tap(self._loop.hook, self._after_forward, "forward")
        taps.add(lambda: module.register_forward_hook(after))

    def _before_forward(self, module: torch.nn.Module, *inputs: Any) -> None:
        loop, steps = self._loop, self._steps
        if loop.is_shared:
            self._attend_late()
        if steps.idle:
            plain = module.training and steps.may_train and loop.optimizers and torch.is_grad_enabled()
            if plain and not loop.gradients.on_parameters:
                # An update will count the step. This case must cost next to nothing, so it is asked for here.
                loop.passes, loop.last_update = False, None
            else:
                self._before_idle_forward(module)
            return
        if loop.is_repeated():
            return
        loop.is_silent = loop.passes = False
        loop.batch_samples = steps.samples
        trains = loop.wants_gradients()
        record = steps.record
        if record is not None and not (trains and self._accumulates(module)):
            steps.end()
            record = None
            idle: bool = steps.idle  # which ending a step may change
            if idle:
                self._before_idle_forward(module)
                return
        if record is None:
            if "batch_size" not in self._config:
                first = next(tensors_in(inputs), None)
                self._config["batch_size"] = None if first is None or not first.dim() else first.shape[0]
            loop.start(trains=trains and module.training)
            loop.model.hear_order()
        elif steps.samples is not None:
            record.samples = [*(record.samples or []), *steps.samples]
            steps.samples = None
        loop.clock = time.perf_counter()

    def _before_idle_forward(self, module: torch.nn.Module) -> None:
        """Count a step that is not recorded, unless an update will."""
        loop, gradients = self._loop, self._loop.gradients
        if gradients.on_parameters and gradients.hear_outputs:
            # The forward is seen, so parameters need not call for it.
            gradients.untap_parameters()
        if loop.is_repeated():
            return
        # The step that this forward began stays unrecorded, even where the next one no longer is.
        loop.passes = not (loop.optimizers and module.training and loop.wants_gradients())
        loop.last_update = None
        if loop.passes:
            self._steps.count()

    def _accumulates(self, module: torch.nn.Module) -> bool:
        """Whether another forward belongs to the open step: gradients pile up until the optimizer's step."""
        loop, record = self._loop, self._steps.record
        if record is None or not record.trains or not loop.optimizers or loop.in_backward:
            # A backward that has not come to its end has raised.
            return False
        if not record.has_gradients:
            return module.training
        # Gradients that were reset without an update (a skipped step of mixed precision) ended that step.
        return any(has_gradient(p) for p in module.parameters())

    def _after_forward(self, _module: Any, _inputs: Any, outputs: Any) -> None:
        loop, record = self._loop, self._steps.record
        if record is None or loop.is_repeated():
            return
        loop.model.order.end_forward()
        now = time.perf_counter()
        record.seconds["forward"] = record.seconds.get("forward", 0.0) + now - loop.clock
        loop.clock = now
        # Of a step that nobody wants, the backward matters only where mixed precision may skip its update.
        if (record.wanted or loop.scaler is not None) and loop.gradients.hear_outputs and loop.wants_gradients():
            loop.gradients.await_backward(outputs, loop.model.root)

    def _attend_late(self) -> None:
        """Carry out what came with the first of several updates: by now the others are through."""
        requests = self._steps.requests
        waits = requests is not None and requests.mail.waiting and self._steps.record is None
        if requests is not None and waits and not self._loop.is_repeated():
            requests.attend()
