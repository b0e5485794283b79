from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from cutaway.analysis.mapping import make_map, nearest, trustworthiness
from cutaway.errors import ConfigurationError
from cutaway.evaluation.progress import Progress

torch = pytest.importorskip("torch")

Digits = tuple[np.ndarray, np.ndarray]
METHODS = ("umap", "tsne", "pca")


def test_digits_lie_among_their_own_and_the_map_can_be_trusted(digits: Digits) -> None:
    images, labels = digits
    found = make_map(images)
    apart = np.linalg.norm(found.positions[:, None] - found.positions[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1)[:, :15]
    assert np.mean([np.bincount(labels[row]).argmax() for row in near] == labels) > 0.95
    assert trustworthiness(images, found.positions, queries=None) > 0.985
    assert (found.method, found.seed, found.trustworthiness, found.notes) == ("umap", 0, None, ())


def test_the_seed_repeats_the_map_and_another_seed_makes_another(digits: Digits) -> None:
    first, again, other = (make_map(digits[0][:300], seed=seed).positions for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_seed_repeats_the_map_in_another_process(digits: Digits, monkeypatch: pytest.MonkeyPatch) -> None:
    code = """
import sys, numpy as np, torch
torch.set_num_threads(int(sys.argv[1]))
from sklearn.datasets import load_digits
from cutaway.analysis.mapping import make_map, nearest
nearest.ALL_PAIRS = {"cpu": 0, "cuda": 0}
sys.stdout.buffer.write(make_map(load_digits().data.astype(np.float32), seed=5, device="cpu").positions.tobytes())
"""
    monkeypatch.setattr(nearest, "ALL_PAIRS", {"cpu": 0, "cuda": 0})
    threads = str(torch.get_num_threads())
    there = subprocess.run([sys.executable, "-c", code, threads], check=True, capture_output=True).stdout
    assert there == make_map(digits[0], seed=5, device="cpu").positions.tobytes()


def test_nothing_of_the_process_changes(digits: Digits) -> None:
    before = (torch.get_num_threads(), torch.get_rng_state(), np.random.get_state()[1].copy(), digits[0].copy())
    make_map(digits[0][:100])
    assert torch.get_num_threads() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])
    assert np.array_equal(np.random.get_state()[1], before[2])
    assert np.array_equal(digits[0], before[3])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4, 5, 16])
def test_few_rows_all_have_places(method: str, rows: int) -> None:
    found = make_map(np.random.default_rng(0).normal(size=(rows, 6)), method=method)
    assert found.positions.shape == (rows, 2)
    assert found.positions.dtype == np.float32
    assert np.isfinite(found.positions).all()
    assert any("too few" in note for note in found.notes) == (0 < rows < 4)


@pytest.mark.parametrize("method", METHODS)
def test_rows_that_are_all_the_same_have_places_that_mean_nothing(method: str) -> None:
    found = make_map(np.full((40, 5), 3.0), method=method)
    assert np.isfinite(found.positions).all()
    assert found.notes == ("All 40 samples have the same latent vector, so their places in the map mean nothing.",)


@pytest.mark.parametrize("method", METHODS)
def test_rows_that_are_not_finite_have_no_place_and_it_says_so(method: str) -> None:
    latents = np.random.default_rng(0).normal(size=(50, 5))
    latents[3, 0], latents[9] = np.nan, np.inf
    found = make_map(latents, method=method)
    assert np.flatnonzero(np.isnan(found.positions).any(axis=1)).tolist() == [3, 9]
    assert found.notes == ("2 of 50 samples have no position: their latent vector is not finite.",)
    without = make_map(np.delete(latents, [3, 9], axis=0), method=method).positions
    assert np.array_equal(np.delete(found.positions, [3, 9], axis=0), without)


def test_no_row_is_finite() -> None:
    assert np.isnan(make_map(np.full((5, 3), np.nan)).positions).all()


@pytest.mark.parametrize("width", [0, 1, 2])
def test_narrow_vectors_have_places(width: int) -> None:
    found = make_map(np.random.default_rng(0).normal(size=(60, width)))
    assert np.isfinite(found.positions).all()


@pytest.mark.parametrize(
    ("size", "dtype"), [(1e30, np.float32), (1e-30, np.float32), (1e300, np.float64), (1e4, np.float16)]
)
def test_the_unit_of_the_latents_does_not_matter(size: float, dtype: type) -> None:
    latents = np.random.default_rng(0).uniform(-1, 1, size=(200, 5))
    found = make_map((latents * size).astype(dtype))
    assert np.isfinite(found.positions).all()
    assert trustworthiness(latents, found.positions, queries=None) > 0.9


def test_a_row_far_out_leaves_the_others_their_map(digits: Digits) -> None:
    latents = digits[0][:500].copy()
    latents[7] = 1e30
    found = make_map(latents)
    others = np.arange(500) != 7
    assert np.isfinite(found.positions).all()
    assert trustworthiness(latents[others], found.positions[others], queries=None) > 0.95
    assert any(note.startswith("1 samples lie more than 10000 times") for note in found.notes)


def test_masses_of_equal_rows_lie_together_and_apart_from_others() -> None:
    rng = np.random.default_rng(0)
    latents = np.vstack([np.zeros((700, 8)), rng.normal(size=(300, 8)) + 30])
    places = make_map(latents).positions
    assert np.isfinite(places).all()
    centres = np.median(places[:700], axis=0), np.median(places[700:], axis=0)
    nearer = np.linalg.norm(places - centres[0], axis=1) < np.linalg.norm(places - centres[1], axis=1)
    assert nearer[:700].mean() > 0.95
    assert (~nearer[700:]).mean() > 0.95


def test_two_far_clouds_stay_two() -> None:
    rng = np.random.default_rng(0)
    latents = np.vstack([rng.normal(size=(200, 8)), rng.normal(size=(200, 8)) + 1e4])
    places = make_map(latents).positions
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    cloud = np.arange(400) >= 200
    assert (cloud[apart.argmin(axis=1)] == cloud).all()
    assert apart[:200, 200:].min() > np.median(apart.min(axis=1))


def test_it_says_how_far_it_is(digits: Digits) -> None:
    heard: list[Progress] = []
    make_map(digits[0][:200], progress=heard.append)
    ends = {one.stage: (one.done, one.total) for one in heard}
    assert ends == {"finding neighbours": (200, 200), "laying the map out": (500, 500)}


def test_wrong_arguments_are_named() -> None:
    latents = np.zeros((10, 2))
    with pytest.raises(ConfigurationError, match=r"but got 'umpa'\. Did you mean 'umap'"):
        make_map(latents, method="umpa")
    with pytest.raises(ConfigurationError, match="neighbours=1"):
        make_map(latents, neighbours=1)
    with pytest.raises(ConfigurationError, match="`device` must be"):
        make_map(latents, device="tpu")
