"""Planted answers: a model that is worse on one slice while it is as good overall, and pairs that are equally good."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.comparing import Comparison, compare_samples
from cutaway.analysis.samples import Samples

ROWS, ERROR = 10_000, 0.08


def compared(seed: int, share: float, drop: float, rows: int = ROWS) -> Comparison:
    """Compare two models with as many mistakes; the second makes `drop` more of them on a slice, fewer elsewhere."""
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, 10, rows)
    slice_ = chance.random(rows) < share
    columns = {
        "metadata.site": np.where(slice_, "rare", chance.choice(["x", "y", "z"], rows)),
        **{f"metadata.number{one}": chance.normal(size=rows) for one in range(4)},
        **{f"metadata.kind{one}": chance.choice(list("abcdefgh"), rows) for one in range(4)},
    }
    hard = chance.random(rows) < ERROR / 2
    before, after = (hard | (chance.random(rows) < ERROR / 2) for _ in range(2))
    broken = slice_ & ~after & (chance.random(rows) < drop)
    mended = chance.choice(np.flatnonzero(after & ~hard & ~slice_), int(broken.sum()), replace=False)
    after = after | broken
    after[mended] = False
    places = np.stack([labels + chance.normal(0, 0.2, rows), slice_ * 5 + chance.normal(0, 0.2, rows)], 1)
    models = []
    for wrong in (before, after):
        predicted = np.where(wrong, (labels + 1) % 10, labels)
        chances = np.full((rows, 10), 0.02, np.float32)
        chances[np.arange(rows), predicted] = 0.82
        models.append(Samples.from_arrays(np.zeros((rows, 1), np.float32), labels, chances, columns))
    return compare_samples(*models, positions=places)


def found(comparison: Comparison) -> list[str]:
    return [row["slice"] for row in comparison.slices.to_pylist() if row["found"]]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("share", "drop"), [(0.01, 0.3), (0.05, 0.12)])
def test_a_model_that_is_worse_on_one_slice_only_is_caught(share: float, drop: float) -> None:
    comparisons = [compared(seed, share, drop) for seed in range(10)]
    caught = sum("metadata.site = rare" in found(one) for one in comparisons)
    assert caught >= 9
    assert all(one.accuracy is not None and abs(one.accuracy.change) < 0.01 for one in comparisons)
    first = next(one for one in comparisons if found(one)[:1] == ["metadata.site = rare"])
    assert any("where metadata.site = rare" in line for line in first.words)
    assert first.slices["change"][0].as_py() < 0


def test_the_region_of_the_map_where_samples_got_worse_is_found() -> None:
    regions = compared(0, 0.05, 0.3).regions
    assert regions is not None
    row = regions.to_pylist()[0]
    assert row["found"]
    assert row["flip"] == "worse"
    assert row["y"] > 2


def test_pairs_that_are_equally_good_are_seldom_told_apart() -> None:
    comparisons = [compared(1_000 + seed, 0.01, 0.0, 2_000) for seed in range(30)]
    assert sum(bool(found(one)) for one in comparisons) <= 3
    assert sum(any(one.regions["found"].to_pylist()) for one in comparisons if one.regions is not None) <= 3


@pytest.mark.slow
def test_one_percent_is_caught_with_power_and_few_false_alarms() -> None:
    caught = sum("metadata.site = rare" in found(compared(seed, 0.01, 0.25)) for seed in range(50))
    alarms = sum(bool(found(compared(2_000 + seed, 0.01, 0.0))) for seed in range(100))
    assert caught >= 45
    assert alarms <= 5
