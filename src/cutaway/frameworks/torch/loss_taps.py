"""Losses and other values that functions return: what loss modules receive and give, and what the loop records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from cutaway.capture.records import StepRecord
from cutaway.frameworks.torch.loop import TrainingLoop
from cutaway.frameworks.torch.losses import sample_values
from cutaway.frameworks.torch.taps import RemovableTaps, Tap
from cutaway.frameworks.torch.tensors import copy_of, tensors_in

__all__ = ["LossTaps"]


class LossTaps:
    """What happens after each call of a registered loss."""

    def __init__(self, loop: TrainingLoop) -> None:
        self._loop = loop
        self._steps = loop.steps
        self._step = -1  # that of the counts
        self._counts: dict[str, int] = {}  # what each loss received and returned so far in this step

    def hang(self, loss: torch.nn.Module, taps: RemovableTaps) -> None:
        """Follow the calls of a loss module."""
        self._loop.model.names[loss] = type(loss).__name__
        self._loop.hook.documents.config["loss"] = type(loss).__name__
        tap = Tap(self._loop.hook, self._after_loss, "the loss")
        taps.add(lambda: loss.register_forward_hook(tap, with_kwargs=True))

    def offer_outputs(self, name: str, outputs: Any) -> None:
        """Record the result of a function."""
        loop, steps = self._loop, self._steps
        if steps.record is None and loop.last_update is not None and not loop.is_silent:
            self._offer_late(name, outputs)
            return
        if steps.idle or loop.passes or loop.is_repeated():
            return
        record = steps.record or loop.start(trains=torch.is_grad_enabled())
        self._offer_all(record, f"{name}_output", tensors_in(outputs))

    def _after_loss(self, loss: torch.nn.Module, args: Any, kwargs: Any, outputs: Any) -> None:
        loop, steps = self._loop, self._steps
        if steps.idle or loop.passes:
            return
        loop.end_silent_step()
        record = steps.record
        if record is None and loop.is_silent:
            record = loop.start(trains=torch.is_grad_enabled())
        if record is None or loop.is_repeated():
            return
        name = loop.model.names[loss]
        samples = loop.batch_samples if record.trains else None
        if record.wanted or samples is not None:
            received = list(tensors_in((args, kwargs)))
            if samples is not None and received and received[0].shape[:1] == (len(samples),):
                compute = sample_values(loss, received)
                if compute is not None:
                    record.sample_values.append((samples, compute))
                    # A second loss of the same batch would give its samples two values of one name.
                    loop.batch_samples = None
            if record.wanted:
                self._offer_all(record, f"{name}_input", received)
        self.offer_outputs(name, outputs)

    def _offer_late(self, name: str, outputs: Any) -> None:
        """Add what is recorded after the update to the step that the update ended."""
        late = self._steps.late_record()
        if late is None:
            return
        self._offer_all(late, f"{name}_output", tensors_in(outputs))
        late.scalars += [("loss", float(loss)) for loss in self._steps.measures.losses]
        self._steps.measures.losses.clear()
        if late.offers or late.scalars:
            self._steps.queue.add(late)

    def _offer_all(self, record: StepRecord, prefix: str, tensors: Iterable[torch.Tensor]) -> None:
        """Copy what is wanted of a loss or of a recorded value; a second one of a step gets the next indices."""
        if record.step != self._step:
            self._step = record.step
            self._counts.clear()
        selection = self._loop.hook.selection
        for tensor in tensors:
            index = self._counts.get(prefix, 0)
            self._counts[prefix] = index + 1
            full = f"{prefix}_{index}"
            if tensor.numel() == 1 and "losses" in selection.collections_of(full):
                self._steps.measures.losses.append(tensor.item() if tensor.is_cpu else tensor.detach().clone())
            if record.wanted and selection.wants(full):
                record.offers.append(copy_of(full, tensor))
