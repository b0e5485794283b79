"""The points of a map as they travel: which row, and where, in the one order of the population."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.arrays import Float32Array
from cutaway.errors import ConfigurationError, did_you_mean
from cutaway.run.evaluated.kept import METHODS, map_kind
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.populations.kept_tables import Placed
from cutaway.studio.populations.loaded import Loaded

__all__ = ["points_table", "shown_map"]


def shown_map(loaded: Loaded, method: str = "") -> Placed:
    """Return a map of a population: of the method that is asked for, or the first that there is. Refused without."""
    if method and method not in METHODS:
        raise ConfigurationError(
            f"There is no map by {method!r}.", hint=f"{did_you_mean(method, METHODS)} There are {', '.join(METHODS)}."
        )
    found = loaded.map(method) if method else next(loaded.maps(), None)
    if found is not None:
        return found
    how = f" --method {method}" if method and method != METHODS[0] else ""
    said = f"Evaluation {loaded.number} of run {loaded.run.name!r} has no map{f' by {method}' if method else ''}."
    reasons = [note for note in loaded.kept_notes if "'map'" in note]
    raise Refusal(404, "map-unavailable", " ".join([said, *reasons]), f"`cutaway analyze {loaded.run.name} map{how}`")


def points_table(loaded: Loaded, method: str = "", like: Loaded | None = None) -> pa.Table:
    """Return row, x and y of every point; with `like`, of that population's samples in its order."""
    placed = shown_map(loaded, method)
    if like is None:
        stamp = loaded.kept_stamp(map_kind(placed.method))
        return loaded.remembered(
            ("points", placed.method), stamp, lambda: _table(loaded, loaded, placed, placed.positions)
        )
    return _table(loaded, like, placed, _carried(loaded, like, placed.positions))


def _table(loaded: Loaded, of: Loaded, placed: Placed, positions: Float32Array) -> pa.Table:
    """Return the points of the samples of one evaluation, where they lie on the map of another or the same."""
    order = of.order
    about = {
        "n": len(order),
        "method": placed.method,
        "trustworthiness": placed.trustworthiness,
        "evaluation": loaded.number,
        "samples": of.samples_digest,
    }
    columns = {"row": order, "x": positions[:, 0][order], "y": positions[:, 1][order]}
    return pa.table(columns).replace_schema_metadata({key: json.dumps(value) for key, value in about.items()})


def _carried(loaded: Loaded, like: Loaded, positions: Float32Array) -> Float32Array:
    """Return the places of another population's samples on this map, NaN for those that are not on it."""
    if like is loaded or like.ids.equals(loaded.ids):
        return positions
    rows = pc.index_in(like.ids, value_set=loaded.ids).fill_null(-1).to_numpy(zero_copy_only=False)
    found = np.full((len(like), 2), np.nan, np.float32)
    found[rows >= 0] = positions[rows[rows >= 0]]
    return found
