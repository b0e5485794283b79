"""Indexes: which kind is built, what it says of itself, and the approximate kind."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from cutaway.analysis.neighbours import Index, build_index, index, index_from_parts
from cutaway.errors import ConfigurationError
from cutaway.evaluation.progress import Progress

Array = npt.NDArray[Any]


def clustered(rows: int, width: int, *, seed: int = 0) -> Array:
    """Return vectors as a trained model gives them: around classes, in few directions, at or above zero."""
    rng = np.random.default_rng(seed)
    inner = min(width, 10)
    spread = rng.standard_normal((rows, inner)) + 4 * rng.standard_normal((10, inner))[rng.integers(0, 10, rows)]
    return np.maximum(spread @ rng.standard_normal((inner, width)), 0).astype(np.float32)


def recall_of(approximate: Index, vectors: Array, queries: Array, k: int, among: Array | None = None) -> float:
    exact = build_index(vectors, exact=True).search(queries, k, among=among)
    found = approximate.search(queries, k, among=among)
    hits = [len(set(one) & set(other)) for one, other in zip(exact.indices, found.indices, strict=True)]
    return float(np.mean(hits) / k)


@pytest.fixture(scope="module")
def vectors() -> Array:
    made = clustered(5_000, 40)
    made[[5, 77]] = np.nan
    return made


@pytest.fixture(scope="module")
def approximate(vectors: Array) -> Index:
    return build_index(vectors, exact=False)


def test_few_vectors_are_compared_one_by_one_and_have_no_parts() -> None:
    built = build_index(clustered(300, 8))
    assert built.exact
    assert built.recall is None
    assert built.parts() == {}
    assert built.notes == ()


def test_many_narrow_vectors_are_compared_one_by_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "EXACT_ROWS", 1_000)
    assert build_index(clustered(2_000, 8)).exact
    monkeypatch.setattr(index, "EXACT_NUMBERS", 1_000 * 8)
    assert not build_index(clustered(2_000, 8)).exact


def test_an_approximate_index_finds_99_of_100_and_says_so(vectors: Array, approximate: Index) -> None:
    assert not approximate.exact
    assert approximate.recall is not None
    assert approximate.recall >= 0.99
    assert any("of the 10 nearest were found" in one for one in approximate.notes)
    assert any("2 of 5000 rows are not finite" in one for one in approximate.notes)
    assert recall_of(approximate, vectors, clustered(400, 40), 10) > 0.98


def test_distances_of_an_approximate_index_are_those_of_the_vectors(vectors: Array, approximate: Index) -> None:
    found = approximate.search(vectors[100:120], 7)
    assert (found.indices[:, 0] == np.arange(100, 120)).all()
    assert (found.distances[:, 0] == 0).all()
    expected = np.linalg.norm(vectors[100:120, None] - vectors[found.indices], axis=2)
    assert np.allclose(found.distances, expected, rtol=1e-4)


def test_the_same_seed_gives_the_same_index(vectors: Array, approximate: Index) -> None:
    again = build_index(vectors, exact=False).parts()
    for name, part in approximate.parts().items():
        assert np.array_equal(part, again[name]), name
    other = build_index(vectors, exact=False, seed=1).parts()
    assert not np.array_equal(other["centroids"], again["centroids"])


@pytest.mark.parametrize("few_left", [0, 50_000])
@pytest.mark.parametrize("every", [2, 50, 5_000])
def test_a_mask_holds_whether_lists_are_searched_or_every_row(
    vectors: Array, approximate: Index, monkeypatch: pytest.MonkeyPatch, few_left: int, every: int
) -> None:
    monkeypatch.setattr(index, "FEW_LEFT", few_left)
    among = np.arange(len(vectors)) % every == 0
    queries = clustered(50, 40)
    found = approximate.search(queries, 10, among=among)
    assert among[found.indices[found.indices >= 0]].all()
    assert ((found.indices >= 0).sum(axis=1) == min(10, among.sum())).all()
    if every < 5_000:
        assert recall_of(approximate, vectors, queries, 10, among) > 0.97


@pytest.mark.parametrize("k", [1, 300, 600, 5_500])
def test_any_number_of_neighbours_is_found(
    vectors: Array, approximate: Index, monkeypatch: pytest.MonkeyPatch, k: int
) -> None:
    monkeypatch.setattr(index, "FEW_LEFT", 0)
    found = approximate.search(vectors[:3], k)
    assert (found.indices >= 0).sum() == 3 * min(k, 4_998)
    assert not np.isin([5, 77], found.indices).any()
    assert recall_of(approximate, vectors, vectors[:3], min(k, 1_000)) > 0.97


@pytest.mark.parametrize("width", [1, 2, 3, 33, 65, 127, 128, 200])
def test_any_width_can_be_approximated(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "FEW_LEFT", 0)
    vectors = clustered(3_000, width)
    built = build_index(vectors, exact=False)
    assert built.recall is not None
    assert built.recall > 0.98
    again = index_from_parts(vectors, built.parts())
    assert np.array_equal(built.search(vectors[:40], 5).indices, again.search(vectors[:40], 5).indices)


def test_identical_rows_can_be_approximated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "FEW_LEFT", 0)
    built = build_index(np.ones((1_500, 4), np.float32), exact=False)
    found = built.search(np.ones((30, 4)), 5)
    assert (found.distances == 0).all()


def test_a_recall_that_cannot_be_reached_is_said(vectors: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    from cutaway.analysis.neighbours import tuning

    monkeypatch.setattr(tuning, "_probes", lambda *_: 1)
    built = build_index(vectors, exact=False)
    assert built.recall is not None
    assert built.recall < 0.99
    assert any("less than 99 %" in one and "exact=True" in one for one in built.notes)


def test_too_few_rows_to_learn_from_are_compared_one_by_one() -> None:
    assert build_index(clustered(200, 8), exact=False).exact


def test_vectors_in_a_file_are_indexed_where_they_lie(tmp_path: Path, approximate: Index, vectors: Array) -> None:
    np.save(tmp_path / "latents.npy", vectors)
    mapped = np.load(tmp_path / "latents.npy", mmap_mode="r")
    built = build_index(mapped, exact=False)
    assert np.array_equal(
        built.search(vectors[:9][[0, 8]], 5).indices, approximate.search(vectors[:9][[0, 8]], 5).indices
    )


def test_building_tells_how_far_it_is(vectors: Array) -> None:
    told: list[Progress] = []
    build_index(vectors, exact=False, progress=told.append)
    assert {one.stage for one in told} == {"indexing", "measuring recall"}
    assert told[-1].done == told[-1].total
    assert all(one.done <= one.total for one in told)


def test_without_faiss_every_row_is_compared_and_a_large_index_says_what_to_install(
    vectors: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_faiss = build_index(vectors).search(vectors[:30][[0, 1, 29]], 6)
    monkeypatch.setitem(sys.modules, "faiss", None)
    built = build_index(vectors)
    assert built.exact
    assert not any("faiss" in one for one in built.notes)
    assert np.array_equal(built.search(vectors[:30][[0, 1, 29]], 6).indices, with_faiss.indices)
    monkeypatch.setattr(index, "EXACT_ROWS", 1_000)
    monkeypatch.setattr(index, "EXACT_NUMBERS", 1_000)
    assert any("pip install 'cutaway[analysis]'" in one for one in build_index(vectors).notes)


def test_no_rows_and_no_finite_rows_find_nothing() -> None:
    for empty in (np.zeros((0, 3)), np.full((4, 3), np.nan)):
        found = build_index(empty).search(np.zeros((2, 3)), 2)
        assert (found.indices == -1).all()
        assert np.isinf(found.distances).all()
        nobody = build_index(np.eye(3)).search(np.zeros((2, 3)), 2, among=np.zeros(3, bool))
        assert (nobody.indices == -1).all()


def test_asking_for_no_neighbours_or_a_device_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="`k >= 1` must hold"):
        build_index(np.eye(3)).search(np.eye(3), 0)
    with pytest.raises(ConfigurationError, match="device"):
        build_index(np.eye(3), device="tpu")


@pytest.mark.slow
def test_a_quarter_of_a_million_rows_are_approximated_by_themselves() -> None:
    everything = clustered(250_500, 128)
    # Queries that are not in the index, but come from where its rows do: recall is measured on rows.
    vectors, queries = everything[:-500], everything[-500:]
    built = build_index(vectors)
    assert not built.exact
    assert built.recall is not None
    assert built.recall >= 0.99
    assert recall_of(built, vectors, queries, 10) >= 0.98
    again = index_from_parts(vectors, built.parts())
    assert np.array_equal(built.search(queries, 10).indices, again.search(queries, 10).indices)
