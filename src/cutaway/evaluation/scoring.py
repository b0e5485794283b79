"""Calls losses and metrics on batches and makes columns of what they return, one value a sample.

A function that raises on a batch is asked again for each sample alone, so that one bad sample costs one value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset.calling import Failed, call_theirs
from cutaway.dataset.functions import Function
from cutaway.dataset.responses import ConfusionMatrixElement, SamplePreprocessResponse
from cutaway.dataset.subset import Subset

__all__ = ["Bound", "Values", "call_on_batch", "score", "total_loss"]

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
    """Return one number a sample, or one list of confusion elements."""
    if isinstance(result, list | tuple) and any(isinstance(one, list | tuple) for one in result):
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
    return {
        "label": str(element.label),
        "expected_outcome": str(element.expected_outcome),
        "predicted_probability": float(element.predicted_probability),
        "id": str(element.id),
    }
