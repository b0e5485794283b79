"""Which weights are trained: those that have a gradient. The others stand still on purpose."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cutaway.rules.selecting import in_collection
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock

__all__ = ["has_gradient"]

PREFIX = "gradient/"


def has_gradient(reader: TensorReader, block: StatisticsBlock) -> npt.NDArray[np.bool_]:
    """Return for every tensor and step of a block whether the tensor's gradient has statistics there too.

    In a run that keeps no gradients at all nobody knows, and every tensor counts as trained.
    """
    if not in_collection(reader, "gradients"):
        return np.ones((len(block.names), len(block)), bool)
    found = np.zeros((len(block.names), len(block)), bool)
    rows = {f"{PREFIX}{name}": row for row, name in enumerate(block.names)}
    for gradients in reader.statistics_blocks(list(rows), int(block.steps[0]), int(block.steps[-1]) + 1):
        found[[rows[name] for name in gradients.names]] = np.isin(block.steps, gradients.steps)
    return found
