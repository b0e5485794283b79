"""Ranked tables and neighbours that a run keeps: made once, read after that, made anew where a file is damaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.neighbours import Index
from cutaway.analysis.neighbours.nearest import NEAREST, Nearest, nearest_of
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.origin import Origin
from cutaway.analysis.samples.ranked import Ranked
from cutaway.evaluation.progress import Listener

__all__ = ["is_ranked", "kept_nearest", "kept_ranked"]

_NEAREST = "nearest"
# What whoever reads a kept table counts on beside sample, score and reason. A run may come from anybody.
_TEXT, _NUMBER, _COUNT = pa.string(), pa.float64(), pa.int64()
_PAIRS = {"other": _TEXT, "kind": _TEXT, "distance": _NUMBER, "subset": _TEXT, "other_subset": _TEXT, "group": _COUNT}
_INSIGHTS = "insights"
_COLUMNS: dict[str, dict[str, pa.DataType]] = {
    "mislabeled": dict.fromkeys(("subset", "label", "suggested"), _TEXT),
    "ambiguous": {"between": _TEXT, "subset": _TEXT},
    "duplicates": _PAIRS,
    "leakage": _PAIRS,
    "outliers": {"distance": _NUMBER, "usual": _NUMBER, "p": _NUMBER, "subset": _TEXT},
    _INSIGHTS: {
        **dict.fromkeys(("kind", "where", "subset", "measure", "action", "buys", "also"), _TEXT),
        "count": _COUNT,
        "share": _NUMBER,
    },
}
# No more insights than this are ever told.
_MOST_INSIGHTS = 10_000


def kept_ranked(
    origin: Origin | None, kind: str, settings: Mapping[str, Any], samples: Samples, make: Callable[[], Ranked]
) -> Ranked:
    """Return what a run keeps of a question about samples; where it keeps nothing of the same, make it and keep it."""
    if origin is None:
        return make()
    found = _read(origin, kind, settings, samples)
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


def _read(origin: Origin, kind: str, settings: Mapping[str, Any], samples: Samples) -> Ranked | None:
    held = origin.kept(kind, settings)
    if held is None or not is_ranked(held.table, kind, pa.array(samples.ids, _TEXT), samples.classes):
        return None
    words, notes = (held.about.get(one) for one in ("words", "notes"))
    if not all(isinstance(one, list) and all(isinstance(text, str) for text in one) for one in (words, notes)):
        return None
    return Ranked(held.table, tuple(words or ()), tuple(notes or ()))


def is_ranked(table: pa.Table, kind: str, ids: pa.Array, classes: Sequence[str]) -> bool:
    """Whether a table is one that this question gives about these samples, and nobody else's under our name."""
    if table.column_names[:3] != ["sample", "score", "reason"]:
        return False
    wanted = {"sample": _TEXT, "score": _NUMBER, "reason": _TEXT, **_COLUMNS.get(kind, {})}
    types = dict(zip(table.column_names, table.schema.types, strict=True))
    if any(types.get(name) != kept or table[name].null_count for name, kept in wanted.items()):
        return False
    if not pc.all(pc.is_finite(table["score"]), min_count=0).as_py():
        return False
    # Looked up once: of a million samples each look takes as long as reading them.
    rows = pc.index_in(table["sample"], value_set=ids)
    if rows.null_count or not _are_known(table, ids, classes):
        return False
    if kind == _INSIGHTS:
        return bool(table.num_rows <= _MOST_INSIGHTS)
    return not table.num_rows or int(np.bincount(rows.to_numpy()).max()) == 1


def _are_known(table: pa.Table, ids: pa.Array, classes: Sequence[str]) -> bool:
    """Whether all other samples and classes that a table names are there."""
    known = {"other": ids, "suggested": pa.array(classes, _TEXT)}
    return all(
        pc.all(pc.is_in(table[name], value_set=values), min_count=0).as_py()
        for name, values in known.items()
        if name in table.column_names
    )


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
