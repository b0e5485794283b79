"""Judges what a loss, metric, visualizer or latent space returned for a batch. Calls nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset.checks import Problem
from cutaway.dataset.enums import LeapDataType

__all__ = ["Result", "result_of_batch", "result_of_visualizer"]


class Result(NamedTuple):
    """The shape and dtype of what one sample got, and what is wrong with it."""

    shape: tuple[int, ...] | None = None
    dtype: str = ""
    problems: tuple[Problem, ...] = ()


def result_of_batch(value: Any, rows: int, *, flat: bool) -> Result:
    """Look at what a function of a batch returned: a row for each sample, or a dictionary of such.

    `flat` asks for one number a sample.
    """
    if isinstance(value, Mapping):
        if not value:
            return Result(problems=(_shape("it returned an empty dictionary", "Return one array for each name."),))
        parts = {str(key): result_of_batch(one, rows, flat=flat) for key, one in value.items()}
        problems = [
            problem._replace(message=f"{key!r}: {problem.message}")
            for key, one in parts.items()
            for problem in one.problems
        ]
        first = next(iter(parts.values()))
        return Result(first.shape, f"{len(parts)} x {first.dtype}", tuple(problems))
    if _is_confusion(value):
        return _confusion(value, rows)
    try:
        values = np.asarray(value)
    except ValueError:  # rows of different lengths
        return Result(problems=(_shape("it returned rows of different lengths", "Return one number a sample."),))
    return _array(values, rows, flat=flat)


def result_of_visualizer(value: Any, wanted: LeapDataType) -> Result:
    """Look at what a visualizer returned: an object of the class that its type promises."""
    kind = type(value).__name__
    if kind == f"Leap{wanted.value}":
        return Result(dtype=kind)
    message = f"it returned {kind}, but its type is {wanted.value}"
    return Result(dtype=kind, problems=(_shape(message, f"Return a `Leap{wanted.value}(...)`."),))


def _array(values: Array, rows: int, *, flat: bool) -> Result:
    if values.dtype.kind not in "biuf":
        message = f"it returned {values.dtype}, not numbers"
        return Result(dtype=str(values.dtype), problems=(_shape(message, "Return one number a sample."),))
    shape, dtype = values.shape[1:], str(values.dtype)
    if values.ndim == 0:
        message = f"it returned one number for a batch of {rows} samples"
        return Result(
            (), dtype, (_shape(message, "Return one number a sample: leave the batch axis out of the mean."),)
        )
    if len(values) != rows or (flat and values.size != rows):
        wanted = f"({rows},)" if flat else f"({rows}, ...)"
        message = f"it returned the shape {values.shape} for a batch of {rows} samples"
        return Result(shape, dtype, (_shape(message, f"Return the shape {wanted}."),))
    bad = [i for i, one in enumerate(values) if not np.isfinite(one).all()]
    if bad:
        message = f"it is not finite for {len(bad)} of {rows} samples"
        fix = "Look for a logarithm of 0 or a division by zero; clip predictions at 1e-7."
        return Result(shape, dtype, (Problem("function-not-finite", "error", message, fix),))
    return Result(shape, dtype)


def _is_confusion(value: Any) -> bool:
    """Whether it is a list of confusion elements for each sample."""
    return isinstance(value, list) and any(isinstance(one, list) and one and hasattr(one[0], "label") for one in value)


def _confusion(value: list[Any], rows: int) -> Result:
    if len(value) == rows:
        return Result(dtype="confusion elements")
    message = f"it returned {len(value)} lists of confusion elements for a batch of {rows} samples"
    return Result(problems=(_shape(message, "Return one list a sample."),))


def _shape(message: str, fix: str) -> Problem:
    return Problem("function-shape", "error", message, fix)
