"""What analyses kept of a population, and whether it is what it says: a run may come from anybody.

A table counts where its key says that it was made from this evaluation and these subsets, and where it has the samples
that it must have. Everything else counts as not made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.arrays import Float32Array
from cutaway.run.analyses import KeptTable
from cutaway.run.evaluated.columns import SAMPLE
from cutaway.run.evaluated.population import EvaluatedPopulation

__all__ = ["MAP", "METHODS", "has_ids", "is_map", "is_ranked", "map_digest", "map_kind", "map_positions", "problem_of"]

# What the table of a map is called; those of other methods have the method's name.
MAP = "map"
METHODS = ("umap", "tsne", "pca")
_CLUSTERS, _CLUSTER_TYPES = "clusters", {"cluster": pa.int64(), "distance": pa.float32()}
_TEXT, _NUMBER = pa.string(), pa.float64()
# What a table of suspicious labels may leave out, all or nothing.
_UNKNOWN = frozenset({"score", "suggested_score"})


def problem_of(
    population: EvaluatedPopulation,
    kind: str,
    held: KeptTable,
    ids: pa.Array,
    *,
    its_map: Callable[[], KeptTable | None],
    is_of_these: Callable[[str, pa.Table], bool],
) -> str:
    """Return why a table that was kept does not count; empty where it does.

    `ids` are those of the population's samples; `its_map` returns its map, which clusters have to be of; `is_of_these`
    says whether a table of a kind is about these samples, which its analysis knows.
    """
    table = held.table
    if not population.is_own(kind, held.about):
        return "it was made from another evaluation, or by another release"
    if len(set(table.column_names)) < table.num_columns:
        return "it has a column twice"
    if kind == _CLUSTERS:
        return _problem_of_clusters(table, held.about["settings"], ids, its_map)
    return "" if is_of_these(kind, table) else "it was made by another release, or is not about these samples"


def _problem_of_clusters(
    table: pa.Table, settings: dict[str, Any], ids: pa.Array, its_map: Callable[[], KeptTable | None]
) -> str:
    if any(name not in table.column_names or table[name].type != kind for name, kind in _CLUSTER_TYPES.items()):
        return "it does not have the columns of clusters"
    if not has_ids(table, ids):
        return "it is not about these samples"
    there = its_map()
    if there is None or settings.get("map") != map_digest(map_positions(there.table)):
        return "they are clusters of another map"
    return ""


def has_ids(table: pa.Table, ids: pa.Array) -> bool:
    """Whether a table has a row for each of these samples, in their order."""
    if SAMPLE not in table.column_names or table[SAMPLE].type != ids.type:
        return False
    return bool(table[SAMPLE].equals(pa.chunked_array([ids])))


def map_kind(method: str) -> str:
    """Return what the kept table of a method is called."""
    return MAP if method == METHODS[0] else method


def map_digest(positions: Float32Array) -> str:
    """Return what tells one map from another, as clusters note which they are of."""
    return hashlib.sha256(positions.tobytes()).hexdigest()


def is_map(table: pa.Table) -> bool:
    """Whether a table that was kept has the columns of a map."""
    names = table.column_names
    return names == [SAMPLE, "x", "y"] and all(pa.types.is_floating(table[axis].type) for axis in ("x", "y"))


def map_positions(table: pa.Table) -> Float32Array:
    """Return the places that the table of a map holds, as rows of x and y."""
    # Numbers that float32 cannot hold, in somebody else's file, lie nowhere.
    with np.errstate(over="ignore"):
        return np.stack([np.asarray(table[axis].to_numpy(), np.float32) for axis in ("x", "y")], axis=1)


def is_ranked(
    table: pa.Table, columns: Mapping[str, pa.DataType], ids: pa.Array, classes: Sequence[str], *, once: bool = True
) -> bool:
    """Whether a table ranks these samples and has these columns beside; `once` if it names each once at most.

    Where the scores of labels are not known, all of them are null, and the order is all there is.
    """
    if table.column_names[:3] != ["sample", "score", "reason"]:
        return False
    wanted = {"sample": _TEXT, "score": _NUMBER, "reason": _TEXT, **columns}
    types = dict(zip(table.column_names, table.schema.types, strict=True))
    unknown = _UNKNOWN if wanted.keys() >= _UNKNOWN and _are_null(table, _UNKNOWN) else frozenset()
    if any(types.get(name) != kept for name, kept in wanted.items()):
        return False
    if any(table[name].null_count for name in wanted.keys() - unknown):
        return False
    if not pc.all(pc.is_finite(table["score"]), min_count=0).as_py():
        return False
    # Looked up once: of a million samples each look takes as long as reading them.
    rows = pc.index_in(table["sample"], value_set=ids)
    if rows.null_count or not _are_known(table, ids, classes):
        return False
    return not once or not table.num_rows or int(np.bincount(rows.to_numpy()).max()) == 1


def _are_null(table: pa.Table, names: Collection[str]) -> bool:
    return all(name in table.column_names and table[name].null_count == table.num_rows for name in names)


def _are_known(table: pa.Table, ids: pa.Array, classes: Sequence[str]) -> bool:
    """Whether all other samples and classes that a table names are there."""
    known = {"other": ids, "suggested": pa.array(classes, _TEXT)}
    return all(
        pc.all(pc.is_in(table[name], value_set=values), min_count=0).as_py()
        for name, values in known.items()
        if name in table.column_names
    )
