"""Ranked tables and neighbours that a run keeps: made once, read after that, made anew where a file is damaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cutaway.analysis.nearest import NEAREST, Nearest, nearest_of
from cutaway.analysis.neighbours import Index
from cutaway.analysis.origin import Origin
from cutaway.analysis.ranked import Ranked
from cutaway.analysis.samples import Samples
from cutaway.errors import ConfigurationError
from cutaway.evaluation.progress import Listener

__all__ = ["kept_nearest", "kept_ranked"]

_NEAREST = "nearest"


def kept_ranked(origin: Origin | None, kind: str, settings: Mapping[str, Any], make: Callable[[], Ranked]) -> Ranked:
    """Return what a run keeps of a question; where it keeps nothing of the same, make it and keep it."""
    found = None if origin is None else _read(origin, kind, settings)
    if found is not None or origin is None:
        return found or make()
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
        if _are_nearest(indices, distances, len(samples)):
            return Nearest(np.asarray(indices, np.int64), np.asarray(distances, np.float32))
    found = nearest_of(samples, index, progress=progress)
    if origin is not None:
        origin.keep_arrays(_NEAREST, settings, {"indices": found.indices, "distances": found.distances})
    return found


def _read(origin: Origin, kind: str, settings: Mapping[str, Any]) -> Ranked | None:
    held = origin.kept(kind, settings)
    if held is None:
        return None
    words, notes = (held.about.get(one) for one in ("words", "notes"))
    if not all(isinstance(one, list) and all(isinstance(text, str) for text in one) for one in (words, notes)):
        return None
    try:
        return Ranked(held.table, tuple(words or ()), tuple(notes or ()))
    except ConfigurationError:
        # Somebody else's file under our name.
        return None


def _are_nearest(indices: Any, distances: Any, rows: int) -> bool:
    return (
        isinstance(indices, np.ndarray)
        and isinstance(distances, np.ndarray)
        and indices.shape == distances.shape == (rows, NEAREST)
        and indices.dtype.kind == "i"
        and distances.dtype.kind == "f"
        and (rows == 0 or (int(indices.min()) >= -1 and int(indices.max()) < rows))
    )
