"""Ranked tables and neighbours that a run keeps: made once, read after that, made anew where a file is damaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.neighbours import Index
from cutaway.analysis.neighbours.nearest import NEAREST, Nearest, nearest_of
from cutaway.analysis.population.names import file_name
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.origin import Origin
from cutaway.analysis.samples.ranked import Ranked
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.contract import Analysis

__all__ = ["kept_nearest", "kept_ranked"]

_NEAREST = "nearest"


def kept_ranked(
    origin: Origin | None,
    analysis: Analysis,
    settings: Mapping[str, Any],
    samples: Samples,
    make: Callable[[], Ranked],
) -> Ranked:
    """Return what a run keeps of an analysis; where it keeps nothing of the same, make it and keep it."""
    if origin is None:
        return make()
    kind = file_name(analysis.name)
    found = _read(origin, analysis, settings, samples)
    if found is not None:
        return found
    made = make()
    origin.keep(kind, settings, made.table, made.notes, words=list(made.words))
    return made


def kept_nearest(
    origin: Origin | None, samples: Samples, index: Callable[[], Index], progress: Listener | None = None
) -> Nearest:
    """Return the nearest others of every sample, from the run where it keeps them."""
    settings = {"k": NEAREST, "rows": len(samples)}
    held = None if origin is None else origin.kept_arrays(_NEAREST, settings)
    if held is not None:
        indices, distances = held[0].get("indices"), held[0].get("distances")
        if _are_nearest(indices, distances, samples):
            return Nearest(np.asarray(indices, np.int64), np.asarray(distances, np.float32))
    found = nearest_of(samples, index, progress=progress)
    if origin is not None:
        origin.keep_arrays(_NEAREST, settings, {"indices": found.indices, "distances": found.distances})
    return found


def _read(origin: Origin, analysis: Analysis, settings: Mapping[str, Any], samples: Samples) -> Ranked | None:
    held = origin.kept(file_name(analysis.name), settings)
    if held is None or not analysis.is_own(held.table, pa.array(samples.ids, pa.string()), samples.classes):
        return None
    words, notes = (held.about.get(one) for one in ("words", "notes"))
    if not all(isinstance(one, list) and all(isinstance(text, str) for text in one) for one in (words, notes)):
        return None
    return Ranked(held.table, tuple(words or ()), tuple(notes or ()))


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
