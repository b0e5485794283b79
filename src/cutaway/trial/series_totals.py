"""What a series of numbers comes to: the one place where its first, last, least and largest value are found.

A series is one name in one mode. What is not finite is counted, and is neither the least nor the largest value; it is
the last one where it came last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from cutaway.arrays import Array, Float64Array

__all__ = ["Key", "Outline", "SeriesTotals", "in_order", "is_loss", "totals_of"]

# Name and mode.
Key = tuple[str, str]
# A mode's scalars in this order of interest.
_MODES = ("TRAIN", "GLOBAL", "EVAL", "PREDICT")
# A scalar that people call a loss, or what a loss that was registered returned; perhaps with the mode behind it.
_LOSS = re.compile(
    r"loss(?:es)?(?:_output_\d+)?(?:[\W_]+(?:train(?:ing)?|val(?:id(?:ation)?)?|eval(?:uation)?|test))?$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class SeriesTotals:
    """A series in numbers. `min` and `max` are over its finite values; None where it has none."""

    count: int
    nonfinite: int
    first: float
    first_step: int
    last: float
    last_step: int
    min: float | None
    max: float | None

    def joined(self, later: SeriesTotals) -> SeriesTotals:
        """Return the totals of both; of one step what was written first is the first, and what came later the last."""
        oldest = later if later.first_step < self.first_step else self
        newest = later if later.last_step >= self.last_step else self
        return SeriesTotals(
            self.count + later.count,
            self.nonfinite + later.nonfinite,
            oldest.first,
            oldest.first_step,
            newest.last,
            newest.last_step,
            min((one for one in (self.min, later.min) if one is not None), default=None),
            max((one for one in (self.max, later.max) if one is not None), default=None),
        )


def totals_of(steps: Array, values: Float64Array) -> SeriesTotals:
    """Return the totals of values, at least one, ascending in their steps."""
    finite = values[np.isfinite(values)]
    return SeriesTotals(
        len(values),
        len(values) - len(finite),
        float(values[0]),
        int(steps[0]),
        float(values[-1]),
        int(steps[-1]),
        float(finite.min()) if len(finite) else None,
        float(finite.max()) if len(finite) else None,
    )


class Outline:
    """How a series went, to be drawn small: its values while they are few, means of neighbours once they are many."""

    MOST = 512

    def __init__(self) -> None:
        self._means: Float64Array = np.empty(0)
        self._each = 1  # how many values one mean is of
        self._open: Float64Array = np.empty(0)

    def add(self, values: Float64Array) -> None:
        """Take in what comes next."""
        waiting = np.concatenate((self._open, values))
        whole = len(waiting) // self._each * self._each
        self._means = np.concatenate((self._means, _means(waiting[:whole], self._each)))
        self._open = waiting[whole:]
        while len(self._means) > self.MOST:
            if len(self._means) % 2:
                # The odd one waits as what it is the mean of.
                self._open = np.concatenate((np.repeat(self._means[-1], self._each), self._open))
            self._means = _means(self._means[: len(self._means) // 2 * 2], 2)
            self._each *= 2

    def values(self) -> list[float]:
        """Return what there is so far."""
        rest = _means(self._open, len(self._open)) if len(self._open) else self._open
        return [*self._means.tolist(), *rest.tolist()]


def is_loss(name: str) -> bool:
    """Whether a number is a loss, from its name.

    >>> [is_loss(name) for name in ("val_loss", "loss/train", "MSELoss_output_0", "loss_scale")]
    [True, True, True, False]
    """
    return _LOSS.search(name) is not None


def in_order(series: Iterable[Key]) -> list[Key]:
    """Order names and modes: losses first, then by name; of one name the training's before the others."""

    def key(item: Key) -> tuple[bool, int, str, str]:
        name, mode = item
        return (not is_loss(name), _MODES.index(mode) if mode in _MODES else len(_MODES), name, mode)

    return sorted(series, key=key)


def _means(values: Float64Array, each: int) -> Float64Array:
    """Return the mean of every `each` neighbours; what is not finite makes its mean not finite."""
    with np.errstate(invalid="ignore"):
        # Divided first: the sum of huge values may overflow, their mean does not.
        found: Float64Array = (values.reshape(-1, each) / each).sum(axis=1)
    return found
