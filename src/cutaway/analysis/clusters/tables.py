"""Clusters as tables: a row for each cluster, for each sample, or for each trait."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from cutaway.analysis.clusters.values import Clusters
from cutaway.analysis.clusters.words import ClusterWords, Rate
from cutaway.errors import ConfigurationError

__all__ = ["cluster_table", "membership_table", "trait_table"]


def cluster_table(clusters: Clusters, words: Sequence[ClusterWords]) -> pa.Table:
    """Return a row for each cluster: how large, of which class, how well read, how far from its centre, in words."""
    if len(words) != len(clusters):
        raise ConfigurationError(f"There are {len(clusters)} clusters, but words for {len(words)}.")

    def rates(rates: list[Rate | None], field: str) -> pa.Array:
        return pa.array([None if rate is None else getattr(rate, field) for rate in rates], from_pandas=True)

    errors, losses = [one.errors for one in words], [one.loss for one in words]
    numbers = pa.float64()
    return pa.table(
        {
            "cluster": pa.array(range(len(clusters)), pa.int64()),
            "samples": pa.array(clusters.sizes, pa.int64()),
            "class": pa.array([one.classes[0].name if one.classes else None for one in words], pa.string()),
            "purity": pa.array([one.purity for one in words], numbers),
            "error_rate": rates(errors, "inside").cast(numbers),
            "error_rate_low": rates(errors, "low").cast(numbers),
            "error_rate_high": rates(errors, "high").cast(numbers),
            "error_rate_elsewhere": rates(errors, "outside").cast(numbers),
            "error_rate_differs": rates(errors, "differs").cast(pa.bool_()),
            "loss": rates(losses, "inside").cast(numbers),
            "loss_elsewhere": rates(losses, "outside").cast(numbers),
            "loss_differs": rates(losses, "differs").cast(pa.bool_()),
            "mean_distance": pa.array(
                [float(clusters.distances[clusters.labels == one].mean()) for one in range(len(clusters))], numbers
            ),
            "words": pa.array([one.words for one in words], pa.string()),
        }
    )


def trait_table(words: Sequence[ClusterWords]) -> pa.Table:
    """Return a row for each column, or value of one, that sets a cluster apart from the rest."""
    rows = [(one.cluster, trait) for one in words for trait in one.traits]
    texts, numbers = pa.string(), pa.float64()
    return pa.table(
        {
            "cluster": pa.array([cluster for cluster, _ in rows], pa.int64()),
            "column": pa.array([trait.column for _, trait in rows], texts),
            "kind": pa.array([trait.kind for _, trait in rows], texts),
            "value": pa.array([trait.value for _, trait in rows], texts),
            "figure": pa.array([trait.figure for _, trait in rows], texts),
            "inside": pa.array([trait.inside for _, trait in rows], numbers),
            "outside": pa.array([trait.outside for _, trait in rows], numbers),
            "direction": pa.array([trait.direction for _, trait in rows], texts),
            "effect": pa.array([trait.effect for _, trait in rows], numbers),
            "score": pa.array([trait.score for _, trait in rows], numbers),
            "samples": pa.array([trait.count for _, trait in rows], pa.int64()),
        }
    )


def membership_table(clusters: Clusters, ids: Sequence[str]) -> pa.Table:
    """Return a row for each sample: its cluster (none: null), and how far it lies from the centre of that."""
    if len(ids) != len(clusters.labels):
        raise ConfigurationError(f"There are {len(ids)} ids, but clusters of {len(clusters.labels)} samples.")
    alone = np.asarray(clusters.labels < 0)
    return pa.table(
        {
            "sample": pa.array(list(ids), pa.string()),
            "cluster": pa.array(clusters.labels, pa.int64(), mask=alone),
            "distance": pa.array(clusters.distances, pa.float32(), mask=alone),
        }
    )
