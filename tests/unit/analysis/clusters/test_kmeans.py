"""k-means and silhouettes against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import silhouette_score

from cutaway.analysis.clusters import kmeans as module
from cutaway.analysis.clusters.kmeans import choose_count, kmeans
from cutaway.arrays import Float32Array


@pytest.fixture(scope="module")
def rows() -> Float32Array:
    data = load_digits().data[:900]
    return ((data - data.mean(axis=0)) / 16).astype(np.float32)


def _cost(rows: Float32Array, labels: np.ndarray) -> float:
    return sum(float(np.square(rows[labels == one] - rows[labels == one].mean(axis=0)).sum()) for one in set(labels))


@pytest.mark.parametrize("count", [1, 3, 10, 25])
def test_clusters_are_as_tight_as_scikit_learns(rows: Float32Array, count: int) -> None:
    ours = kmeans(rows, count, np.random.default_rng(0))
    theirs = KMeans(count, n_init=8, random_state=0).fit_predict(rows)
    assert len(np.unique(ours)) == count
    assert _cost(rows, ours) <= 1.01 * _cost(rows, theirs)


def test_what_is_settled_on_a_part_goes_on_with_all_rows(rows: Float32Array, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _cost(rows, kmeans(rows, 10, np.random.default_rng(0)))
    monkeypatch.setattr(module, "ROWS_TO_TRY", 200)
    assert _cost(rows, kmeans(rows, 10, np.random.default_rng(0))) <= 1.03 * whole


def test_silhouettes_are_scikit_learns(rows: Float32Array) -> None:
    labels = kmeans(rows, 7, np.random.default_rng(0))
    labels[0] = 7  # a row that is alone counts 0
    distances = np.linalg.norm(rows[:, None] - rows, axis=2)
    assert module._silhouette(distances, labels) == pytest.approx(silhouette_score(rows, labels), abs=1e-4)


def test_each_candidate_below_the_number_of_rows_is_rated(rows: Float32Array) -> None:
    counts = choose_count(rows[:9], np.random.default_rng(0))
    assert list(counts.silhouettes) == [2, 3, 4, 5, 6, 7, 8]
    assert counts.silhouettes[counts.best] == max(counts.silhouettes.values())
    assert choose_count(rows[:2], np.random.default_rng(0)).best == 1
