from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.slices.fitting import left_over
from cutaway.analysis.slices.outcome import Target, target_of
from cutaway.analysis.slices.searching import box_score


def test_scores_of_rare_mistakes_are_as_rare_as_they_say() -> None:
    random = np.random.default_rng(0)
    # A box of 150 rows with 3 % of mistakes, 20,000 times: the plain score passes 3 six times too often.
    hits = random.binomial(150, 0.03, 20_000)
    scores = []
    for count in np.unique(hits):
        wrong = np.zeros(20_000)
        wrong[:count] = 1
        wrong[150 : 150 + 596] = 1
        scores.append(box_score(left_over(target_of(wrong), ()), np.arange(20_000) < 150)[0])
    passed = np.asarray(scores)[np.searchsorted(np.unique(hits), hits)] > 3
    assert passed.mean() < 3 * 0.00135


def test_slices_that_add_up_and_the_worse_of_two_leave_nothing_over() -> None:
    random = np.random.default_rng(1)
    one, two = random.random(40_000) < 0.2, random.random(40_000) < 0.2
    both = one & two
    for chance in (0.1 + 0.3 * one + 0.3 * two, 0.1 + np.maximum(0.3 * one, 0.2 * two)):
        target = target_of((random.random(40_000) < chance).astype(float))
        left = left_over(target, [one, two])
        assert abs(box_score(left, both)[0]) < 3.5
        assert box_score(left_over(target, [one]), two)[0] > 10


def test_more_slices_than_a_word_has_bits_are_told_apart() -> None:
    random = np.random.default_rng(2)
    masks = [random.random(2000) < 0.05 for _ in range(70)]
    target = Target(masks[66].astype(np.float64), binary=True, spread=0.2)
    assert box_score(left_over(target, masks), masks[66])[1] < 0.1


@pytest.mark.parametrize("outcome", [[0.0, 1.0, 1.0, 0.0], [2.0, 5.0, 5.0, 2.0]])
def test_two_values_are_wrong_and_right(outcome: list[float]) -> None:
    target = target_of(np.array(outcome))
    assert target.binary
    assert target.scores.tolist() == [0, 1, 1, 0]


def test_a_loss_is_tested_by_its_ranks() -> None:
    losses = np.array([1.0, 2.0, 3.0, 4.0, 1e300])
    assert np.allclose(target_of(losses).scores, target_of(np.arange(5.0)).scores)
