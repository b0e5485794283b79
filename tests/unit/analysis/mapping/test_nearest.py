from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.counting import Counter
from cutaway.analysis.mapping import nearest
from cutaway.evaluation.progress import Progress

torch = pytest.importorskip("torch")


def exact(points: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    apart = np.linalg.norm(points[:, None].astype(np.float64) - points[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    order = np.argsort(apart, axis=1)[:, :k]
    return order, np.take_along_axis(apart, order, axis=1)


@pytest.fixture
def only_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows are searched by lists too."""
    monkeypatch.setattr(nearest, "ALL_PAIRS", {"cpu": 0, "cuda": 0})
    monkeypatch.setattr(nearest, "LIST_ROWS", {"cpu": 40, "cuda": 40})


def test_all_pairs_are_exact_in_blocks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(0).normal(size=(300, 6)).astype(np.float32)
    monkeypatch.setattr(nearest, "BLOCK", {"cpu": 1000, "cuda": 1000})
    numbers, distances = nearest.nearest_rows(torch.from_numpy(points), 7)
    expected, apart = exact(points, 7)
    assert np.array_equal(numbers.numpy(), expected)
    assert np.allclose(distances.numpy(), apart, atol=1e-5)


@pytest.mark.usefixtures("only_lists")
def test_lists_find_nearly_all_and_give_true_distances() -> None:
    points = np.random.default_rng(0).normal(size=(2000, 4)).astype(np.float32)
    numbers, distances = nearest.nearest_rows(torch.from_numpy(points), 10)
    expected, apart = exact(points, 10)
    assert (numbers.numpy()[:, :, None] == expected[:, None]).any(axis=2).mean() > 0.98
    assert (distances.numpy() >= apart - 1e-5).all()
    assert (numbers.numpy() != np.arange(2000)[:, None]).all()


@pytest.mark.usefixtures("only_lists")
def test_rows_that_are_all_the_same_have_neighbours_too() -> None:
    points = torch.cat([torch.zeros(3000, 3), torch.randn(500, 3, generator=torch.Generator().manual_seed(0))])
    numbers, distances = nearest.nearest_rows(points, 15)
    assert numbers.min() >= 0
    assert (numbers != torch.arange(3500)[:, None]).all()
    assert (distances[:3000] == 0).all()
    assert all(len(set(row)) == 15 for row in numbers.tolist())


@pytest.mark.usefixtures("only_lists")
def test_lists_that_hold_too_few_are_made_good_by_all_pairs() -> None:
    # Lists of two rows each cannot name 60 neighbours.
    nearest.LIST_ROWS["cpu"] = 2
    points = torch.randn(400, 2, generator=torch.Generator().manual_seed(0))
    numbers, _ = nearest.nearest_rows(points, 60)
    expected, _ = exact(points.numpy(), 60)
    assert np.array_equal(np.sort(numbers.numpy()), np.sort(expected))


def test_others_may_ask() -> None:
    points = torch.eye(5)
    numbers, distances = nearest.nearest_rows(points, 1, queries=points[[3, 1]] * 0.9)
    assert numbers[:, 0].tolist() == [3, 1]
    assert distances[:, 0].tolist() == pytest.approx([0.1, 0.1], abs=1e-6)


@pytest.mark.usefixtures("only_lists")
def test_lists_repeat_with_the_seed_and_leave_the_generators_alone() -> None:
    points = torch.randn(3000, 8, generator=torch.Generator().manual_seed(0))
    before = torch.get_rng_state()
    first, second = (nearest.nearest_rows(points, 5, seed=3)[0] for _ in range(2))
    assert torch.equal(first, second)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("pairs", [0, 8000])
def test_it_says_how_far_it_is(pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "ALL_PAIRS", {"cpu": pairs, "cuda": pairs})
    heard: list[Progress] = []
    counter = Counter(heard.append, 500, "samples", "finding neighbours")
    nearest.nearest_rows(torch.randn(500, 3, generator=torch.Generator().manual_seed(0)), 4, counter=counter)
    assert heard[-1].done == 500
