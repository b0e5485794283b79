from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.slices.finding import SliceDifference, clipped, difference, in_words


def test_the_interval_of_a_difference_of_shares_covers_it_as_often_as_it_says() -> None:
    random = np.random.default_rng(0)
    rows = np.arange(2000) < 60
    covered = 0
    for _ in range(400):
        low, high = difference((random.random(2000) < np.where(rows, 0.25, 0.05)).astype(float), rows).interval
        covered += low <= 0.2 <= high
    assert covered >= 370


def test_extremes_are_cut_off_and_two_values_stay() -> None:
    values = np.append(np.arange(1000.0), [1e30, np.inf])
    assert clipped(values).max() < 1000
    assert clipped(np.array([0.0, 1.0, 1.0])).tolist() == [0, 1, 1]
    assert clipped(np.array([0.0, np.inf, 0.0])).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("found", "share", "words"),
    [
        (SliceDifference(0.21, 0.09, (0, 1)), True, "error 21 % where a = 1 and b < 2, 9 % elsewhere: 412 samples"),
        (
            SliceDifference(0.0123, 0.0119, (0, 1)),
            True,
            "error 1.23 % where a = 1 and b < 2, 1.19 % elsewhere: 412 samples",
        ),
        (SliceDifference(0.3, 0.0, (0, 1)), True, "error 30 % where a = 1 and b < 2, 0 % elsewhere: 412 samples"),
        (SliceDifference(0.3, 0.002, (0, 1)), True, "error 30.0 % where a = 1 and b < 2, 0.2 % elsewhere: 412 samples"),
        (SliceDifference(1.234, 0.456, (0, 1)), False, "error 1.2 where a = 1 and b < 2, 0.46 elsewhere: 412 samples"),
    ],
)
def test_words_have_the_digits_that_tell_apart(found: SliceDifference, share: bool, words: str) -> None:
    assert in_words("error", found, ("a = 1", "b < 2"), 412, share=share) == words
