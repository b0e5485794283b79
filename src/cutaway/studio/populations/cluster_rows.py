"""The clusters of a map as rows: how large, where, how well read, and what distinguishes each in words."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cutaway.analysis.samples import CORRECT, LOSS, SUBSET
from cutaway.analysis.samples.held_out import judged_rows
from cutaway.arrays import Float64Array, IndexArray
from cutaway.run.command_words import evaluation_words
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.answers.plain import text
from cutaway.studio.populations.coding import numbers
from cutaway.studio.populations.derived import CLUSTER
from cutaway.studio.populations.loaded import Loaded
from cutaway.studio.populations.points import shown_map
from cutaway.studio.wire.population import ClusterRow

__all__ = ["cluster_rows", "words_of_clusters"]

_CLUSTERS, _WORDS = "clusters", "clusters_words"


def cluster_rows(loaded: Loaded) -> list[ClusterRow]:
    """Return the clusters, the largest first. Refused where none were looked for."""
    if loaded.kept(_CLUSTERS) is None:
        reasons = [note for note in loaded.kept_notes if f"'{_CLUSTERS}'" in note]
        said = f"Evaluation {loaded.number} of run {loaded.run.name!r} has no clusters."
        hint = f"`cutaway analyze {evaluation_words(loaded.evaluation, relative=True)} clusters`"
        raise Refusal(404, "clusters-unavailable", " ".join([said, *reasons]), hint)
    stamp = loaded.kept_stamp(_CLUSTERS), loaded.kept_stamp(_WORDS)
    return loaded.remembered("clusters", stamp, lambda: _rows(loaded))


def _rows(loaded: Loaded) -> list[ClusterRow]:
    members = np.asarray(loaded.column(CLUSTER).to_numpy(), np.int64)
    positions = shown_map(loaded, "umap").positions
    loss, correct = _judged(loaded, LOSS), _judged(loaded, CORRECT)
    words = words_of_clusters(loaded)
    order = np.argsort(members, kind="stable")
    found, starts = np.unique(members[order], return_index=True)
    rows = []
    for cluster, own in zip(found.tolist(), np.split(order, starts[1:]), strict=True):
        if cluster < 0:
            continue
        placed = positions[own][np.isfinite(positions[own]).all(axis=1)]
        x, y = np.median(placed, axis=0).tolist() if len(placed) else (None, None)
        rows.append(
            ClusterRow(
                cluster=cluster,
                count=len(own),
                words=words.get(cluster, ""),
                x=x,
                y=y,
                judged=_count(loss if correct is None else correct, own),
                loss=_mean(loss, own),
                accuracy=_mean(correct, own),
            )
        )
    return sorted(rows, key=lambda one: -one.count)


def _judged(loaded: Loaded, name: str) -> Float64Array | None:
    """Return a column for the samples that the model is judged by, the held-out ones, and NaN for all others."""
    if name not in loaded.own_columns:
        return None
    values = numbers(loaded.column(name))
    return np.where(judged_rows(loaded.column(SUBSET), np.isfinite(values)), values, np.nan)


def _count(values: Float64Array | None, rows: IndexArray) -> int:
    return 0 if values is None else int(np.isfinite(values[rows]).sum())


def _mean(values: Float64Array | None, rows: IndexArray) -> float | None:
    if values is None:
        return None
    finite = values[rows][np.isfinite(values[rows])]
    return float(finite.mean()) if len(finite) else None


def words_of_clusters(loaded: Loaded) -> dict[int, str]:
    """Return what distinguishes each cluster, where that was said of these clusters."""
    held, own = loaded.kept(_WORDS), loaded.kept(_CLUSTERS)
    if held is None or own is None or held.about.get("settings") != own.about.get("settings"):
        return {}
    table = held.table
    kinds = {"cluster": pa.int64(), "words": pa.string()}
    if any(name not in table.column_names or table[name].type != kind for name, kind in kinds.items()):
        return {}
    said = zip(table["cluster"].to_pylist(), table["words"].to_pylist(), strict=True)
    return {number: text(words) for number, words in said if number is not None and words is not None}
