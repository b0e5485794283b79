"""Exact search, by faiss and by torch, against comparing every row in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.analysis.neighbours import Index, build_index, index
from cutaway.analysis.neighbours.exact import ByFaiss, ByTorch
from cutaway.analysis.neighbours.rows import prepare

Array = npt.NDArray[Any]


def with_faiss(vectors: Array) -> Index:
    rows = prepare(vectors)
    return Index(rows, ByFaiss(rows.vectors))


def with_torch(vectors: Array) -> Index:
    rows = prepare(vectors)
    return Index(rows, ByTorch(rows.vectors, "cpu"))


ENGINES = pytest.mark.parametrize("engine", [with_faiss, with_torch])


def brute(vectors: Array, queries: Array, k: int, among: Array | None = None) -> Array:
    """Return the distances of the `k` nearest of the finite rows, infinite where there are fewer."""
    good = np.isfinite(vectors.astype(np.float32)).all(axis=1)
    kept = vectors[good if among is None else good & among].astype(np.float64)
    distances = np.sqrt(((queries.astype(np.float64)[:, None] - kept[None]) ** 2).sum(axis=2))
    distances.sort(axis=1)
    wide = np.full((len(queries), k), np.inf)
    wide[:, : min(k, len(kept))] = distances[:, :k]
    return wide


@ENGINES
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 90),
    width=st.integers(1, 9),
    queries=st.integers(1, 30),
    k=st.integers(1, 100),
    kind=st.sampled_from(["plain", "duplicates", "far", "clusters", "constant", "huge", "tiny", "broken"]),
    dtype=st.sampled_from([np.float16, np.float32, np.float64]),
    masked=st.booleans(),
)
@settings(max_examples=120, deadline=None)
def test_a_search_finds_what_comparing_every_row_finds(
    engine: Callable[[Array], Index],
    seed: int,
    rows: int,
    width: int,
    queries: int,
    k: int,
    kind: str,
    dtype: type,
    masked: bool,
) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((rows, width))
    if kind == "duplicates":
        vectors = rng.integers(0, 2, (rows, width)).astype(np.float64)
    elif kind == "far":
        vectors += 3_000
    elif kind == "clusters":
        vectors += rng.choice([-2_000, 2_000], (rows, 1))
    elif kind == "constant":
        vectors[:] = 7
    elif dtype is not np.float16 and kind in ("huge", "tiny"):
        vectors *= 1e25 if kind == "huge" else 1e-25
    vectors = vectors.astype(dtype)
    asked = np.concatenate([vectors[rng.integers(0, rows, queries)], vectors[:1] + vectors[-1:]]).astype(dtype)
    if kind == "broken":
        vectors[rng.random(rows) < 0.2] = rng.choice([np.nan, np.inf, -np.inf])
    among = rng.random(rows) < 0.5 if masked else None

    found = engine(vectors).search(asked, k, among=among)

    expected = brute(vectors, asked, k, among)
    assert (found.indices.dtype, found.distances.dtype) == (np.int64, np.float32)
    assert found.indices.shape == found.distances.shape == (len(asked), k)
    assert not np.isnan(found.distances).any()
    assert np.array_equal(found.indices < 0, np.isinf(expected))
    assert np.array_equal(np.isinf(found.distances), np.isinf(expected))
    there = found.indices >= 0
    # Numbers are compared in single precision, so that is how far off a distance may be.
    scale = np.abs(np.nan_to_num(asked.astype(np.float64), posinf=0, neginf=0)).max()
    assert np.allclose(found.distances[there], expected[there], rtol=1e-4, atol=1e-6 * scale)
    named = np.linalg.norm(asked[:, None].astype(np.float64) - vectors[found.indices].astype(np.float64), axis=2)
    assert np.allclose(named[there], found.distances[there], rtol=1e-4, atol=1e-6 * scale)
    for line in found.indices:
        assert len(set(line[line >= 0])) == (line >= 0).sum()
    assert among is None or among[found.indices[there]].all()


@ENGINES
@pytest.mark.parametrize("count", [1, 200])
def test_a_row_is_at_distance_zero_of_itself_and_order_is_that_of_the_distances(
    engine: Callable[[Array], Index], count: int
) -> None:
    vectors = np.random.default_rng(0).standard_normal((3_000, 40)).astype(np.float32) + 50
    found = engine(vectors).search(vectors[:count], 12)
    assert (found.indices[:, 0] == np.arange(count)).all()
    assert (found.distances[:, 0] == 0).all()
    assert (np.diff(found.distances, axis=1) >= 0).all()


@ENGINES
def test_clusters_that_products_of_float32_cannot_look_into_are_looked_into(engine: Callable[[Array], Index]) -> None:
    rng = np.random.default_rng(0)
    # Squares of 40,000 in float32 are a hundred apart: without subtraction every row of a cluster looks the same.
    vectors = (rng.choice([-40_000, 40_000], (2_000, 1)) + rng.standard_normal((2_000, 8))).astype(np.float32)
    found = engine(vectors).search(vectors[:50], 10)
    assert np.allclose(found.distances, brute(vectors, vectors[:50], 10), rtol=1e-5)


@ENGINES
def test_equally_near_rows_come_in_the_order_of_their_numbers(engine: Callable[[Array], Index]) -> None:
    vectors = np.array([[1.0], [0.0], [-1.0], [1.0]], np.float32)
    found = engine(vectors).search(np.zeros((1, 1), np.float32), 4)
    assert found.indices.tolist() == [[1, 0, 2, 3]]


@ENGINES
def test_one_query_gives_the_same_answer_as_many(engine: Callable[[Array], Index]) -> None:
    vectors = np.random.default_rng(1).standard_normal((4_000, 24)).astype(np.float32)
    built = engine(vectors)
    together = built.search(vectors[:60], 9)
    for row in range(0, 60, 7):
        alone = built.search(vectors[row], 9)
        assert np.array_equal(alone.indices[0], together.indices[row])


@ENGINES
def test_more_rows_than_a_block_are_merged(engine: Callable[[Array], Index], monkeypatch: pytest.MonkeyPatch) -> None:
    from cutaway.analysis.neighbours import exact

    monkeypatch.setattr(exact, "BLOCK", 100)
    vectors = np.random.default_rng(2).standard_normal((950, 5)).astype(np.float32)
    among = np.arange(950) % 3 > 0
    for count in (3, 40):
        for mask in (None, among):
            found = engine(vectors).search(vectors[:count], 20, among=mask)
            assert np.allclose(found.distances, brute(vectors, vectors[:count], 20, mask), atol=1e-6)


def test_torch_multiplying_in_less_than_single_precision_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    vectors = np.random.default_rng(3).standard_normal((2_000, 16)).astype(np.float32)
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: "medium")
    found = with_torch(vectors).search(vectors[:30], 10)
    assert np.allclose(found.distances, brute(vectors, vectors[:30], 10), atol=1e-5)


def test_a_thread_count_of_faiss_stays_what_it_was() -> None:
    import faiss

    before = faiss.omp_get_max_threads()
    vectors = np.random.default_rng(4).standard_normal((1_500, 8)).astype(np.float32)
    built = build_index(vectors, exact=False)
    built.search(vectors[:1], 3)
    assert faiss.omp_get_max_threads() == before


def test_progress_is_told_in_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "QUERIES", 10)
    told: list[int] = []
    vectors = np.random.default_rng(5).standard_normal((100, 4)).astype(np.float32)
    build_index(vectors).search(vectors[:35], 3, progress=lambda one: told.append(one.done))
    assert told[-1] == 35
