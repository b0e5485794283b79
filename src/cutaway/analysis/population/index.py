"""The neighbours of a population, made once and kept in the run: the index, and the nearest others of every sample."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from cutaway.analysis.neighbours import Index, build_index, index_from_parts
from cutaway.analysis.neighbours.nearest import NEAREST, Nearest, nearest_of
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.origin import Origin
from cutaway.errors import CutawayError
from cutaway.evaluation.progress import Listener

__all__ = ["kept_nearest", "population_index"]

log = logging.getLogger("cutaway.analysis")

NEIGHBOURS = "neighbours"
SEED = 0


def population_index(samples: Samples, origin: Origin | None, progress: Listener | None = None) -> Index:
    """Return the index of some samples; an approximate one of a run is kept, since building it takes a minute."""
    settings = {"seed": SEED, "rows": len(samples)}
    held = None if origin is None else origin.kept_arrays(NEIGHBOURS, settings)
    if held is not None:
        try:
            return index_from_parts(samples.latents, held[0])
        except CutawayError as error:
            # A damaged file costs the time to build it anew, never a wrong answer.
            log.warning("The kept index of neighbours is built anew: %s", error)
    index = build_index(samples.latents, seed=SEED, progress=progress)
    if origin is not None and not index.exact:
        origin.keep_arrays(NEIGHBOURS, settings, index.parts(), recall=index.recall)
    return index


def kept_nearest(
    origin: Origin | None, samples: Samples, index: Callable[[], Index], progress: Listener | None = None
) -> Nearest:
    """Return the nearest others of every sample, from the run where it keeps them."""
    settings = {"k": NEAREST, "rows": len(samples)}
    held = None if origin is None else origin.kept_arrays("nearest", settings)
    if held is not None:
        indices, distances = held[0].get("indices"), held[0].get("distances")
        if _are_nearest(indices, distances, samples):
            return Nearest(np.asarray(indices, np.int64), np.asarray(distances, np.float32))
    found = nearest_of(samples, index, progress=progress)
    if origin is not None:
        origin.keep_arrays("nearest", settings, {"indices": found.indices, "distances": found.distances})
    return found


def _are_nearest(indices: Any, distances: Any, samples: Samples) -> bool:
    """Whether arrays may be the neighbours of these samples: others, that have a latent vector, the nearest first."""
    rows = len(samples)
    if not (
        isinstance(indices, np.ndarray)
        and isinstance(distances, np.ndarray)
        and indices.shape == distances.shape == (rows, NEAREST)
        and indices.dtype == np.int64
        and distances.dtype == np.float32
    ):
        return False
    if rows == 0:
        return True
    there = indices >= 0
    return bool(
        indices.min() >= -1
        and indices.max() < rows
        and (indices != np.arange(rows)[:, None]).all()
        and (distances >= 0).all()
        and (distances[:, 1:] >= distances[:, :-1]).all()
        and (np.isfinite(distances) == there).all()
        and (there[:, 0] == (samples.finite & (samples.finite.sum() > 1))).all()
        and samples.finite[indices[there]].all()
    )
