"""Clusters as tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.clusters import Clusters, cluster_table, describe_clusters, membership_table, trait_table
from cutaway.analysis.clusters.values import clusters_of
from cutaway.analysis.samples import Samples
from cutaway.errors import ConfigurationError


def _made(labels: list[int]) -> tuple[Clusters, Samples]:
    latents = np.arange(len(labels), dtype=np.float32)[:, None]
    clusters = clusters_of(latents, np.ones(len(labels), bool), np.array(labels, np.int64), "kmeans", ())
    flags = [label == 1 for label in labels]
    samples = Samples.from_arrays(
        latents, [str(label) for label in labels], columns={"correct": [True] * len(labels), "flag": flags}
    )
    return clusters, samples


def test_each_cluster_has_a_row_with_its_words() -> None:
    clusters, samples = _made([0] * 60 + [1] * 40 + [-1] * 5)
    words = describe_clusters(clusters, samples)
    rows = cluster_table(clusters, words).to_pylist()
    assert [row["samples"] for row in rows] == [60, 40]
    assert rows[1]["class"] == "1"
    assert (rows[1]["purity"], rows[1]["error_rate"], rows[1]["error_rate_differs"]) == (1.0, 0.0, False)
    assert rows[1]["loss"] is None
    assert rows[1]["mean_distance"] == pytest.approx(10.0)
    assert [row["words"] for row in rows] == [one.words for one in words]


def test_each_trait_has_a_row() -> None:
    clusters, samples = _made([0] * 60 + [1] * 40)
    traits = trait_table(describe_clusters(clusters, samples)).to_pylist()
    flagged = [row for row in traits if row["column"] == "flag" and row["cluster"] == 1]
    assert [(row["inside"], row["outside"], row["direction"], row["samples"]) for row in flagged] == [
        (1.0, 0.0, "higher", 40)
    ]


def test_each_sample_has_a_row_and_one_in_no_cluster_has_neither_number_nor_distance() -> None:
    clusters, samples = _made([0, 0, -1])
    assert membership_table(clusters, samples.ids).to_pylist() == [
        {"sample": "0", "cluster": 0, "distance": 0.5},
        {"sample": "1", "cluster": 0, "distance": 0.5},
        {"sample": "2", "cluster": None, "distance": None},
    ]


def test_tables_of_no_clusters_have_their_columns() -> None:
    full, none = _made([0] * 60 + [1] * 40), _made([-1, -1])
    schemas = [cluster_table(one, describe_clusters(one, samples)).schema for one, samples in (full, none)]
    assert schemas[0] == schemas[1]
    assert trait_table(()).schema == trait_table(describe_clusters(*full)).schema
    assert all(not pa.types.is_nested(field.type) for field in schemas[0])


def test_words_or_ids_of_others_are_refused() -> None:
    clusters, _ = _made([0, 0, -1])
    with pytest.raises(ConfigurationError, match="There are 1 clusters, but words for 0"):
        cluster_table(clusters, ())
    with pytest.raises(ConfigurationError, match="There are 1 ids, but clusters of 3 samples"):
        membership_table(clusters, ["a"])
