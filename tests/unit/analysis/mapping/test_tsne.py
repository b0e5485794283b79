from __future__ import annotations

import numpy as np
import pytest

from cutaway.analysis.mapping.making import tsne_positions

pytest.importorskip("sklearn")


def test_it_parts_the_digits_and_repeats(digits: tuple[np.ndarray, np.ndarray]) -> None:
    images, labels = digits[0][:300], digits[1][:300]
    found, notes = tsne_positions(images, 0)
    assert notes == ()
    assert np.array_equal(found, tsne_positions(images, 0)[0])
    apart = np.linalg.norm(found[:, None] - found[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    assert (labels[apart.argmin(axis=1)] == labels).mean() > 0.9


def test_many_samples_are_a_part_and_the_others_are_placed_and_it_says_so(
    digits: tuple[np.ndarray, np.ndarray],
) -> None:
    found, notes = tsne_positions(digits[0][:400], 0, largest=250)
    assert np.isfinite(found).all()
    assert len(np.unique(found, axis=0)) > 390
    assert notes == ("t-SNE of 250 of 400 samples, chosen by the seed; the others are placed near those.",)


@pytest.mark.parametrize("rows", [4, 5, 20])
def test_few_or_equal_samples_stay_finite(rows: int) -> None:
    assert np.isfinite(tsne_positions(np.zeros((rows, 3), np.float32), 0)[0]).all()
    assert np.isfinite(tsne_positions(np.eye(rows, dtype=np.float32), 0)[0]).all()
