"""Calls losses, metrics and latent spaces on batches and makes columns of what they return, one value or vector a
sample; and the columns of labels.

A function that raises on a batch is asked again for each sample alone, so that one bad sample costs one value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from cutaway.arrays import Array, Float32Array
from cutaway.dataset.calling import Failed, call_theirs
from cutaway.dataset.enums import ConfusionMatrixValue, LatentReduction
from cutaway.dataset.functions import Function, LatentSpace
from cutaway.dataset.responses import ConfusionMatrixElement, SamplePreprocessResponse
from cutaway.dataset.subset import Subset
from cutaway.models.latents import pooled

__all__ = ["Bound", "Labels", "Values", "call_on_batch", "label_columns", "own_vectors", "score", "total_loss"]

Columns = dict[str, Any]


@dataclass(frozen=True)
class Bound:
    """A function and what each of its arguments is given; `kind` is loss, metric, visualizer or latent."""

    kind: str
    function: Function
    arguments: Mapping[str, str]

    @property
    def name(self) -> str:
        """What its columns are called."""
        return self.function.name

    @property
    def needs(self) -> set[str]:
        """The sources that it takes."""
        return set(self.arguments.values())


@dataclass(frozen=True)
class Values:
    """What functions can be given of one batch: arrays by `<kind>.<name>`, and which samples of the subset they are."""

    arrays: Mapping[str, Array]
    subset: Subset
    indices: Sequence[int]

    def __len__(self) -> int:
        return len(self.indices)

    def only(self, row: int) -> Values:
        """Return one sample as a batch of one."""
        one = {name: values[row : row + 1] for name, values in self.arrays.items()}
        return Values(one, self.subset, self.indices[row : row + 1])

    def samples(self) -> SamplePreprocessResponse:
        """Return what a function is given that asks which samples it has."""
        of_binding = getattr(self.subset, "sample_response", None)
        if of_binding is not None:
            found: SamplePreprocessResponse = of_binding(list(self.indices))
            return found
        ids = [own for i in self.indices for own in self.subset.ids(i, i + 1)]
        return SamplePreprocessResponse(ids, self.subset.response())


def score(bound: Sequence[Bound], values: Values) -> tuple[Columns, dict[int, str]]:
    """Return the columns of the losses and metrics, and for rows where one failed, why."""
    columns: Columns = {}
    errors: dict[int, str] = {}
    for one in bound:
        if one.needs <= values.arrays.keys():
            for name, column in call_on_batch(one, values, partial(_columns, one), errors).items():
                columns[name] = column
    return columns, errors


def total_loss(columns: Mapping[str, Any]) -> Any | None:
    """Return the sum of all losses of each sample, or None where there are none."""
    losses = [column for name, column in columns.items() if name.startswith("loss.")]
    if not losses:
        return None
    if len(losses) == 1:
        return losses[0]
    numbers = [np.array([np.nan if one is None else one for one in column], np.float64) for column in losses]
    return np.sum(numbers, axis=0)


def call_on_batch(bound: Bound, values: Values, read: Callable[[Any, int], Columns], errors: dict[int, str]) -> Columns:
    """Call a function on a batch, or where that fails on each sample; rows that fail are null and said in `errors`."""
    try:
        return read(_call(bound, values), len(values))
    except Failed as failure:
        if len(values) == 1:
            errors.setdefault(0, _failure_in_words(bound, failure))
            return {}
    singles: list[Columns] = []
    for row in range(len(values)):
        own: dict[int, str] = {}
        singles.append(call_on_batch(bound, values.only(row), read, own))
        for error in own.values():
            errors.setdefault(row, error)
    names = dict.fromkeys(name for single in singles for name in single)
    return {name: [single[name][0] if name in single else None for single in singles] for name in names}


def _call(bound: Bound, values: Values) -> Any:
    arguments: dict[str, Any] = {name: values.arrays[source] for name, source in bound.arguments.items()}
    if bound.function.injected is not None:
        arguments[bound.function.injected] = values.samples()
    return call_theirs(partial(bound.function.function, **arguments))


def _failure_in_words(bound: Bound, failure: Failed) -> str:
    place = failure.place if failure.__cause__ is not None else bound.function.place
    return f"{place + ': ' if place else ''}{bound.kind} {bound.name!r} failed: {failure.reason}"


def _columns(bound: Bound, result: Any, rows: int) -> Columns:
    if isinstance(result, Mapping):
        return {f"{bound.kind}.{bound.name}_{key}": _column(bound, one, rows) for key, one in result.items()}
    return {f"{bound.kind}.{bound.name}": _column(bound, result, rows)}


def _column(bound: Bound, result: Any, rows: int) -> Any:
    """Return one number a sample, or of a metric one list of confusion elements."""
    if (
        bound.kind == "metric"
        and isinstance(result, list | tuple)
        and any(isinstance(one, list | tuple) for one in result)
    ):
        elements = [[_element(bound, each) for each in one] for one in result]
        _check_rows(bound, len(elements), rows, f"{len(elements)} lists")
        return elements
    numbers = _numbers(bound, result)
    if numbers.shape != (rows,):
        numbers = numbers.reshape(len(numbers), -1) if numbers.ndim else numbers
        if numbers.ndim != 2 or numbers.shape[1] != 1:
            _check_rows(bound, -1, rows, f"an array of shape {numbers.shape}")
        numbers = numbers[:, 0]
    _check_rows(bound, len(numbers), rows, f"{len(numbers)} numbers")
    return numbers


def _numbers(bound: Bound, result: Any) -> Array:
    """Return a result of any array package as numbers; torch's tensors with a gradient let go of it first."""
    given = result.detach().cpu() if hasattr(result, "detach") else result
    numbers = np.asarray(given)
    if numbers.dtype.kind not in "biuf":
        raise Failed(f"it returned {type(result).__name__}, but numbers are wanted.", bound.function.place)
    return numbers.astype(np.float64) if numbers.dtype.kind != "f" or numbers.dtype.itemsize < 4 else numbers


def _check_rows(bound: Bound, got: int, rows: int, words: str) -> None:
    if got != rows:
        reason = f"it must return one number for each of {rows} samples, but returned {words}."
        raise Failed(reason, bound.function.place)


def _element(bound: Bound, element: Any) -> dict[str, Any]:
    if not isinstance(element, ConfusionMatrixElement):
        reason = f"its lists must hold ConfusionMatrixElement, but hold {type(element).__name__}."
        raise Failed(reason, bound.function.place)
    # The word alone, also of the enumeration of another package.
    expected = str(element.expected_outcome).rpartition(".")[2].lower()
    if expected not in (ConfusionMatrixValue.Positive, ConfusionMatrixValue.Negative):
        reason = f"`expected_outcome` must be Positive or Negative, but is {element.expected_outcome!r}."
        raise Failed(reason, bound.function.place)
    return {
        "label": str(element.label),
        "expected_outcome": expected,
        "predicted_probability": float(element.predicted_probability),
        "id": str(element.id),
    }


@dataclass(frozen=True)
class Labels:
    """How a ground truth or a prediction, `source`, becomes one class a sample: the largest, or the number it holds.

    `names` are what the classes are called; empty where nobody said.
    """

    source: str
    classes: int
    names: tuple[str, ...] = ()


def label_columns(labels: Sequence[Labels], arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return one column of labels for each that the batch has: names where there are some, else numbers."""
    return {f"{one.source}.label": _labels(one, arrays[one.source]) for one in labels if one.source in arrays}


def _labels(label: Labels, values: Array) -> Any:
    flat = values.reshape(len(values), -1)
    if flat.shape[1] not in (1, label.classes):
        return [None] * len(values)
    numbers = flat.argmax(axis=1) if flat.shape[1] > 1 else flat[:, 0]
    unknown = np.atleast_1d(np.isnan(flat).any(axis=1)).tolist()
    if not label.names:
        return [None if bad else int(one) for one, bad in zip(numbers.tolist(), unknown, strict=True)]
    return [
        None if bad else _name_of_class(label, int(one)) for one, bad in zip(numbers.tolist(), unknown, strict=True)
    ]


def _name_of_class(label: Labels, number: int) -> str:
    return label.names[number] if 0 <= number < len(label.names) else str(number)


def own_vectors(bound: Bound, values: Values, errors: dict[int, str]) -> Float32Array | None:
    """Return the vectors of a batch in a space of somebody's own, NaN where it failed; None where it failed for all."""
    found = call_on_batch(bound, values, partial(_vectors_of_result, bound), errors).get("vectors")
    if found is None:
        return None
    size = max((len(one) for one in found if one is not None), default=0)
    vectors = np.full((len(values), size), np.nan, np.float32)
    for row, one in enumerate(found):
        if one is not None and len(one) == size:
            vectors[row] = one
        elif one is not None:
            errors.setdefault(row, f"latent space {bound.name!r} has {len(one)} numbers here, elsewhere {size}.")
    return vectors


def _vectors_of_result(bound: Bound, result: Any, rows: int) -> dict[str, Float32Array]:
    space = bound.function
    assert isinstance(space, LatentSpace)
    given = np.asarray(result.detach().cpu() if hasattr(result, "detach") else result)
    if given.dtype.kind not in "biuf" or not given.ndim or len(given) != rows:
        reason = (
            f"it must return one vector for each of {rows} samples, but returned {given.dtype} of shape {given.shape}."
        )
        raise Failed(reason, space.place)
    return {"vectors": _reduced(given, space)}


def _reduced(values: Array, space: LatentSpace) -> Float32Array:
    if values.ndim <= 2:
        return values.reshape(len(values), -1).astype(np.float32)
    if space.reduce is LatentReduction.RANDOM_PROJECTION:
        flat = values.reshape(len(values), -1).astype(np.float32)
        return np.asarray(flat @ _projection(flat.shape[1], space.n_components), np.float32)
    # Their axes do not count the batch.
    axis = space.channel_axis if space.channel_axis < 0 else space.channel_axis + 1
    return pooled(values, axis)


@lru_cache(maxsize=4)
def _projection(size: int, components: int) -> Float32Array:
    """Return one fixed matrix for a size: the same in every batch, run and process."""
    matrix = np.random.default_rng(0).standard_normal((size, min(components, size)), dtype=np.float32)
    return np.asarray(matrix / np.sqrt(matrix.shape[1]), np.float32)
