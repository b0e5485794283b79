"""Clusters of digits and of made clouds, and what odd samples do to them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
import threadpoolctl
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from cutaway.analysis.clusters import Clusters, density, find_clusters
from cutaway.arrays import Float32Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.evaluation.progress import Progress

Method = Literal["hdbscan", "kmeans"]
both = pytest.mark.parametrize("method", ["hdbscan", "kmeans"])


@pytest.fixture(scope="module")
def digits() -> tuple[Float32Array, Float32Array, list[int]]:
    """Digits as PCA sees them, a map on which classes lie apart, and the classes."""
    data = load_digits()
    latents = PCA(20, random_state=0).fit_transform(data.data).astype(np.float32)
    around = np.stack([np.cos(data.target * 0.628), np.sin(data.target * 0.628)], axis=1) * 10
    positions = around + np.random.default_rng(0).normal(size=around.shape) * 0.3
    return latents, positions.astype(np.float32), data.target


def _clouds(
    sizes: tuple[int, ...] = (60, 50, 40), width: int = 6, apart: float = 20.0
) -> tuple[Float32Array, list[int]]:
    rng = np.random.default_rng(0)
    turns = 2 * np.pi * np.arange(len(sizes)) / len(sizes)
    middles = np.zeros((len(sizes), width))
    middles[:, 0], middles[:, 1] = apart * np.cos(turns), apart * np.sin(turns)
    rows = np.concatenate([rng.normal(size=(size, width)) + one for size, one in zip(sizes, middles, strict=True)])
    return rows.astype(np.float32), [number for number, size in enumerate(sizes) for _ in range(size)]


def _same(one: Clusters, other: Clusters) -> bool:
    return np.array_equal(one.labels, other.labels) and np.array_equal(one.distances, other.distances, equal_nan=True)


def test_kmeans_finds_the_classes_of_digits(digits: tuple[Float32Array, Float32Array, list[int]]) -> None:
    latents, _, classes = digits
    found = find_clusters(latents, method="kmeans", count=10)
    assert adjusted_rand_score(classes, found.labels) > 0.6  # scikit-learn's own reaches 0.67
    assert len(found) == 10
    assert sum(found.sizes) == len(latents)


def test_hdbscan_finds_the_classes_of_digits_on_a_map_where_they_lie_apart(
    digits: tuple[Float32Array, Float32Array, list[int]],
) -> None:
    latents, positions, classes = digits
    found = find_clusters(latents, positions=positions)
    assert adjusted_rand_score(classes, found.labels) > 0.9
    assert found.notes[0] == "HDBSCAN ran on the positions on the map."


def test_without_a_map_what_hdbscan_groups_of_digits_is_mostly_of_one_class_and_the_rest_is_left_out(
    digits: tuple[Float32Array, Float32Array, list[int]],
) -> None:
    latents, _, classes = digits
    found = find_clusters(latents)
    grouped = found.labels >= 0
    assert found.notes[0] == "HDBSCAN ran on the 10 main directions of the latent vectors."
    assert grouped.mean() > 0.5
    assert adjusted_rand_score(np.asarray(classes)[grouped], found.labels[grouped]) > 0.8


@both
def test_clouds_are_found_and_numbered_by_size(method: Method) -> None:
    latents, clouds = _clouds((40, 60, 50))
    found = find_clusters(latents, method=method)
    assert adjusted_rand_score(clouds, found.labels) > 0.95
    assert list(found.sizes) == sorted(found.sizes, reverse=True)
    assert len(found) == 3
    assert found.labels[50] == 0
    assert list(found.sizes) == [int((found.labels == one).sum()) for one in range(3)]


@both
def test_distances_are_to_the_mean_of_the_cluster_in_latent_space(method: Method) -> None:
    latents, _ = _clouds()
    found = find_clusters(latents, method=method, positions=latents[:, :2])
    for cluster in range(len(found)):
        members = found.labels == cluster
        middle = latents[members].mean(axis=0, dtype=np.float64)
        assert np.allclose(found.centres[cluster], middle, atol=1e-4)
        assert np.allclose(found.distances[members], np.linalg.norm(latents[members] - middle, axis=1), atol=1e-4)
        assert (np.diff(found.distances[found.rows(cluster)]) >= 0).all()
    assert np.isnan(found.distances[found.rows(-1)]).all()


@both
def test_it_repeats_and_leaves_random_numbers_and_threads_alone(
    digits: tuple[Float32Array, Float32Array, list[int]], method: Method
) -> None:
    before, threads = np.random.get_state()[1].copy(), threadpoolctl.threadpool_info()
    latents = digits[0][:700]
    assert _same(find_clusters(latents, method=method, seed=3), find_clusters(latents, method=method, seed=3))
    assert np.array_equal(before, np.random.get_state()[1])
    assert [one["num_threads"] for one in threadpoolctl.threadpool_info()][: len(threads)] == [
        one["num_threads"] for one in threads
    ]


@both
def test_rows_that_are_not_finite_are_in_no_cluster_and_change_none(method: Method) -> None:
    latents, _ = _clouds()
    healthy = find_clusters(latents, method=method)
    sick = find_clusters(np.concatenate([latents, [[np.nan] * 6], [[np.inf] + [0] * 5]]), method=method)
    assert np.array_equal(sick.labels[:-2], healthy.labels)
    assert sick.labels[-2:].tolist() == [-1, -1]
    assert np.isnan(sick.distances[-2:]).all()
    assert sick.notes[0] == "2 samples are in no cluster: the latent vector is not finite."
    assert not any("finite" in note for note in healthy.notes)


def test_samples_without_a_place_on_the_map_are_left_out_and_that_is_said() -> None:
    latents, _ = _clouds()
    positions = latents[:, :2].copy()
    positions[7] = np.nan
    found = find_clusters(latents, positions=positions)
    assert found.labels[7] == -1
    assert found.notes[0] == "1 sample is in no cluster: there is no position on the map."
    assert find_clusters(latents, method="kmeans", positions=positions).labels[7] >= 0


def test_many_samples_are_found_on_a_part_and_the_others_follow_their_neighbours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    latents, clouds = _clouds((400, 300, 200), width=2)
    monkeypatch.setattr(density, "MOST_ROWS", 300)
    found = find_clusters(latents)
    assert adjusted_rand_score(clouds, found.labels) > 0.95
    assert "It ran on 300 of 900 samples; the others go with most of their nearest five." in found.notes


def test_the_silhouette_says_how_many_clusters_there_are_and_that_a_cloud_has_none() -> None:
    latents, _ = _clouds((50,) * 5, apart=30.0)
    found = find_clusters(latents, method="kmeans")
    assert len(found) == 5
    assert found.notes[1].startswith("Of 2 to 30 clusters, 5 have the best silhouette: 0.")
    assert len(found.notes) == 2
    cloud = np.random.default_rng(0).normal(size=(500, 20))
    assert (
        "There are no gaps between them: k-means cut one cloud into pieces."
        in find_clusters(cloud, method="kmeans").notes
    )


def test_one_cloud_has_no_dense_groups() -> None:
    found = find_clusters(np.random.default_rng(0).normal(size=(500, 8)), smallest=50)
    assert len(found) == 0
    assert "No group of at least 50 samples is denser than what lies around it." in found.notes


@both
def test_equal_rows_are_one_cluster(method: Method) -> None:
    found = find_clusters(np.full((30, 4), 1e6 / 3, np.float32), method=method)
    assert found.sizes == (30,)
    assert found.distances.max() == pytest.approx(0.0, abs=0.1)
    assert found.notes == ("All latent vectors are equal: they are one cluster.",)


def test_one_row_is_a_cluster_for_kmeans_and_none_for_hdbscan() -> None:
    row = np.ones((1, 3))
    assert find_clusters(row, method="kmeans").sizes == (1,)
    alone = find_clusters(row)
    assert (alone.labels.tolist(), len(alone)) == ([-1], 0)
    assert alone.notes == ("1 sample is too few for a cluster, which has at least 10.",)


@pytest.mark.parametrize("rows", [2, 3, 5, 6, 10, 11])
@pytest.mark.parametrize("method", ["hdbscan", "kmeans"])
def test_a_handful_of_rows_gives_an_answer(rows: int, method: Method) -> None:
    found = find_clusters(np.random.default_rng(0).normal(size=(rows, 2)), method=method)
    assert len(found.labels) == rows


def test_more_clusters_than_rows_that_differ_give_fewer_and_say_so() -> None:
    latents = np.repeat([[0.0, 1.0], [5.0, 5.0], [9.0, 0.0]], 20, axis=0)
    found = find_clusters(latents, method="kmeans", count=8)
    assert found.sizes == (20, 20, 20)
    assert found.notes[-1] == "Only 3 of the 8 clusters asked for have samples."
    assert len(find_clusters(latents, method="kmeans")) == 3
    assert len(find_clusters(latents[:20:5] + np.arange(4)[:, None], method="kmeans", count=8)) == 4


def test_many_equal_rows_do_not_trouble_hdbscan() -> None:
    latents = np.repeat([[0.0, 1.0], [5.0, 5.0], [9.0, 0.0]], 20, axis=0)
    assert find_clusters(latents).sizes == (20, 20, 20)


@both
def test_huge_values_and_a_far_outlier_do_not_overflow(method: Method) -> None:
    latents, _ = _clouds()
    assert np.array_equal(
        find_clusters(latents.astype(np.float64) * 1e30, method=method).labels,
        find_clusters(latents, method=method).labels,
    )
    latents[0] = 1e30
    found = find_clusters(latents, method=method)
    assert np.isfinite(found.centres).all()


def test_progress_is_told_to_the_end() -> None:
    heard: list[Progress] = []
    latents, _ = _clouds()
    find_clusters(latents, progress=heard.append)
    assert (heard[-1].done, heard[-1].total) == (3, 3)
    find_clusters(latents, method="kmeans", count=3, progress=heard.append)
    assert heard[-1].done == heard[-1].total


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "hdbscn"}, r"no method 'hdbscn'. Did you mean 'hdbscan'\?"),
        ({"count": 3}, "`count` is of method 'kmeans', but the method is 'hdbscan'"),
        ({"method": "kmeans", "count": 0}, "`count >= 1` must hold, but got count=0"),
        ({"smallest": 1}, "`smallest >= 2` must hold, but got smallest=1"),
        ({"positions": np.zeros((2, 2))}, "`positions` must have a row for each of 9 samples"),
    ],
)
def test_wrong_arguments_are_refused_with_the_reason(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        find_clusters(np.zeros((9, 2)), **arguments)


def test_latents_that_are_no_table_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"but got float64 of shape \(3,\)"):
        find_clusters(np.zeros(3))


@pytest.mark.parametrize("latents", [np.zeros((0, 4)), np.full((3, 4), np.nan)])
def test_nothing_usable_is_no_clusters_with_the_reason(latents: npt.NDArray[np.float64]) -> None:
    with pytest.raises(AnalysisUnavailable, match="none has values that can be used"):
        find_clusters(latents)
