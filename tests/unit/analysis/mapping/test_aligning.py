from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.mapping import PreviousMap, make_map, trustworthiness
from cutaway.analysis.mapping.nearest import nearest_rows
from cutaway.analysis.mapping.vectors import prepare
from cutaway.errors import ConfigurationError

torch = pytest.importorskip("torch")

Digits = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def two_epochs(digits: Digits) -> tuple[np.ndarray, np.ndarray]:
    """What a small net sees in the digits after some epochs of its training, and after some more."""
    images, labels = torch.from_numpy(digits[0] / 16), torch.from_numpy(digits[1])
    with torch.random.fork_rng():
        torch.manual_seed(0)
        inner, head = torch.nn.Linear(64, 64), torch.nn.Linear(64, 10)
    optimizer = torch.optim.Adam([*inner.parameters(), *head.parameters()], 0.01)
    seen = []
    for epoch in range(1, 61):
        loss = torch.nn.functional.cross_entropy(head(inner(images).relu()), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch in (20, 60):
            seen.append(inner(images).relu().detach().numpy())
    return seen[0], seen[1]


def kept(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Which part of its 15 neighbours each row kept."""
    first, second = (nearest_rows(torch.from_numpy(prepare(one).values), 15)[0].numpy() for one in (before, now))
    return (first[:, :, None] == second[:, None]).any(axis=2).mean(axis=1)


def moved(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    return np.linalg.norm(now - before, axis=1) / np.ptp(before, axis=0).max()


def test_samples_that_kept_their_neighbours_stay_and_the_map_is_as_true(
    two_epochs: tuple[np.ndarray, np.ndarray],
) -> None:
    before, now = two_epochs
    first = make_map(before).positions
    aligned = make_map(now, previous=PreviousMap(before, first)).positions
    free = make_map(now).positions
    stayed = kept(before, now) >= 0.5
    assert 0.5 < stayed.mean() < 1
    assert (moved(first, aligned)[stayed] <= 0.02).mean() >= 0.99
    assert (moved(first, free)[stayed] <= 0.02).mean() < 0.9
    assert trustworthiness(now, aligned, queries=None) >= trustworthiness(now, free, queries=None) - 0.003


def test_new_samples_begin_where_they_would_be_placed_and_old_ones_stay(digits: Digits) -> None:
    images, labels = digits
    images, labels = images[:900], labels[:900]
    first = make_map(images[:800]).positions
    missing = np.full((100, 64), np.nan)
    previous = PreviousMap(np.vstack([images[:800], missing]), np.vstack([first, missing[:, :2]]))
    grown = make_map(images, previous=previous).positions
    assert np.isfinite(grown).all()
    assert (moved(first, grown[:800]) <= 0.02).mean() >= 0.97
    nearest = np.linalg.norm(grown[800:, None] - grown[None, :800], axis=2).argmin(axis=1)
    assert (labels[nearest] == labels[800:]).mean() > 0.9


def test_a_sample_that_changed_its_neighbours_is_free_to_go(digits: Digits) -> None:
    images, labels = digits
    first = make_map(images).positions
    changed = images.copy()
    zeros, ones = np.flatnonzero(labels == 0), np.flatnonzero(labels == 1)
    changed[zeros[:5]] = images[ones[:5]] + 0.1
    aligned = make_map(changed, previous=PreviousMap(images, first)).positions
    away = np.linalg.norm(aligned[zeros[:5]] - aligned[ones[:5]], axis=1)
    assert np.median(away) < 0.1 * np.ptp(first, axis=0).max()


def test_vectors_of_another_width_align_by_their_neighbours(digits: Digits) -> None:
    images = digits[0][:500]
    first = make_map(images).positions
    wider = np.hstack([images, images])
    aligned = make_map(wider, previous=PreviousMap(images, first)).positions
    assert (moved(first, aligned) <= 0.02).mean() >= 0.99


@pytest.mark.parametrize("method", ["pca", "tsne"])
def test_other_methods_are_turned_as_a_whole(digits: Digits, method: str) -> None:
    images = digits[0][:200]
    first = make_map(images, method=method).positions
    mirrored = first @ np.array([[0.0, 1.0], [1.0, 0.0]], np.float32) + 3
    again = make_map(images, method=method, previous=PreviousMap(images, mirrored))
    assert np.allclose(again.positions, mirrored, atol=1e-2 * np.ptp(first))
    assert any("turned" in note for note in again.notes)


@pytest.mark.parametrize("known", [0, 3])
def test_an_earlier_map_that_shares_too_little_is_said_and_left_out(digits: Digits, known: int) -> None:
    images = digits[0][:100]
    before = np.full((100, 64), np.nan)
    before[:known] = images[:known]
    alone = make_map(images)
    found = make_map(images, previous=PreviousMap(before, np.random.default_rng(0).normal(size=(100, 2))))
    assert np.array_equal(found.positions, alone.positions)
    assert any("too few samples" in note for note in found.notes)


def test_fewer_known_than_neighbours_are_enough(digits: Digits) -> None:
    images = digits[0][:100]
    before = np.full((100, 64), np.nan)
    before[:8] = images[:8]
    found = make_map(images, previous=PreviousMap(before, np.random.default_rng(0).normal(size=(100, 2))))
    assert np.isfinite(found.positions).all()


def test_rows_that_are_not_finite_now_or_then_do_no_harm(digits: Digits) -> None:
    images = digits[0][:200]
    first = make_map(images).positions
    now, then, where = images.copy(), images.copy(), first.copy()
    now[0], then[1], where[2] = np.nan, np.nan, np.nan
    found = make_map(now, previous=PreviousMap(then, where)).positions
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1:]).all()


def test_an_earlier_map_of_other_rows_is_refused(digits: Digits) -> None:
    images = digits[0][:50]
    with pytest.raises(ConfigurationError, match=r"`previous\.latents` must have a row for each of 50 samples"):
        make_map(images, previous=PreviousMap(images[:40], np.zeros((40, 2))))
    with pytest.raises(ConfigurationError, match=r"`previous\.positions` must be two numbers for each of 50 samples"):
        make_map(images, previous=PreviousMap(images, np.zeros((50, 3))))
