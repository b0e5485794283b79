"""The class of each sample, as a label: of its ground truth, and of what was predicted. Only where there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cutaway.arrays import Array

__all__ = ["Labels", "label_columns"]


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
