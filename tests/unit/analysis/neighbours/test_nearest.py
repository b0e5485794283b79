"""The nearest others of every sample: computed once, kept in the run, never the sample itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cutaway.analysis import Population
from cutaway.analysis.neighbours import Index, build_index
from cutaway.analysis.neighbours.nearest import NEAREST, nearest_of
from cutaway.analysis.population.index import kept_nearest
from cutaway.analysis.samples import Samples
from tests.unit.analysis.kinds import evaluated_kind

pytest.importorskip("torch")


def _samples(rows: int, seed: int = 0) -> Samples:
    return Samples.from_arrays(np.random.default_rng(seed).normal(size=(rows, 6)).astype(np.float32))


def _never() -> Index:
    raise AssertionError("the index was asked for")


def test_they_are_the_nearest_by_distance_and_never_the_sample_itself() -> None:
    samples = _samples(200)
    found = nearest_of(samples, lambda: build_index(samples.latents))
    distances = np.linalg.norm(samples.latents[:, None] - samples.latents[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    np.testing.assert_array_equal(found.indices, np.argsort(distances, axis=1)[:, :NEAREST])
    assert (found.indices != np.arange(200)[:, None]).all()


def test_equal_vectors_are_each_others_neighbours_and_not_their_own() -> None:
    samples = Samples.from_arrays(np.ones((30, 4), np.float32))
    found = nearest_of(samples, lambda: build_index(samples.latents))
    assert (found.indices != np.arange(30)[:, None]).all()
    assert all(len(set(row)) == NEAREST for row in found.indices.tolist())
    assert (found.distances == 0).all()


def test_few_samples_leave_places_empty() -> None:
    samples = _samples(3)
    found = nearest_of(samples, lambda: build_index(samples.latents))
    assert (found.indices[:, 2:] == -1).all()
    assert np.isinf(found.distances[:, 2:]).all()


def test_a_sample_without_a_latent_vector_is_near_to_nobody() -> None:
    latents = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    latents[7] = np.nan
    samples = Samples.from_arrays(latents)
    found = nearest_of(samples, lambda: build_index(samples.latents))
    assert (found.indices[7] == -1).all()
    assert not (found.indices == 7).any()


@pytest.mark.parametrize("rows", [0, 1])
def test_it_takes_two_samples_and_no_index_is_built_for_less(rows: int) -> None:
    found = nearest_of(_samples(rows), _never)
    assert found.indices.shape == (rows, NEAREST)
    assert (found.indices == -1).all()


def test_a_run_keeps_them_and_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    folder, _ = evaluated_kind("logits", tmp_path / "run")
    population = Population.open(folder)
    first = population.nearest()
    again = kept_nearest(population.keeping, population.samples, _never)
    np.testing.assert_array_equal(first.indices, again.indices)
    [kept] = folder.rglob("*.nearest.*")
    kept.write_bytes(kept.read_bytes()[:-40])
    anew = Population.open(folder).nearest()
    np.testing.assert_array_equal(first.indices, anew.indices)


def test_some_rows_of_a_run_have_neighbours_among_themselves(tmp_path: Path) -> None:
    folder, _ = evaluated_kind("logits", tmp_path / "run")
    population = Population.open(folder)
    population.nearest()
    some = population.where("subset = validation")
    assert int(some.nearest().indices.max()) < len(some)
