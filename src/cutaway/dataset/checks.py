"""Checks of what a single bound function returned: shape, dtype, values, label. Pure functions of arrays and values.

Calls nobody's function and knows no model; `cutaway.evaluation.check` decides which samples are looked at.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset.enums import DatasetInputType, DatasetOutputType
from cutaway.dataset.functions import Field
from cutaway.dataset.subset import Scalar
from cutaway.run.findings import Severity

__all__ = [
    "Problem",
    "Summary",
    "class_of",
    "digest_of_scalars",
    "has_several_labels",
    "is_missing",
    "label_problems",
    "summary",
]

# Numbers that a model or a ground truth can be made of.
NUMERIC = "biuf"
# An image, as a person would hand it over, has one to four channels beside rows and columns.
IMAGE_RANK = 3
IMAGE_CHANNELS = (1, 3, 4)
BRIGHTEST = 255.0


class Problem(NamedTuple):
    """Something wrong with a result: a code, how bad it is, what it is with its values, and the likely fix."""

    code: str
    severity: Severity
    message: str
    fix: str


@dataclass(frozen=True)
class Summary:
    """What is kept of an encoded sample, so that large ones need not be. `several_labels` is about a ground truth."""

    shape: tuple[int, ...]
    dtype: str
    digest: bytes
    largest: float = math.nan
    constant: bool = False
    several_labels: bool = False
    problems: tuple[Problem, ...] = field(default=())


def summary(values: Array, declared: Field) -> Summary:
    """Look at one encoded sample: its numbers, and whether they can be what they are declared to be."""
    values = np.asarray(values)
    digest = hashlib.blake2b(digest_size=16)
    if values.dtype.kind not in NUMERIC:
        digest.update(repr(values.tolist()).encode())
        return Summary(values.shape, str(values.dtype), digest.digest(), problems=(_not_numbers(values),))
    digest.update(f"{values.shape}{values.dtype.str}".encode())
    digest.update(np.ascontiguousarray(values).data)
    if not values.size:
        return Summary(values.shape, str(values.dtype), digest.digest(), problems=(_empty(values),))
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    lowest, highest = (float(finite.min()), float(finite.max())) if finite.size else (math.nan, math.nan)
    return Summary(
        values.shape,
        str(values.dtype),
        digest.digest(),
        largest=max(abs(lowest), abs(highest)),
        constant=values.size > 1 and lowest == highest,
        several_labels=has_several_labels(values),
        problems=(*_not_finite(values, finite.size), *_range(values, declared, lowest, highest)),
    )


def label_problems(values: Array, labels: Sequence[str], declared: Field) -> list[Problem]:
    """Return what is wrong with a ground truth whose classes have names.

    It may be the number of a class, or one column for each label; a mask has either for each pixel. What is neither, a
    box or a measurement, is left alone, and so is what only looks odd where the labels are not its own but those of
    the prediction.
    """
    values = np.asarray(values)
    if values.dtype.kind not in NUMERIC or not values.size or not np.isfinite(values).all():
        return []
    own = bool(declared.labels)
    if values.ndim and values.shape[-1] == len(labels) and values.shape != (1,):
        return _one_hot_problems(values) if own or _is_one_hot(values) else []
    if values.size == 1:
        return _index_problems(values, labels, own=own)
    if values.ndim > 1:
        return _index_problems(values, labels, own=False) if declared.type == DatasetOutputType.Mask else []
    if _is_one_hot(values) or (own and bool(np.isin(values, (0, 1)).all())):
        message = f"it is {values.shape[-1]} wide, but there are {len(labels)} labels ({first_and_last_labels(labels)})"
        fix = "Encode one column for each label, or give as many `labels` as there are columns."
        return [Problem("binding-label-width", "error", message, fix)]
    return []


def class_of(values: Array, classes: int = 0) -> int | None:
    """Return the class that a ground truth names, or None where it is not one class: a box, a mask, a measurement.

    `classes` is how many there are, 0 where nobody said.

    >>> class_of(np.eye(3)[1]), class_of(np.array(2)), class_of(np.array([0.3, 0.9])), class_of(np.array(0.5))
    (1, 2, None, None)
    """
    values = np.asarray(values)
    if values.dtype.kind not in NUMERIC or not values.size:
        return None
    if values.size == 1:
        number = float(values.reshape(()))
        # Without labels, whole numbers of a float may as well be measurements.
        return int(number) if number.is_integer() and (classes or values.dtype.kind in "biu") else None
    if values.ndim == 1 and _is_one_hot(values):
        return int(values.argmax())
    return None


def has_several_labels(values: Array) -> bool:
    """Whether a ground truth says that several labels hold at once: zeros, and more than a single one.

    >>> has_several_labels(np.array([1, 0, 1])), has_several_labels(np.array([0, 0, 1]))
    (True, False)
    """
    values = np.asarray(values)
    return bool(
        values.ndim == 1 and values.dtype.kind in NUMERIC and np.isin(values, (0, 1)).all() and values.sum() > 1
    )


def is_missing(value: Scalar) -> bool:
    """Whether a metadata value is none: None, NaN or an empty text."""
    return value is None or value == "" or (isinstance(value, float) and not math.isfinite(value))


def digest_of_scalars(values: Any) -> bytes:
    """Return the digest of metadata; NaN equals NaN, and 1 differs from 1.0 and from '1'."""
    return hashlib.blake2b(repr(values).encode(), digest_size=16).digest()


def _not_numbers(values: Array) -> Problem:
    message = f"it must be an array of numbers, but its dtype is {values.dtype}"
    fix = "Return one numpy array of float32. Parts of different lengths have to be padded to one length first."
    return Problem("binding-dtype", "error", message, fix)


def _empty(values: Array) -> Problem:
    return Problem("binding-shape", "error", f"it is empty: its shape is {values.shape}", "Return the sample's values.")


def _not_finite(values: Array, finite: int) -> list[Problem]:
    if finite == values.size:
        return []
    nans = int(np.isnan(values).sum())
    infinite = values.size - finite - nans
    if nans:
        message = f"{nans:,} of its {values.size:,} values are NaN"
        fix = "Look for a division by zero or a missing value in the encoder; `np.nan_to_num` replaces what is missing."
        return [Problem("binding-nan", "error", message, fix)]
    message = f"{infinite:,} of its {values.size:,} values are infinite"
    fix = "Look for a logarithm of 0, a division by zero or an overflow in the encoder."
    return [Problem("binding-infinite", "error", message, fix)]


def _range(values: Array, declared: Field, lowest: float, highest: float) -> list[Problem]:
    if values.dtype.kind != "f" or not _is_image(values, declared) or not (abs(lowest) > 255 or highest > BRIGHTEST):
        return []
    message = f"an image of {values.dtype} has values from {lowest:.4g} to {highest:.4g}, beyond [0, 255]"
    fix = "Scale it as the model was trained: usually / 255 once, to [0, 1]."
    return [Problem("binding-range", "warning", message, fix)]


def _is_image(values: Array, declared: Field) -> bool:
    if declared.type:
        return declared.type == DatasetInputType.Image
    return values.ndim == IMAGE_RANK and (values.shape[-1] in IMAGE_CHANNELS or values.shape[0] in IMAGE_CHANNELS)


def _is_one_hot(values: Array) -> bool:
    """Whether each row along the last axis is zeros and a single one."""
    return bool(values.ndim and values.shape[-1] > 1 and np.isin(values, (0, 1)).all() and (values.sum(-1) == 1).all())


def _one_hot_problems(values: Array) -> list[Problem]:
    if values.min() < 0 or values.max() > 1:
        message = f"one value a label must lie in [0, 1], but it goes from {values.min():.4g} to {values.max():.4g}"
        fix = "Return zeros and a one (`np.eye(classes)[label]`), or probabilities."
        return [Problem("binding-label-values", "error", message, fix)]
    if not values.any():
        message = "it names no class: all its columns are 0"
        fix = "If that is meant (several labels may hold, also none), leave it; otherwise look at this sample's label."
        return [Problem("binding-label-values", "warning", message, fix)]
    return []


def _index_problems(values: Array, labels: Sequence[str], *, own: bool) -> list[Problem]:
    whole = values == np.floor(values)
    if not whole.all():
        if not own:
            return []
        message = f"{float(values[~whole].flat[0]):.4g} is not the number of a class"
        fix = "Return the number of the class, or one column for each label."
        return [Problem("binding-label-values", "error", message, fix)]
    outside = values[(values < 0) | (values >= len(labels))]
    # One label that is not its own says nothing about classes: the prediction may be a measurement.
    if not outside.size or (not own and len(labels) == 1):
        return []
    message = f"class {int(outside.flat[0])} is outside of the {len(labels)} labels (0 to {len(labels) - 1})"
    fix = "Count classes from 0, and name every class in `labels`."
    return [Problem("binding-label-range", "error", message, fix)]


def first_and_last_labels(labels: Sequence[str]) -> str:
    return ", ".join(labels) if len(labels) <= 4 else f"{', '.join(labels[:3])}, ... {labels[-1]}"
