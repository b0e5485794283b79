from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.mapping import trust, trustworthiness
from cutaway.errors import AnalysisUnavailable, ConfigurationError

pytest.importorskip("torch")
manifold = pytest.importorskip("sklearn.manifold")


@pytest.fixture
def latents() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(400, 10)).astype(np.float32)


@pytest.mark.parametrize("k", [1, 5, 15])
def test_it_equals_scikit_learn_when_all_are_asked(
    latents: np.ndarray, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane = latents[:, :2] + np.random.default_rng(1).normal(size=(400, 2)).astype(np.float32) * 0.1
    expected = manifold.trustworthiness(latents, plane, n_neighbors=k)
    assert trustworthiness(latents, plane, k=k, queries=None) == pytest.approx(expected, abs=1e-9)
    monkeypatch.setattr(trust, "BLOCK", {"cpu": 1000, "cuda": 1000})
    assert trustworthiness(latents, plane, k=k, queries=None) == pytest.approx(expected, abs=1e-9)


def test_some_queries_estimate_all_and_repeat(latents: np.ndarray) -> None:
    whole = trustworthiness(latents, latents[:, :2], queries=None)
    part = trustworthiness(latents, latents[:, :2], queries=200)
    assert part == pytest.approx(whole, abs=0.02)
    assert part == trustworthiness(latents, latents[:, :2], queries=200)
    assert part != trustworthiness(latents, latents[:, :2], queries=200, seed=1)


def test_a_map_that_is_the_space_is_trusted_wholly_and_chance_is_not(latents: np.ndarray) -> None:
    assert trustworthiness(latents[:, :2], latents[:, :2]) == 1.0
    assert trustworthiness(latents, np.random.default_rng(2).normal(size=(400, 2))) < 0.6


def test_rows_without_a_position_do_not_count(latents: np.ndarray) -> None:
    plane = latents[:, :2].copy()
    plane[:50] = np.nan
    holed = latents.copy()
    holed[50:60, 0] = np.nan
    expected = trustworthiness(latents[60:], plane[60:], queries=None)
    assert trustworthiness(holed, plane, queries=None) == pytest.approx(expected, abs=1e-9)


def test_too_few_samples_are_a_reason_and_wrong_numbers_an_error(latents: np.ndarray) -> None:
    with pytest.raises(AnalysisUnavailable, match="20 samples have a position, and 15 neighbours need more than 30"):
        trustworthiness(latents[:20], latents[:20, :2])
    with pytest.raises(ConfigurationError, match="k=0"):
        trustworthiness(latents, latents[:, :2], k=0)
