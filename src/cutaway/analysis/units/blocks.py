"""The units of a latent space a few at a time, so that memory stays bounded however large the space is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.coding import left_out
from cutaway.arrays import Float32Array
from cutaway.errors import AnalysisUnavailable

__all__ = ["left_out_rows", "refuse_nothing", "unit_blocks"]

# Of numbers held at once: 64 MB.
MOST_NUMBERS = 1 << 24


def unit_blocks(samples: Samples) -> Iterator[tuple[int, Float32Array]]:
    """Yield the number of a first unit, and the values of it and the next ones: a row a unit, a column a usable row."""
    rows, width = samples.latents.shape
    whole = bool(samples.finite.all())
    step = max(1, MOST_NUMBERS // max(rows, 1))
    for first in range(0, width, step):
        block = np.ascontiguousarray(samples.latents[:, first : first + step].T)
        yield first, block if whole else block[:, samples.finite]


def refuse_nothing(samples: Samples, analysis: str) -> None:
    """Raise where no row or no unit is there to look at."""
    if not samples.latents.shape[1]:
        raise AnalysisUnavailable(analysis, "the latent space has no units.")
    if not samples.finite.any():
        raise AnalysisUnavailable(analysis, f"none of {len(samples):,} samples has a finite latent vector.")


def left_out_rows(samples: Samples) -> tuple[str, ...]:
    """Say how many samples have no usable latent vector."""
    return left_out(len(samples), {"without a finite latent vector": int((~samples.finite).sum())})
