"""Images that are no digits are planted and found; clean digits and made data give hardly an alarm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.neighbours.outliers import find_outliers
from cutaway.analysis.samples import Samples
from tests.analysis.read_digits import TRAINING, neighbours, reader

PLANTED = 50


def strokes(count: int, chance: Any) -> Any:
    """Return three straight strokes each, like letters of no alphabet."""
    y, x = np.mgrid[:8, :8]
    images = np.zeros((count, 8, 8), np.float32)
    for image in images:
        for _ in range(3):
            start, stop = chance.uniform(0.8, 7.2, (2, 2))
            along = stop - start
            part = np.clip(((x - start[0]) * along[0] + (y - start[1]) * along[1]) / (along @ along), 0, 1)
            away = np.hypot(x - start[0] - part * along[0], y - start[1] - part * along[1])
            np.maximum(image, np.clip(1 - away, 0, 1), out=image)
    return images.reshape(count, 64)


STRANGE = {
    "noise": lambda _, chance: chance.random((PLANTED, 64)),
    "inverted": lambda images, _: 1 - images,
    "scrambled": lambda images, chance: images[:, chance.permutation(64)],
    "strokes": lambda _, chance: strokes(PLANTED, chance),
}


def digits(seed: int, strange: Any = ()) -> tuple[Samples, Nearest]:
    one = reader(seed)
    images = np.concatenate([one.images, strange]) if len(strange) else one.images
    labels = [*one.labels.tolist(), *[None] * len(strange)]
    subsets = ["training"] * TRAINING + ["test"] * (len(images) - TRAINING)
    samples = one.samples(images, labels, subsets)
    return samples, neighbours(samples)


def found_among_digits(kind: str, seed: int) -> tuple[float, int, int]:
    """Return the area under the curve of the distances, how many planted ones were found, and how many others."""
    strange = STRANGE[kind](reader(seed).images[-PLANTED:], np.random.default_rng(seed))
    samples, nearest = digits(seed, strange)
    planted = set(samples.ids[-PLANTED:])
    found = set(find_outliers(samples, nearest).table["sample"].to_pylist())
    everything = find_outliers(samples, nearest, false_share=0.9999).table
    ranks = dict(zip(everything["sample"].to_pylist(), everything["distance"].to_pylist(), strict=True))
    test = [name for name in samples.ids if name.startswith("test/")]
    area = roc_auc_score([name in planted for name in test], [ranks.get(name, 0.0) for name in test])
    return float(area), len(found & planted), len(found - planted)


def test_strange_test_images_are_found_among_digits_with_few_false_alarms() -> None:
    results = {(kind, seed): found_among_digits(kind, seed) for kind in STRANGE for seed in (0, 1)}
    areas, right, wrong = zip(*results.values(), strict=True)
    # 0.964 was measured; one network took scrambled images for digits (0.83).
    assert np.mean(areas) >= 0.95
    assert min(results["inverted", 0][0], results["inverted", 1][0]) >= 0.98
    assert min(results["inverted", 0][1], results["inverted", 1][1]) >= 0.8 * PLANTED
    assert sum(right) >= 0.5 * PLANTED * len(results)
    # 10 % is allowed on average, and alarms of one network come together.
    assert sum(wrong) <= 0.15 * (sum(right) + sum(wrong))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_clean_digits_give_no_more_than_a_stray_alarm(seed: int) -> None:
    assert len(find_outliers(*digits(seed))) <= 1


def test_made_data_without_outliers_give_alarms_in_at_most_as_many_tables_as_allowed() -> None:
    alarms = 0
    for seed in range(40):
        chance = np.random.default_rng(seed)
        vectors = chance.normal(size=(900, 8)) + 5 * chance.integers(0, 2, (900, 1))
        subsets = ["training"] * 600 + ["test"] * 300
        samples = Samples.from_arrays(vectors, columns={"subset": subsets})
        alarms += len(find_outliers(samples, neighbours(samples), false_share=0.1)) > 0
    assert alarms <= 8  # each of two subsets in 10 % of tables is 8


def test_single_strange_images_within_training_are_found() -> None:
    chance = np.random.default_rng(0)
    vectors = np.concatenate([chance.normal(size=(600, 8)), chance.normal(0, 8, (10, 8))])
    samples = Samples.from_arrays(vectors, columns={"subset": ["training"] * 610})
    found = find_outliers(samples, neighbours(samples)).table["sample"].to_pylist()
    assert len(set(found) & {str(row) for row in range(600, 610)}) >= 8
    assert len(set(found) - {str(row) for row in range(600, 610)}) <= 1
