"""Planted answers: a class that nobody has labelled is found; estimates hold what labelling all would show."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from cutaway.analysis.labelling import choose_to_label, estimate_accuracy
from cutaway.analysis.samples import Samples

DIGITS = load_digits()
IMAGES, TARGETS = (DIGITS.data / 16).astype(np.float32), DIGITS.target


class Linear:
    """A linear model by least squares, with a softmax on top: as good as any here, and made in no time."""

    def __init__(self, images: np.ndarray, targets: np.ndarray) -> None:
        self.classes_ = np.unique(targets)
        rows = np.c_[images, np.ones(len(images))].astype(np.float64)
        wanted = (targets[:, None] == self.classes_) * 1.0
        self._weights = np.linalg.solve(rows.T @ rows + np.eye(rows.shape[1]), rows.T @ wanted)

    def predict_proba(self, images: np.ndarray) -> np.ndarray:
        scores = 6 * (np.c_[images, np.ones(len(images))] @ self._weights)
        likely = np.exp(scores - scores.max(1, keepdims=True))
        return np.asarray(likely / likely.sum(1, keepdims=True))

    def score(self, images: np.ndarray, targets: np.ndarray) -> float:
        return float((self.classes_[self.predict_proba(images).argmax(1)] == targets).mean())


def asked(latents: np.ndarray, labels: list[int | None], chances: np.ndarray, held: int) -> Samples:
    subsets = ["validation"] * held + ["unlabeled"] * (len(latents) - held)
    return Samples.from_arrays(latents, labels, chances, {"subset": subsets})


@pytest.mark.parametrize("method", ["coreset", "mix"])
@pytest.mark.parametrize("missing", [0, 4, 7])
def test_a_class_that_no_labelled_sample_has_is_among_the_first(method: str, missing: int) -> None:
    order = np.random.default_rng(missing).permutation(len(IMAGES))
    known = order[TARGETS[order] != missing][:200]
    # A few of the new class among many others.
    others = order[~np.isin(order, known)]
    pool = np.concatenate([others[TARGETS[others] == missing][:30], others[TARGETS[others] != missing][:970]])
    model = Linear(IMAGES[known], TARGETS[known])
    chances = np.zeros((len(known) + len(pool), 10), np.float32)
    rows = np.concatenate([known, pool])
    chances[:, model.classes_] = model.predict_proba(IMAGES[rows])
    labels = [int(one) for one in TARGETS[known]] + [None] * len(pool)
    samples = asked(IMAGES[rows], labels, chances, len(known))
    first = choose_to_label(samples, 20, method=method).table["sample"].to_pylist()
    assert any(TARGETS[rows[int(one)]] == missing for one in first)


def test_twenty_chosen_by_a_mix_teach_more_than_twenty_at_random() -> None:
    gains = []
    for seed in range(10):
        chance = np.random.default_rng(seed)
        order = chance.permutation(len(IMAGES))
        known, pool, test = order[:30], order[30:1200], order[1200:]
        model = Linear(IMAGES[known], TARGETS[known])
        rows = np.concatenate([known, pool])
        chances = np.zeros((len(rows), 10), np.float32)
        chances[:, model.classes_] = model.predict_proba(IMAGES[rows])
        samples = asked(IMAGES[rows], [int(one) for one in TARGETS[known]] + [None] * len(pool), chances, 30)
        by_mix = rows[[int(one) for one in choose_to_label(samples, 20).table["sample"].to_pylist()]]
        scores = []
        for more in (by_mix, chance.choice(pool, 20, replace=False)):
            taught = np.concatenate([known, more])
            again = Linear(IMAGES[taught], TARGETS[taught])
            scores.append(again.score(IMAGES[test], TARGETS[test]))
        gains.append(scores[0] - scores[1])
    assert np.mean(gains) > 2 * np.std(gains) / np.sqrt(10)


@pytest.fixture(scope="module")
def models() -> list[tuple[Linear, np.ndarray, np.ndarray]]:
    """Models of 100 digits each, 300 held-out digits and about 1,400 others."""
    made = []
    for seed in range(30):
        order = np.random.default_rng(100 + seed).permutation(len(IMAGES))
        model = Linear(IMAGES[order[:100]], TARGETS[order[:100]])
        made.append((model, order[100:400], order[400:]))
    return made


def estimated(model: Linear, held: np.ndarray, images: np.ndarray) -> Samples:
    both = np.concatenate([IMAGES[held], images])
    labels = [int(one) for one in TARGETS[held]] + [None] * len(images)
    return asked(both, labels, model.predict_proba(both), len(held))


def test_the_estimate_holds_in_nine_of_ten_splits(models: list) -> None:
    held = 0
    for model, known, others in models:
        found = estimate_accuracy(estimated(model, known, IMAGES[others]))
        held += found.low <= model.score(IMAGES[others], TARGETS[others]) <= found.high
        assert found.high - found.low < 0.12
    assert held >= 27


@pytest.mark.parametrize("shift", ["noise", "moved", "dimmed"])
def test_under_a_planted_shift_the_interval_opens_and_the_words_warn(models: list, shift: str) -> None:
    change = {
        "noise": lambda x: x + np.random.default_rng(0).normal(0, 0.5, x.shape).astype(np.float32),
        "moved": lambda x: np.roll(x.reshape(-1, 8, 8), 1, 2).reshape(len(x), -1),
        "dimmed": lambda x: x * np.float32(0.3),
    }[shift]
    held = 0
    for model, known, others in models[:10]:
        images = change(IMAGES[others])
        found = estimate_accuracy(estimated(model, known, images))
        right = model.score(images, TARGETS[others])
        held += found.low <= right <= found.high
        if not found.low <= right <= found.high or found.unlike:
            assert found.unlike > 0
            assert "do not trust" in found.words
    assert held >= 9


def test_more_of_some_classes_is_no_shift(models: list) -> None:
    held = 0
    for model, known, others in models[:10]:
        few = others[TARGETS[others] < 5]
        found = estimate_accuracy(estimated(model, known, IMAGES[few]))
        held += found.low <= model.score(IMAGES[few], TARGETS[few]) <= found.high
        assert found.unlike == 0
    assert held >= 8
