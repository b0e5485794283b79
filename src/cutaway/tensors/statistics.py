"""The numpy reference of every statistic and reduction, in float64.

This is the definition that faster code is checked against. Statistics are over the finite values of a tensor, beside
the count of the others; reductions are over all values, so that a NaN shows, as in numpy. Standard deviation and
variance divide by the number of values; norms are those of the flattened tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from cutaway.arrays import Float64Array
from cutaway.tensors.reduction_config import parse_reduction

__all__ = ["Statistics", "from_statistics", "reduce", "reference_change", "reference_statistics"]


# Squares of values between these neither overflow nor underflow, even summed over any tensor that fits in memory.
_SAFE = (1e-140, 1e140)
# The captured norms are within 1e-5, so a variance made of them is good to 1e-3 where at least this share is left
# after the subtraction.
_SOUND_SHARE = 0.05


@dataclass(frozen=True)
class Statistics:
    """One row of a run's statistics: numbers over the finite values, and the counts.

    `size` counts all values, `nonfinite` the NaN and infinite ones, `zeros` the exact zeros. With no finite value
    `min`, `max`, `mean`, `std` and `abs_min` are NaN, and `l1` and `l2` are 0.
    """

    size: int
    nonfinite: int
    zeros: int
    min: float
    max: float
    mean: float
    std: float
    l1: float
    l2: float
    abs_min: float


def reference_statistics(array: ArrayLike) -> Statistics:
    """Return the statistics of an array of any real type and shape.

    >>> found = reference_statistics([3.0, 0.0, float("nan"), -4.0])
    >>> found.size, found.nonfinite, found.zeros, found.min, found.max, found.l1, found.l2
    (4, 1, 1, -4.0, 3.0, 7.0, 5.0)
    """
    flat = _flat(array)
    finite = flat[np.isfinite(flat)]
    counts = {"size": flat.size, "nonfinite": flat.size - finite.size, "zeros": int(np.count_nonzero(finite == 0))}
    if finite.size == 0:
        return Statistics(
            **counts, min=math.nan, max=math.nan, mean=math.nan, std=math.nan, l1=0, l2=0, abs_min=math.nan
        )
    lowest, highest = float(finite.min()), float(finite.max())
    absolute = np.absolute(finite)
    scale = _scale(max(-lowest, highest))
    l1, l2 = float(np.sum(absolute * scale)) / scale, _norm(finite, scale)
    # A constant is its own mean; a sum and a division would only nearly give it back.
    mean = lowest if lowest == highest else float(np.mean(finite * scale)) / scale
    std = 0.0 if lowest == highest else _norm(finite * scale - mean * scale, 1.0) / scale / math.sqrt(finite.size)
    return Statistics(
        **counts, min=lowest, max=highest, mean=mean, std=std, l1=l1, l2=l2, abs_min=float(absolute.min())
    )


def reference_change(current: ArrayLike, previous: ArrayLike) -> float:
    """Return the l2 norm of the change of a tensor, over the places where both of its values are finite."""
    now, before = _flat(current), _flat(previous)
    both = np.isfinite(now) & np.isfinite(before)
    change = now[both] - before[both]
    return _norm(change, _scale(float(np.max(np.absolute(change), initial=0.0))))


def reduce(array: ArrayLike, reduction: str, *, abs: bool = False) -> float:
    """Return one reduction of all values, computed in float64; `abs` takes absolute values first.

    A NaN makes the result NaN. Of no values the sum and the norms are 0, the product is 1, all else is NaN.

    >>> reduce([[1, -2], [3, 4]], "l1"), reduce([[1, -2], [3, 4]], "max", abs=True)
    (10.0, 4.0)
    """
    name, absolute = parse_reduction(reduction)
    flat = _flat(array)
    values = np.absolute(flat) if abs or absolute else flat
    if values.size == 0 and name not in ("sum", "prod", "l1", "l2"):
        return math.nan
    # Infinities and NaN take part on purpose; numpy's warnings about them would reach the user's training.
    with np.errstate(all="ignore"):
        return float(_REDUCE[name](values))


def from_statistics(
    row: Statistics | Mapping[str, float], reduction: str, *, abs: bool = False, finite: bool = False
) -> float | None:
    """Return the reduction that a row of statistics answers, or None where it cannot.

    A product and a median cannot be had, nor a variance of absolute values where the norms would cancel. With
    non-finite values in the tensor the answer is NaN, unless `finite` asks for the finite values alone.
    """
    name, absolute = parse_reduction(reduction)
    values: Mapping[str, float] = asdict(row) if isinstance(row, Statistics) else row
    count = values["size"] - values["nonfinite"]
    if name in ("prod", "median"):
        return None
    if values["nonfinite"] and not finite:
        return math.nan
    if count == 0:
        return 0.0 if name in ("sum", "l1", "l2") else math.nan
    answers = _of_absolute_values(values, count) if abs or absolute else _of_values(values, count)
    answer = answers[name]
    return None if answer is None else float(answer)


def _of_values(values: Mapping[str, float], count: float) -> Mapping[str, float | None]:
    return {**values, "sum": values["mean"] * count, "variance": values["std"] ** 2}


def _of_absolute_values(values: Mapping[str, float], count: float) -> Mapping[str, float | None]:
    one_sign = values["min"] >= 0 or values["max"] <= 0
    variance = values["std"] ** 2 if one_sign else _variance_of_norms(values["l1"], values["l2"], count)
    return {
        **values,
        "min": values["abs_min"],
        "max": max(-values["min"], values["max"]),
        "sum": values["l1"],
        "mean": values["l1"] / count,
        "variance": variance,
        "std": None if variance is None else math.sqrt(variance),
    }


def _variance_of_norms(l1: float, l2: float, count: float) -> float | None:
    """Return the variance of absolute values, or None where too little is left of the subtraction."""
    squares = l2 * l2 / count
    if not _SAFE[0] ** 2 < squares < _SAFE[1] ** 2:
        return None
    variance = squares - (l1 / count) ** 2
    return variance if variance >= _SOUND_SHARE * squares else None


def _flat(array: ArrayLike) -> Float64Array:
    values = np.asarray(array)
    if np.iscomplexobj(values):
        raise TypeError("Statistics are of real numbers, but got a complex array. Take `numpy.absolute` of it first.")
    with np.errstate(invalid="ignore"):  # some bit patterns of NaN make a cast warn
        return values.astype(np.float64).reshape(-1)


def _scale(largest: float) -> float:
    """Return the power of two that brings values whose squares would overflow or underflow near 1, else 1."""
    if largest == 0 or _SAFE[0] < largest < _SAFE[1]:
        return 1.0
    # Beyond 2**1022 the power itself would overflow; denormal values gain enough from that.
    return math.ldexp(1.0, min(1022, -math.frexp(largest)[1]))


def _norm(values: Float64Array, scale: float) -> float:
    scaled = values * scale
    return math.sqrt(float(np.sum(scaled * scaled))) / scale


_REDUCE: Mapping[str, Callable[[Float64Array], np.floating]] = {
    "min": np.min,
    "max": np.max,
    "mean": np.mean,
    "std": np.std,
    "variance": np.var,
    "sum": np.sum,
    "prod": np.prod,
    "median": np.median,
    "l1": lambda values: np.sum(np.absolute(values)),
    "l2": lambda values: np.sqrt(np.sum(np.square(values))),
}
