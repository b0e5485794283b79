"""Estimates what a heat map takes before anything runs, and how many rows of it a model may get at once."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cutaway.analysis.heat_maps.places import InputAxes
from cutaway.arrays import Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.models.description import Layer
from cutaway.models.model import Model

__all__ = ["MemoryEstimate", "estimate", "free_mb"]

_MB = 1024 * 1024
# The changed samples, what the framework holds of them, the gradient, and a copy of each on their way.
_COPIES = 5
# Layers that say nothing of their shape: as if they had this many channels at every place of the input.
_CHANNELS = 32
_SHARE_OF_FREE = 0.25
# What takes less is never too much, and not worth to ask the system for.
_LITTLE_MB = 64.0
_WHERE_NOTHING_SAYS = 2048.0


@dataclass(frozen=True)
class MemoryEstimate:
    """What a heat map takes, in MB: `fixed_mb` for its result, and `row_mb` for each row that the model gets at once.

    `rows` is how many rows it gets at once so that all stays within `bound_mb`. Layers are counted with all their
    values, an axis of unknown size as long as the input's: an upper bound for most models.
    """

    row_mb: float
    fixed_mb: float
    bound_mb: float
    rows: int


def estimate(
    model: Model,
    arrays: Mapping[str, Array],
    axes: InputAxes,
    *,
    gradients: bool,
    packs: bool,
    batch_size: int,
    memory_mb: float | None,
) -> MemoryEstimate:
    """Return what a method takes; `packs` says that it changes every sample many times. Raises where no row fits."""
    if batch_size < 1:
        raise ConfigurationError(f"`batch_size >= 1` must hold, but got batch_size={batch_size}.")
    if memory_mb is not None and not memory_mb > 0:
        raise ConfigurationError(f"`memory_mb > 0` must hold, but got memory_mb={memory_mb}.")
    count = max(len(values) for values in arrays.values())
    layers = [_size(layer, axes) for layer in model.layers]
    # In a prediction a layer's values go when the next has its own; for gradients all are kept, with their gradients.
    held = 2 * sum(layers) if gradients else sum(sorted(layers)[-2:])
    row = (_COPIES * sum(_row_bytes(values) for values in arrays.values()) + 4 * held) / _MB
    fixed = count * 3 * _row_bytes(arrays[axes.name]) / _MB
    # A model with a batch size of its own gets whole batches, however few samples are in them.
    least = next((spec.batch_size for spec in model.inputs if spec.batch_size is not None), None) or 1
    wanted = -(-(batch_size if packs else max(min(batch_size, count), 1)) // least) * least
    bound = _bound(fixed + wanted * row) if memory_mb is None else float(memory_mb)
    fitting = int((bound - fixed) // max(row, 1e-9)) if bound > fixed else 0
    if fitting < least:
        raise AnalysisUnavailable(
            "heat map in so little memory",
            f"the result takes about {fixed:.1f} MB and a batch of {least} for the model {row * least:.1f} MB, but "
            f"{bound:.1f} MB are allowed.",
            hint="Give fewer samples at once, or more with `memory_mb`.",
        )
    return MemoryEstimate(row, fixed, bound, min(wanted, fitting // least * least))


def _bound(needed: float) -> float:
    return _LITTLE_MB if needed <= _LITTLE_MB else max(_LITTLE_MB, _SHARE_OF_FREE * free_mb())


def free_mb() -> float:
    """Return how much memory is free for this process, as far as the system says."""
    found = [_WHERE_NOTHING_SAYS]
    try:
        found = [os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / _MB]
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = [int(line.split()[1]) / 1024 for line in lines if line.startswith("MemAvailable:")] or found
        group = Path("/sys/fs/cgroup")
        most = (group / "memory.max").read_text(encoding="ascii").strip()
        if most != "max":
            found.append((int(most) - int((group / "memory.current").read_text(encoding="ascii"))) / _MB)
    except (OSError, ValueError):
        # No Linux, or no such group: what was found until there counts.
        pass
    return max(min(found), 0.0)


def _row_bytes(values: Array) -> int:
    return math.prod(values.shape[1:]) * max(values.dtype.itemsize, 4)


def _size(layer: Layer, axes: InputAxes) -> int:
    """Return how many values a layer has for one sample, at most."""
    if layer.shape is None:
        return _CHANNELS * math.prod(axes.sizes)
    unknown = iter(axes.sizes)
    return math.prod(next(unknown, 1) if size is None else size for size in layer.shape[1:])
