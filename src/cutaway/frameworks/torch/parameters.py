"""Copies all parameters and gradients of a step into one slab, with two calls into torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from cutaway.capture.records import Layout, Slab, SlabPool, StepRecord
from cutaway.frameworks.torch.names import GRADIENT
from cutaway.frameworks.torch.tensors import copy_of
from cutaway.tensors.blocked_statistics import StatisticsPlan

__all__ = ["ParameterCapture"]

# Widening these to float32 loses nothing; all other types travel on their own, exactly.
_NARROW = (torch.float32, torch.bfloat16, torch.float16)

Named = tuple[str, torch.nn.Parameter]


@dataclass
class _Views:
    """A slab's buffer as torch sees it, and the pool that it goes back to."""

    pool: SlabPool
    weights: list[torch.Tensor]
    gradients: list[torch.Tensor]


class ParameterCapture:
    """The parameters of a model that are wanted, and the slabs for their values."""

    def __init__(self, parameters: Sequence[Named], wants: Callable[[str], bool]) -> None:
        self._weights = [(name, p) for name, p in parameters if wants(name) and p.dtype in _NARROW]
        self._gradients = [
            (GRADIENT + name, p)
            for name, p in parameters
            if wants(GRADIENT + name) and p.dtype in _NARROW and p.requires_grad
        ]
        self._others = [(name, p, False) for name, p in parameters if wants(name) and p.dtype not in _NARROW] + [
            (GRADIENT + name, p, True) for name, p in parameters if wants(GRADIENT + name) and p.dtype not in _NARROW
        ]
        everything = [*self._weights, *self._gradients]
        self._pool = SlabPool(
            Layout(
                names=tuple(name for name, _ in everything),
                dtypes=tuple(str(p.dtype).removeprefix("torch.") for _, p in everything),
                shapes=tuple(tuple(p.shape) for _, p in everything),
                changing=len(self._weights),
                plan=StatisticsPlan([(name, p.numel()) for name, p in everything]),
            )
        )
        self._weight_tensors: list[torch.Tensor] = [p for _, p in self._weights]

    @property
    def needs_writer(self) -> bool:
        """Whether the next capture has to wait for the writer."""
        return self._pool.is_exhausted

    def capture(self, record: StepRecord, *, patience: float, gradients: bool, scale: float) -> bool:
        """Copy what the step has into its record. False when no slab came free in time.

        Called again for the same record (gradient accumulation), it only brings the gradients up to date.
        """
        if self._pool.layout.names:
            slab, first = record.slab, record.slab is None
            if slab is None:
                slab = self._pool.acquire(patience)
                if slab is None:
                    return False
                self._dress(slab)
                record.slab = slab
            with torch.no_grad():
                self._copy(slab, weights=first, gradients=gradients)
            slab.scale = scale
        for name, parameter, is_gradient in self._others:
            value = parameter.grad if is_gradient else parameter
            if value is not None and (gradients or not is_gradient):
                record.offers = [offer for offer in record.offers if offer.name != name]
                record.offers.append(copy_of(name, value))
        return True

    def _copy(self, slab: Slab, *, weights: bool, gradients: bool) -> None:
        views: _Views = slab.views
        if weights and self._weight_tensors:
            torch._foreach_copy_(views.weights, self._weight_tensors)
            slab.present = [True] * len(self._weights) + [False] * len(self._gradients)
        if not gradients:
            return
        targets, sources = [], []
        for i, (_, parameter) in enumerate(self._gradients):
            gradient = parameter.grad
            slab.present[len(self._weights) + i] = gradient is not None
            if gradient is not None:
                targets.append(views.gradients[i])
                sources.append(gradient if gradient.layout is torch.strided else gradient.to_dense())
        if sources:
            torch._foreach_copy_(targets, sources)

    def _dress(self, slab: Slab) -> None:
        """Give a slab its torch views, once, and a clean record of what it holds."""
        slab.present = [False] * len(slab.layout.names)
        if slab.views is None:
            places = zip(slab.layout.plan.slices, slab.layout.shapes, strict=True)
            # What is made in inference mode could not be written to outside of it.
            with torch.inference_mode(mode=False):
                buffer = torch.from_numpy(slab.buffer)
                views = [buffer[place].view(shape) for place, shape in places]
            slab.views = _Views(self._pool, views[: slab.layout.changing], views[slab.layout.changing :])
