"""Losses and other values that functions return: what loss modules receive and give, and what the loop records.

Of what a registered loss received, loss, margin and correctness of each sample are computed, once.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from cutaway.arrays import Float64Array
from cutaway.capture.records import StepRecord
from cutaway.frameworks.torch.loop import TrainingLoop
from cutaway.frameworks.torch.taps import RemovableTaps, Tap
from cutaway.frameworks.torch.tensors import copy_of, tensors_in

__all__ = ["LossTaps"]

_CLASSES = (nn.CrossEntropyLoss, nn.NLLLoss)
_BINARY = (nn.BCEWithLogitsLoss, nn.BCELoss)
_OTHERS = (nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss, nn.PoissonNLLLoss, nn.SoftMarginLoss)
_KNOWN = frozenset(kind.forward for kind in (*_CLASSES, *_BINARY, *_OTHERS))
# Beyond this, keeping a copy of the predictions would cost more than it tells.
_MOST_PREDICTIONS = 4_000_000

Values = Mapping[str, Float64Array]


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

    def _count_classes(self, loss: torch.nn.Module, args: Any, kwargs: Any) -> None:
        """Say once among how many classes the loss chooses: it tells what guessing would give."""
        documents = self._loop.hook.documents
        if isinstance(loss, _CLASSES) and "classes" not in documents.config:
            first = next(tensors_in((args, kwargs)), None)
            documents.update_config({"classes": first.shape[1] if first is not None and first.dim() > 1 else None})

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
        self._count_classes(loss, args, kwargs)
        samples = loop.batch_samples if record.trains else None
        if record.wanted or samples is not None:
            received = list(tensors_in((args, kwargs)))
            if samples is not None and received and received[0].shape[:1] == (len(samples),):
                compute = _sample_values(loss, received)
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


def _sample_values(loss: nn.Module, inputs: Sequence[torch.Tensor]) -> Callable[[], Values] | None:
    """Return a function that computes one value per sample and name, or None for losses that we do not know.

    The inputs are copied now; the function runs on the writer thread.
    """
    if type(loss).forward not in _KNOWN or len(inputs) < 2:
        # Someone's own loss, also where it derives from one of these: only its author knows what it does.
        return None
    if inputs[0].dim() < 1 or not 0 < inputs[0].numel() <= _MOST_PREDICTIONS:
        return None
    predictions, targets = (tensor.detach().clone() for tensor in inputs[:2])
    if predictions.dtype in (torch.bfloat16, torch.float16):
        # As autocast computes losses, which is not in force on the writer thread.
        predictions = predictions.float()
    # The loss as the user configured it (weights, smoothing, ignored labels), but one number a sample.
    single: Any = copy.copy(loss)
    single.reduction = "none"

    def compute() -> Values:
        with torch.no_grad():
            losses = type(single).forward(single, predictions, targets)
            values = {"loss": _mean_per_sample(losses)}
            if isinstance(single, _CLASSES) and targets.dim() == 1 and predictions.dim() == 2:
                values |= _class_values(predictions, targets, single.ignore_index)
            elif isinstance(single, _BINARY):
                values |= _binary_values(predictions, targets, logits=isinstance(single, nn.BCEWithLogitsLoss))
            return {name: value.double().numpy(force=True) for name, value in values.items()}

    return compute


def _mean_per_sample(losses: torch.Tensor) -> torch.Tensor:
    return losses if losses.dim() == 1 else losses.reshape(losses.shape[0], -1).mean(dim=1)


def _class_values(predictions: torch.Tensor, targets: torch.Tensor, ignored: int) -> dict[str, torch.Tensor]:
    known = (targets >= 0) & (targets < predictions.shape[1]) & (targets != ignored)
    labels = targets.clamp(0, predictions.shape[1] - 1).unsqueeze(1)
    own = predictions.gather(1, labels).squeeze(1)
    others = predictions.scatter(1, labels, -torch.inf).amax(dim=1)
    margin = torch.where(known, own - others, torch.nan)
    correct = torch.where(known, (predictions.argmax(dim=1) == targets).to(own.dtype), torch.nan)
    return {"margin": margin, "correct": correct}


def _binary_values(predictions: torch.Tensor, targets: torch.Tensor, *, logits: bool) -> dict[str, torch.Tensor]:
    """The margin of the worst output, and whether all outputs are right."""
    signed = (predictions - (0.0 if logits else 0.5)) * (2 * targets.to(predictions.dtype) - 1)
    worst = signed.reshape(signed.shape[0], -1).amin(dim=1)
    return {"margin": worst, "correct": (worst > 0).to(worst.dtype)}
