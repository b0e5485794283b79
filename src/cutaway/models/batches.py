"""Fits what people give as a batch to the inputs of a model (names, dtypes, axes, size), and labels to its outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cutaway.arrays import Array
from cutaway.errors import ConfigurationError, ModelInputError, did_you_mean
from cutaway.models.backend import Arrays, Question
from cutaway.models.description import TensorSpec

__all__ = ["Batch", "Portion", "checked_question", "fitted", "given_axes", "portions", "rows_of"]

Batch = Array | Sequence[Array] | Mapping[str, Array]

# Images have rows, columns and channels beside the samples; what has fewer axes is not turned.
IMAGE_RANK = 4
_TEXT_KINDS = "OSTU"


@dataclass(frozen=True)
class Portion:
    """A part of a batch that the model can take at once: `arrays` of its rows from `start`, padded by its last row."""

    arrays: dict[str, Array]
    start: int
    rows: int

    def question(self, whole: Question) -> Question:
        """Return the part of a question that is about these rows."""
        size = rows_of(self.arrays)
        target = None if whole.target is None else _padded(whole.target[self.start : self.start + self.rows], size)
        labels = None if whole.labels is None else _padded(whole.labels[self.start : self.start + self.rows], size)
        return replace(whole, target=target, labels=labels)


def fitted(batch: Batch, specs: Sequence[TensorSpec], *, channels_last: bool | None = None) -> dict[str, Array]:
    """Return one array for each input, of its dtype and axes. Raises `ModelInputError` where they cannot fit."""
    named = _batch_by_input(batch, specs)
    arrays = {spec.name: _fit(np.asarray(named[spec.name]), spec, channels_last=channels_last) for spec in specs}
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        first = next(iter(lengths))
        raise ModelInputError(first, f"all inputs must have as many rows, but they have {lengths}.")
    return arrays


def rows_of(arrays: Arrays) -> int:
    """Return how many samples a batch has."""
    return len(next(iter(arrays.values())))


def portions(arrays: dict[str, Array], size: int | None) -> Iterator[Portion]:
    """Cut a batch for a model that takes only one batch size; the last row fills the last portion up."""
    rows = rows_of(arrays)
    if size is None or size == rows:
        yield Portion(arrays, 0, rows)
        return
    for start in range(0, max(rows, 1), size):
        part = {name: values[start : start + size] for name, values in arrays.items()}
        yield Portion({name: _padded(values, size) for name, values in part.items()}, start, rows_of(part))


def given_axes(values: Array, spec: TensorSpec, *, channels_last: bool | None) -> Array:
    """Turn what has the axes of an input back to how its batch was given."""
    turned = _turn(spec, values.ndim, channels_last=channels_last)
    return values if turned is None else np.moveaxis(values, turned[1], turned[0])


def checked_question(question: Question, shape: tuple[int, ...], channel_axis: int | None) -> Question:
    """Return the question with labels that fit an output of `shape`: one-hot for losses over classes, else alike.

    Raises `ConfigurationError` for a class that the output does not have, and for labels of another shape.
    """
    if question.loss is None:
        _check_target(question, shape, channel_axis)
        return question
    if question.labels is None:
        raise ConfigurationError(f"The gradient of {question.loss} needs `labels`, one row for each sample.")
    labels = np.asarray(question.labels)
    if question.loss.startswith("Categorical"):
        return replace(question, labels=_one_hot(labels, shape, -1 if channel_axis is None else channel_axis))
    if [size for size in labels.shape if size != 1] != [size for size in shape if size != 1]:
        raise ConfigurationError(f"`labels` are {labels.shape}, but the output is {shape}.")
    return replace(question, labels=labels.reshape(shape))


def _batch_by_input(batch: Batch, specs: Sequence[TensorSpec]) -> Mapping[str, Array]:
    known = [spec.name for spec in specs]
    if isinstance(batch, Mapping):
        for name in batch:
            if name not in known:
                reason = "the model has no such input."
                raise ModelInputError(
                    name, reason, hint=f"{did_you_mean(name, known)} It has {', '.join(map(repr, known))}."
                )
        for name in known:
            if name not in batch:
                raise ModelInputError(name, f"it is missing; the batch has {', '.join(map(repr, batch)) or 'nothing'}.")
        return batch
    # Tensors of torch and TensorFlow say that they are one array; a list of them has no such word.
    arrays = [np.asarray(batch)] if hasattr(batch, "__array__") else list(batch)
    if len(arrays) != len(known):
        reason = f"the model has {len(known)} inputs ({', '.join(known)}), but the batch has {len(arrays)} arrays."
        raise ModelInputError(known[0], reason)
    return dict(zip(known, arrays, strict=True))


def _fit(values: Array, spec: TensorSpec, *, channels_last: bool | None) -> Array:
    if values.ndim == 0:
        raise ModelInputError(spec.name, "it has no axis for the samples of a batch; give one with `values[None]`.")
    turned = _turn(spec, values.ndim, channels_last=channels_last)
    if turned is not None:
        values = np.moveaxis(values, *turned)
    if spec.shape and not _matches(values.shape[1:], spec.shape[1:]):
        raise ModelInputError(spec.name, _misfit(values, spec))
    return np.ascontiguousarray(_cast(values, spec))


def _turn(spec: TensorSpec, rank: int, *, channels_last: bool | None) -> tuple[int, int] | None:
    """From which axis to which the channels have to go; None where they lie right, or nothing says how they lie."""
    if channels_last is None or spec.channel_axis is None or rank < IMAGE_RANK:
        return None
    model_last = spec.channel_axis in (-1, rank - 1)
    if channels_last == model_last:
        return None
    return (-1, 1) if channels_last else (1, -1)


def _matches(shape: Sequence[int], wanted: Sequence[int | None]) -> bool:
    return len(shape) == len(wanted) and all(b is None or a == b for a, b in zip(shape, wanted, strict=True))


def _misfit(values: Array, spec: TensorSpec) -> str:
    wanted = ", ".join("any" if size is None else str(size) for size in spec.shape[1:])
    reason = f"a sample must have the shape ({wanted}), but got {values.shape[1:]}."
    if _matches(values.shape, spec.shape[1:]):
        return f"{reason} This is one sample without an axis for the batch: give `values[None]`."
    if values.ndim >= IMAGE_RANK and values.ndim == len(spec.shape) and spec.channel_axis is not None:
        for last, axes in ((True, (-1, 1)), (False, (1, -1))):
            if _matches(np.moveaxis(values, *axes).shape[1:], spec.shape[1:]):
                return f"{reason} It would fit with its channels moved: load the model with `channels_last={last}`."
    return reason


def _cast(values: Array, spec: TensorSpec) -> Array:
    if not spec.dtype:
        return values
    wanted = np.dtype(spec.dtype)
    if values.dtype == wanted:
        return values
    if wanted.kind in _TEXT_KINDS and values.dtype.kind in _TEXT_KINDS:
        return values
    if values.dtype.kind not in "biuf" or wanted.kind not in "biuf":
        raise ModelInputError(spec.name, f"it takes {spec.dtype}, but got {values.dtype}.")
    try:
        with np.errstate(over="raise", invalid="raise"):
            cast = values.astype(wanted)
    except FloatingPointError as error:
        reason = f"it takes {wanted}, which cannot hold all of the {values.dtype} values that it got."
        raise ModelInputError(spec.name, reason) from error
    # Fractions may lose digits; whole numbers would become others.
    if wanted.kind in "biu" and not np.can_cast(values.dtype, wanted) and not np.array_equal(cast, values):
        kept = "are not whole or too large for it" if values.dtype.kind == "f" else "are too large for it"
        raise ModelInputError(spec.name, f"it takes {wanted}, but got {values.dtype} with values that {kept}.")
    return cast


def _padded(values: Array, rows: int) -> Array:
    missing = rows - len(values)
    if missing > 0 and not len(values):
        return np.zeros((rows, *values.shape[1:]), values.dtype)
    return values if missing <= 0 else np.concatenate([values, np.repeat(values[-1:], missing, axis=0)])


def _check_target(question: Question, shape: tuple[int, ...], channel_axis: int | None) -> None:
    if question.target is None or channel_axis is None or len(shape) < 2 or shape[channel_axis] == 1:
        return
    target = np.asarray(question.target)
    wrong = target[(target < 0) | (target >= shape[channel_axis])]
    if len(wrong):
        raise ConfigurationError(
            f"Output {question.output!r} has {shape[channel_axis]} classes, but `target` asks for {int(wrong[0])}."
        )


def _one_hot(labels: Array, shape: tuple[int, ...], axis: int) -> Array:
    """Labels with the classes on their last axis: as they are where they have the output's shape, else of indices."""
    if labels.shape == shape:
        return np.moveaxis(labels, axis, -1)
    classes = shape[axis]
    places = tuple(size for i, size in enumerate(shape) if i != axis % len(shape))
    if labels.ndim == len(shape) and labels.shape[axis] == 1:
        labels = np.moveaxis(labels, axis, -1)[..., 0]
    if labels.shape != places:
        raise ConfigurationError(
            f"`labels` must be {shape} (one-hot) or {places} (class indices), but they are {labels.shape}."
        )
    indices = labels.astype(np.int64)
    if indices.size and not 0 <= indices.min() <= indices.max() < classes:
        raise ConfigurationError(f"`labels` go from {indices.min()} to {indices.max()}, of {classes} classes.")
    hot: Array = indices[..., None] == np.arange(classes)
    return hot
