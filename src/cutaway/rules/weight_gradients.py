"""Which weights are trained: those that have a gradient. The others stand still on purpose.

With mixed precision, also at which steps: where a gradient overflows the scaler skips the update of all weights.
"""

from __future__ import annotations

import numpy as np

from cutaway.arrays import BoolArray
from cutaway.rules.selecting import in_collection
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.statistics_blocks import StatisticsBlock

__all__ = ["SCALE", "has_gradient"]

PREFIX = "gradient/"
# What a hook records where gradients are scaled.
SCALE = "gradient_scale"


def has_gradient(reader: TensorReader, block: StatisticsBlock) -> BoolArray:
    """Return for every tensor and step of a block whether the tensor's gradient has statistics there too.

    In a run that keeps no gradients at all nobody knows, and every tensor counts as trained. A step whose update was
    skipped has no gradient that counts.
    """
    every = in_collection(reader, "gradients")
    if not every:
        return np.ones((len(block.names), len(block)), bool)
    found = np.zeros((len(block.names), len(block)), bool)
    rows = {f"{PREFIX}{name}": row for row, name in enumerate(block.names)}
    for gradients in reader.statistics_blocks(list(rows), int(block.steps[0]), int(block.steps[-1]) + 1):
        found[[rows[name] for name in gradients.names]] = np.isin(block.steps, gradients.steps)
    if SCALE in reader.scalar_names():
        for gradients in reader.statistics_blocks(every, int(block.steps[0]), int(block.steps[-1]) + 1):
            skipped = gradients.steps[(gradients["nonfinite"] > 0).any(axis=0)]
            found[:, np.isin(block.steps, skipped)] = False
    return found
