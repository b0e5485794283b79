"""Copies and near copies of digits are planted across subsets and found; clean digits have none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cutaway.analysis.doubles import find_duplicates, find_leakage
from cutaway.analysis.samples import Samples
from tests.analysis.read_digits import TRAINING, neighbours, reader

PLANTED = 40


def subsets() -> list[str]:
    return ["training" if row < TRAINING else "test" for row in range(len(reader().images))]


def with_copies(change: Any, *, other_label: bool = False, seed: int = 0) -> tuple[Samples, dict[str, str]]:
    """Return all digits and, as training samples, changed copies of some test samples; and which copies which."""
    one = reader(seed)
    chance = np.random.default_rng(seed)
    sources = chance.choice(np.arange(TRAINING, len(one.images)), PLANTED, replace=False)
    copies = change(one.images[sources], chance)
    labels = one.labels[sources]
    samples = one.samples(
        np.concatenate([one.images, copies]),
        np.concatenate([one.labels, (labels + 1) % 10 if other_label else labels]),
        [*subsets(), *["training"] * PLANTED],
        hashes=True,
    )
    first = len(one.images)
    return samples, {f"training/{first + i}": f"test/{row}" for i, row in enumerate(sources)}


CHANGES = {
    "slight noise": lambda images, chance: images + chance.normal(0, 0.01, images.shape).astype(np.float32),
    "brighter by 1 %": lambda images, _: images * np.float32(1.01),
    "fewer grey levels": lambda images, _: np.round(images * 255 / 8).astype(np.float32) * 8 / 255,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("seed", [0, 1])
def test_near_copies_are_found_and_little_else(change: str, seed: int) -> None:
    samples, planted = with_copies(CHANGES[change], seed=seed)
    table = find_duplicates(samples, neighbours(samples)).table
    found = dict(zip(table["sample"].to_pylist(), table["other"].to_pylist(), strict=True))
    right = sum(found.get(copy) == source for copy, source in planted.items())
    assert right >= 0.9 * PLANTED
    assert right >= 0.9 * len(found)
    assert set(table["kind"].to_pylist()) == {"near"}


def test_copies_are_found_whatever_their_latent_vectors() -> None:
    samples, planted = with_copies(lambda images, _: images)
    blind = Samples(samples.table, np.full_like(samples.latents, np.nan), samples.classes, None, None, samples.hashes)
    for one in (samples, blind):
        table = find_duplicates(one, neighbours(one)).table
        assert dict(zip(table["sample"].to_pylist(), table["other"].to_pylist(), strict=True)) == planted
        assert set(table["kind"].to_pylist()) == {"exact"}
        assert set(table["score"].to_pylist()) == {1.0}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_clean_digits_have_no_duplicates(seed: int) -> None:
    one = reader(seed)
    samples = one.samples(one.images, one.labels, subsets(), hashes=True)
    found = find_duplicates(samples, neighbours(samples))
    assert len(found) == 0
    assert len(find_leakage(found, samples)) == 0


def test_made_data_without_duplicates_give_none_in_nineteen_of_twenty_tables() -> None:
    alarms = 0
    for seed in range(40):
        chance = np.random.default_rng(seed)
        width = int(chance.choice([2, 5, 10, 30]))
        centres = chance.normal(0, 6, (5, width))
        vectors = centres[chance.integers(0, 5, 800)] + chance.normal(size=(800, width))
        samples = Samples.from_arrays(np.maximum(vectors, 0) if seed % 2 else vectors)
        alarms += len(find_duplicates(samples, neighbours(samples))) > 0
    assert alarms <= 4  # 40 times 5 % is 2


def test_leakage_counts_the_test_samples_that_are_in_training() -> None:
    samples, planted = with_copies(lambda images, _: images)
    leaks = find_leakage(find_duplicates(samples, neighbours(samples)), samples)
    assert sorted(leaks.table["sample"].to_pylist()) == sorted(planted.values())
    assert leaks.words[0] == f"40 of {len(reader().images) - TRAINING} test samples are (nearly) in training too."
    assert "without" in leaks.words[1]


def test_copies_with_another_label_are_told_as_such() -> None:
    samples, _ = with_copies(CHANGES["slight noise"], other_label=True)
    found = find_duplicates(samples, neighbours(samples))
    assert "another label" in found.words[0]
    assert "one is wrong" in found.table["reason"][0].as_py()
