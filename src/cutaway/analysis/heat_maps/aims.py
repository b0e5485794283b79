"""What a heat map explains: one class of an output, a whole output, or a loss. Computes it from answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cutaway.arrays import Array, Float64Array, Int64Array
from cutaway.dataset.losses import default_losses
from cutaway.errors import ConfigurationError, did_you_mean, refuse_unknown
from cutaway.models.backend import LOSSES
from cutaway.models.model import Model

__all__ = ["Aim", "aim_at"]


@dataclass(frozen=True)
class Aim:
    """What is explained of each sample; `targets` is None for the predicted class, and where there are no classes."""

    output: str
    axis: int | None
    targets: Int64Array | None = None
    loss: str | None = None
    labels: Array | None = None

    def scores(self, answer: Array, rows: Sequence[int] | Int64Array, targets: Int64Array | None) -> Float64Array:
        """Return the score, or the loss, of each row of an answer; `rows` says which sample each of them is."""
        if self.loss is not None and self.labels is not None:
            return self._loss(answer, self.labels[rows])
        sums = self.sums(answer)
        return sums[:, 0] if targets is None else sums[np.arange(len(sums)), targets]

    def chosen(self, answer: Array) -> Int64Array | None:
        """Return the class of each sample that is explained: the one that was asked for, or the predicted one."""
        if self.loss is not None:
            return None
        classes = self.sums(answer)
        if self.targets is not None:
            self._check(classes.shape[1])
        if not self._has_classes(answer):
            return None
        return classes.argmax(axis=1) if self.targets is None else self.targets

    def sums(self, answer: Array) -> Float64Array:
        """Return a score for each class, summed over the places of an output; one column where it has no classes."""
        if answer.ndim == 2 and self._has_classes(answer):
            return answer.astype(np.float64)
        if not self._has_classes(answer) or self.axis is None:
            whole: Float64Array = answer.reshape(len(answer), -1).sum(axis=1, keepdims=True, dtype=np.float64)
            return whole
        classes = np.moveaxis(answer, self.axis, 1)
        summed: Float64Array = classes.reshape(*classes.shape[:2], -1).sum(axis=2, dtype=np.float64)
        return summed

    def _has_classes(self, answer: Array) -> bool:
        return self.axis is not None and answer.ndim > 1 and answer.shape[self.axis] > 1

    def _check(self, classes: int) -> None:
        if self.targets is not None and self.targets.size and self.targets.max() >= classes:
            raise ConfigurationError(
                f"Output {self.output!r} has {classes} classes, from 0 to {classes - 1}, "
                f"but `target` asks for {int(self.targets.max())}."
            )

    def _loss(self, answer: Array, labels: Array) -> Float64Array:
        axis = -1 if self.axis is None else self.axis
        named = {loss.name: loss.function for loss in default_losses(axis)}
        return np.asarray(named[str(self.loss)](labels, answer), np.float64)


def aim_at(
    model: Model,
    rows: int,
    *,
    output: str | None,
    target: int | Sequence[int] | Int64Array | None,
    loss: str | None,
    labels: Array | None,
) -> Aim:
    """Return what is explained of a batch of so many rows. Raises `ConfigurationError` for what does not fit."""
    known = [spec.name for spec in model.outputs]
    name = known[0] if output is None else output
    if name not in known:
        raise ConfigurationError(
            f"The model has no output {name!r}.", hint=f"{did_you_mean(name, known)} It has {known}."
        )
    axis = next(spec.channel_axis for spec in model.outputs if spec.name == name)
    if loss is None:
        if labels is not None:
            raise ConfigurationError("`labels` are for a loss.", hint=f"Name it with `loss=`: {', '.join(LOSSES)}.")
        return Aim(name, axis, _targets(target, rows))
    return Aim(name, axis, None, _loss(loss, target), _labels(labels, loss, rows))


def _targets(target: int | Sequence[int] | Int64Array | None, rows: int) -> Int64Array | None:
    if target is None:
        return None
    targets = np.asarray(target)
    if targets.dtype.kind not in "iu" or targets.shape not in ((), (rows,)):
        raise ConfigurationError(
            f"`target` must be one class, or one for each of the {rows} samples, but got {target!r}.",
            hint="Ask once for each class to have maps of several.",
        )
    if targets.size and targets.min() < 0:
        raise ConfigurationError(f"Classes count from 0, but got `target={target!r}`.")
    return np.array(np.broadcast_to(targets, (rows,)), np.int64)


def _loss(loss: str, target: object) -> str:
    refuse_unknown("loss", loss, LOSSES)
    if target is not None:
        raise ConfigurationError(f"A map of {loss} is about all classes at once: leave `target` out, or `loss`.")
    return loss


def _labels(labels: Array | None, loss: str, rows: int) -> Array:
    if labels is None:
        raise ConfigurationError(f"A map of {loss} needs `labels`, one row for each sample.")
    values = np.asarray(labels)
    if values.shape[:1] != (rows,):
        raise ConfigurationError(f"`labels` must have a row for each of the {rows} samples, but got {values.shape}.")
    return values
