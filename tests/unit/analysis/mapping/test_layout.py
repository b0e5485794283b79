from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.counting import Counter
from cutaway.analysis.mapping.graph import Graph
from cutaway.analysis.mapping.layout import Anchor, lay_out
from cutaway.evaluation.progress import Progress

torch = pytest.importorskip("torch")


def ring(rows: int, weight: float = 1.0) -> Graph:
    heads = torch.arange(rows - 1)
    return Graph(rows, heads, heads + 1, torch.full((rows - 1,), weight))


def start(rows: int) -> torch.Tensor:
    return torch.randn(rows, 2, generator=torch.Generator().manual_seed(0))


def test_neighbours_end_nearer_than_others() -> None:
    laid = lay_out(ring(60), start(60), steps=200, seed=0)
    apart = torch.cdist(laid, laid)
    assert apart.diagonal(1).mean() < 0.3 * apart.mean()
    assert torch.isfinite(laid).all()


def test_the_seed_repeats_it_and_the_start_and_the_generators_stay_as_they_were() -> None:
    begin = start(60)
    kept, before = begin.clone(), torch.get_rng_state()
    first, again, other = (lay_out(ring(60), begin, steps=50, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(begin, kept)
    assert torch.equal(before, torch.get_rng_state())


def test_surer_neighbours_end_nearer() -> None:
    rows = torch.arange(0, 200, 2)
    pairs = Graph(200, rows, rows + 1, torch.where(rows < 100, 1.0, 0.1))
    laid = lay_out(pairs, start(200), steps=200, seed=0)
    apart = (laid[0::2] - laid[1::2]).norm(dim=1)
    assert apart[:50].median() < apart[50:].median()


def test_an_anchor_holds_within_its_circle_and_lets_the_others_go() -> None:
    begin = start(60)
    radius = torch.where(torch.arange(60) < 30, 0.01, float("inf"))
    laid = lay_out(ring(60), begin, steps=50, seed=0, anchor=Anchor(begin, torch.zeros(60), radius))
    moved = (laid - begin).norm(dim=1)
    assert moved[:30].max() <= 0.0101
    assert moved[30:].median() > 0.1


def test_a_pull_keeps_rows_nearer_to_their_places() -> None:
    begin, free = start(60), torch.full((60,), float("inf"))
    loose, tight = (
        (lay_out(ring(60), begin, steps=50, seed=0, anchor=Anchor(begin, torch.full((60,), pull), free)) - begin).norm()
        for pull in (0.0, 0.5)
    )
    assert tight < 0.5 * loose


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_few_rows_at_one_place_stay_finite(rows: int) -> None:
    laid = lay_out(ring(rows), torch.zeros(rows, 2), steps=20, seed=0)
    assert torch.isfinite(laid).all()


def test_it_says_how_far_it_is() -> None:
    heard: list[Progress] = []
    lay_out(ring(10), start(10), steps=20, seed=0, counter=Counter(heard.append, 20, "steps"))
    assert heard[-1].done == 20


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_lays_out_alike_and_repeats_exactly() -> None:
    graph = ring(500)
    moved = Graph(500, graph.heads.cuda(), graph.tails.cuda(), graph.weights.cuda())
    first, again = (lay_out(moved, start(500).cuda(), steps=3, seed=0).cpu() for _ in range(2))
    assert torch.equal(first, again)
    assert np.allclose(first, lay_out(graph, start(500), steps=3, seed=0), atol=1e-3)
