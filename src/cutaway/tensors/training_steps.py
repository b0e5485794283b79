"""Which steps of a run train the model, and which only evaluate it: by their modes, and by whether weights change."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cutaway.arrays import Array, BoolArray
from cutaway.tensors.modes import ModeKeys

__all__ = ["TrainingSteps"]


class TrainingSteps:
    """Tells the steps that train from the others, window after window of one process's rows of `trace/steps`.

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
