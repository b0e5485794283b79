"""Columns of metadata that have nothing to do with anything, of several kinds, and two that may be sick."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["BATCH", "CAMERA", "NOISE", "SICK_BATCH", "SICK_CAMERA", "columns_of"]

CAMERA, SICK_CAMERA = "metadata.camera", "d"
BATCH, SICK_BATCH = "metadata.batch", "b17"
# So many of the samples are of the batch that may be sick.
BATCH_SHARE = 0.025
NOISE = frozenset(f"metadata.{name}" for name in ("shelf", "operator", "temperature", "ticket", "code", "weight"))
"""What no insight may be about."""

Strings = npt.NDArray[np.str_]


def columns_of(random: np.random.Generator, chances: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Return the columns of samples that have these chances to be of the camera that may be sick."""
    count = len(chances)
    batches = np.array([f"b{number}" for number in range(1, 17)] + [SICK_BATCH])
    operators = np.array([f"o{number}" for number in range(12)])
    popular = 1 / np.arange(1, 13)
    others = random.choice(np.array(["a", "b", "c"]), count)
    batch = np.append(np.full(16, (1 - BATCH_SHARE) / 16), BATCH_SHARE)
    return {
        CAMERA: np.where(random.random(count) < chances, SICK_CAMERA, others),
        BATCH: random.choice(batches, count, p=batch),
        "metadata.shelf": random.integers(1, 9, count),
        "metadata.operator": random.choice(operators, count, p=popular / popular.sum()),
        "metadata.temperature": random.normal(20, 4, count),
        "metadata.weight": random.lognormal(0, 1.5, count),
        "metadata.ticket": random.permutation(10 * count)[:count],
        "metadata.code": np.array([f"{number:x}" for number in random.permutation(16 * count)[:count]]),
    }
