"""What a metric, loss or visualizer may return.

Of the first two that is one number for each sample, dictionaries of these, or confusion elements.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cutaway.dataset.enums import LeapDataType
from cutaway.dataset.functions import Metric
from cutaway.dataset.responses import ConfusionMatrixElement

__all__ = ["wrong_metric", "wrong_numbers", "wrong_visual"]


def wrong_metric(metric: Metric, result: Any, batch: int | None) -> str:
    """Return why a metric cannot use a result; empty where it can."""
    if not isinstance(result, Mapping):
        by_key = [one for one in (metric.direction, metric.compute_insights) if isinstance(one, Mapping)]
        if by_key:
            return f"it returned {type(result).__name__}, but `direction` or `compute_insights` is given by key."
        return _wrong_values(result, batch)
    for declared in (metric.direction, metric.compute_insights):
        unknown = [key for key in declared if key not in result] if isinstance(declared, Mapping) else []
        if unknown:
            return f"`direction` or `compute_insights` names {unknown[0]!r}, but it returned {', '.join(result)}."
    faults = ((key, _wrong_values(value, batch)) for key, value in result.items())
    return next((f"{key}: {fault}" for key, fault in faults if fault), "")


def _wrong_values(result: Any, batch: int | None) -> str:
    if not (isinstance(result, list) and result and isinstance(result[0], list)):
        return wrong_numbers(result, batch)
    if not all(isinstance(one, ConfusionMatrixElement) for sample in result for one in sample):
        return "it returned lists in a list. Return one number a sample, or lists of ConfusionMatrixElement."
    return _wrong_length(len(result), batch)


def wrong_numbers(result: Any, batch: int | None) -> str:
    """Return why a loss cannot use a result; empty where it can. `batch` is how many samples there were."""
    if result is None:
        return "it returned None. Return one number for each sample of the batch."
    values = np.asarray(result, dtype=object if isinstance(result, list) else None)
    if values.ndim != 1:
        return f"it returned shape {values.shape}. Return one number for each sample: an array with one axis."
    numbers = values.dtype.kind in "biuf" or all(isinstance(one, int | float | np.number) for one in values)
    return _wrong_length(len(values), batch) if numbers else f"it returned {values.dtype}. Return numbers."


def _wrong_length(length: int, batch: int | None) -> str:
    if batch is None or length == batch:
        return ""
    return f"it returned {length} values for a batch of {batch}. Return one for each sample."


def wrong_visual(visualizer_type: LeapDataType, result: Any) -> str:
    """Return why a result is not what was declared; empty where it is."""
    wanted = f"Leap{visualizer_type.value}"
    if any(one.__name__ == wanted for one in type(result).__mro__):
        return ""
    return (
        f"it returned {type(result).__name__}, but its type is LeapDataType.{visualizer_type.name}: return a {wanted}."
    )
