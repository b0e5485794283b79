"""The loss of a run over its steps, from its losses' tensors, or from scalars where it registered none; and which of
the steps train: not all people who train call `set_mode`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from cutaway.arrays import Array, BoolArray, Float64Array, Int64Array
from cutaway.rules.selecting import in_collection
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader

__all__ = ["LossCurve", "TrainingSteps", "loss_names", "losses"]

# What people call a loss that they save with `hook.save_scalar`.
_SCALAR = re.compile(r"(?:^|[/_.])loss$", re.IGNORECASE)


class TrainingSteps:
    """Tells the steps that train from the others, window after window.

    Those of TRAIN do, and those of no mode, which people who never call `set_mode` train in. Once such steps were seen
    to update weights, one of no mode that does not is an evaluation whose mode nobody set.
    """

    def __init__(self) -> None:
        self._updates = False

    def among(self, rows: Mapping[str, Array]) -> BoolArray:
        """Say for each row of a window of steps whether it trains."""
        no_mode = rows["mode"] == ModeKeys.GLOBAL.name
        updated = no_mode & np.isfinite(np.asarray(rows["optimizer"], np.float64))
        seen = np.logical_or.accumulate(updated) | self._updates
        self._updates = self._updates or bool(updated.any())
        found: BoolArray = (rows["mode"] == ModeKeys.TRAIN.name) | (no_mode & (updated | ~seen))
        return found


class LossCurve(NamedTuple):
    """One loss in one mode: its steps, ascending, and its values; the first `fresh` lie before the window."""

    name: str
    mode: ModeKeys
    steps: Int64Array
    values: Float64Array
    fresh: int


def loss_names(reader: TensorReader) -> tuple[list[str], list[str]]:
    """Return the tensors and, where there are none, the scalars that are losses."""
    tensors = in_collection(reader, "losses")
    return tensors, [] if tensors else [name for name in reader.scalar_names() if _SCALAR.search(name)]


def losses(
    reader: TensorReader,
    start: int,
    stop: int,
    mode: ModeKeys,
    *,
    before: int = 0,
    tensors: Iterable[str] | None = None,
) -> list[LossCurve]:
    """Return every loss of a mode for `start <= step < stop`, each with up to `before` earlier values.

    `tensors` names other tensors of one number than the run's losses.
    """
    named, scalars = loss_names(reader) if tensors is None else (list(tensors), [])
    found = []
    for block in reader.statistics_blocks(named, start, stop, before=before, mode=mode):
        for row, name in enumerate(block.names):
            if (block["size"][row] == 1).all():
                values = np.where(block["nonfinite"][row] > 0, np.nan, block["mean"][row])
                found.append(LossCurve(name, mode, block.steps, values, block.fresh))
    for name in scalars:
        rows = reader.scalar_window(name, 0 if before else start, stop, mode)
        cut = max(int(np.searchsorted(rows["step"], start)) - before, 0)
        steps, values = rows["step"][cut:], rows["value"][cut:]
        if len(steps):
            found.append(LossCurve(name, mode, steps, values, int(np.searchsorted(steps, start))))
    return sorted(found, key=lambda loss: loss.name)
