from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.analysis.mapping.graph import Graph, membership, neighbour_graph
from cutaway.analysis.mapping.nearest import nearest_rows
from cutaway.analysis.mapping.vectors import prepare

torch = pytest.importorskip("torch")


def graph_of(points: np.ndarray, k: int = 6) -> Graph:
    return neighbour_graph(*nearest_rows(torch.from_numpy(prepare(points).values), k))


def matrix(graph: Graph) -> np.ndarray:
    whole = np.zeros((graph.rows, graph.rows))
    whole[graph.heads.numpy(), graph.tails.numpy()] = graph.weights.numpy()
    return whole + whole.T


def points_of(seed: int, rows: int = 60) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, 4)).astype(np.float32)


def test_the_nearest_is_sure_and_a_row_adds_up_to_log2_of_its_neighbours() -> None:
    distances = torch.rand(50, 15, generator=torch.Generator().manual_seed(0)).sort(dim=1).values
    sure = membership(distances)
    assert (sure[:, 0] == 1).all()
    assert torch.allclose(sure.sum(1), torch.tensor(log2(15)), atol=1e-3)
    assert (sure.diff(dim=1) <= 0).all()


def test_neighbours_at_no_distance_are_all_sure() -> None:
    assert (membership(torch.zeros(3, 5)) == 1).all()


def test_an_edge_stands_once_and_joins_both_views() -> None:
    numbers = torch.tensor([[1, 2], [0, 2], [3, 1], [2, 1]])
    distances = torch.tensor([[1.0, 3.0], [1.0, 2.0], [1.0, 2.0], [1.0, 4.0]])
    sure = membership(distances)
    graph = neighbour_graph(numbers, distances)
    assert list(zip(graph.heads.tolist(), graph.tails.tolist(), strict=True)) == [
        (0, 1),
        (0, 2),
        (1, 2),
        (1, 3),
        (2, 3),
    ]
    assert graph.weights[0] == 1
    assert graph.weights[1] == pytest.approx(float(sure[0, 1]))
    a, b = float(sure[1, 1]), float(sure[2, 1])
    assert float(graph.weights[2]) == pytest.approx(a + b - a * b)


def test_the_graph_equals_one_made_by_loops() -> None:
    points = points_of(0)
    numbers, distances = nearest_rows(torch.from_numpy(prepare(points).values), 6)
    one_way = np.zeros((60, 60))
    for row, (near, sure) in enumerate(zip(numbers.tolist(), membership(distances).tolist(), strict=True)):
        one_way[row, near] = sure
    expected = one_way + one_way.T - one_way * one_way.T
    assert np.allclose(matrix(graph_of(points)), expected, atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_permuting_the_rows_permutes_the_graph(seed: int) -> None:
    points = points_of(seed)
    order = np.random.default_rng(seed + 1).permutation(len(points))
    assert np.allclose(matrix(graph_of(points[order])), matrix(graph_of(points))[np.ix_(order, order)], atol=1e-4)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.floats(0.01, 100), st.floats(-10, 10))
def test_moving_and_scaling_the_latents_leaves_the_weights(seed: int, scale: float, shift: float) -> None:
    points = points_of(seed).astype(np.float64)
    assert np.allclose(matrix(graph_of(points * scale + shift)), matrix(graph_of(points)), atol=1e-3)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 12))
def test_weights_lie_above_0_and_up_to_1_and_every_row_has_a_sure_neighbour(seed: int, k: int) -> None:
    graph = graph_of(points_of(seed), k)
    assert (graph.heads < graph.tails).all()
    assert ((graph.weights > 0) & (graph.weights <= 1)).all()
    assert (matrix(graph).max(axis=1) == 1).all()
