"""All numbers of a run in a few: what it saved as scalars, and where none of these is a loss, what its losses returned.

Tables of runs, one run, several side by side, commands and the API tell the numbers of a series from here. They are
exact, and kept up to date as rows arrive.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from cutaway.run.identity import Run
from cutaway.run.plain_text import plain_text
from cutaway.run.tables import Damage
from cutaway.trial.loss_totals import LossTotals
from cutaway.trial.scalar_totals import ScalarTotals
from cutaway.trial.series_totals import Key, SeriesTotals, in_order, is_loss
from cutaway.trial.summary import shrink

__all__ = ["LossFacts", "RunTotals", "ScalarFacts"]

GLANCE_POINTS = 48
# A series in JSON has no more points than this, each the mean of a stretch.
MOST_POINTS = 120


class ScalarFacts(NamedTuple):
    """One series: its first, last and best finite values, the last step, and how it went."""

    name: str
    mode: str
    first: float
    last: float
    step: int
    min: float | None
    max: float | None
    series: list[float | None]


class LossFacts(NamedTuple):
    """A glance at the loss; None stands for what is not finite."""

    name: str
    last: float | None
    best: float | None
    values: tuple[float | None, ...]


class RunTotals:
    """The series of one run, and what each comes to. Belongs to one thread."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._saved = ScalarTotals()
        self._losses: LossTotals | None = None

    def poll(self) -> None:
        """Take in what has been written since the last time."""
        self._saved.poll(self._run)
        if any(is_loss(name) for name, _ in self._saved.series):
            self._losses = None
            return
        self._losses = self._losses or LossTotals(self._run)
        self._losses.poll()

    @property
    def damage(self) -> list[Damage]:
        """What could not be read so far."""
        return [*self._saved.damage, *(self._losses.damage if self._losses else ())]

    @property
    def saved(self) -> Mapping[Key, SeriesTotals]:
        """The totals of what was saved as scalars."""
        return self._saved.series

    @property
    def series(self) -> Mapping[Key, SeriesTotals]:
        """The totals of every series."""
        return {**(self._losses.series if self._losses else {}), **self._saved.series}

    @property
    def losses(self) -> Mapping[Key, SeriesTotals]:
        """The totals of the losses: of those saved as scalars, or where there are none of what losses returned."""
        named = {key: one for key, one in self._saved.series.items() if is_loss(key[0])}
        return named or (self._losses.series if self._losses else {})

    @property
    def loss_key(self) -> Key | None:
        """Which series is the loss of the run: the training's before others; None where there is none."""
        return next(iter(in_order(self.losses)), None)

    def facts(self) -> list[ScalarFacts]:
        """Return every series in numbers, the losses first."""
        return [self._facts(key) for key in in_order(self.series)]

    def loss(self) -> ScalarFacts | None:
        """Return the loss in numbers."""
        key = self.loss_key
        return None if key is None else self._facts(key)

    def glance_at_loss(self) -> LossFacts | None:
        """Return the loss for a list of many runs."""
        key = self.loss_key
        if key is None:
            return None
        one = self.series[key]
        values = tuple(_drawn(value) for value in shrink(self._outline(key), GLANCE_POINTS))
        return LossFacts(plain_text(key[0], 200), one.last if math.isfinite(one.last) else None, one.min, values)

    def _facts(self, key: Key) -> ScalarFacts:
        one = self.series[key]
        series = shrink(self._outline(key), MOST_POINTS)
        return ScalarFacts(*key, one.first, one.last, one.last_step, one.min, one.max, series)

    def _outline(self, key: Key) -> list[float]:
        owner = self._losses if self._losses and key not in self._saved.series else self._saved
        return owner.outlines[key].values()


def _drawn(value: float | None) -> float | None:
    # As exact as a line of a few dozen pixels shows; ten thousand of them are held and sent.
    return float(f"{value:.6g}") if value is not None and math.isfinite(value) else None
