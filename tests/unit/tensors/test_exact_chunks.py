"""Chunks in float64: each row as the reference has it."""

import numpy as np
import pytest

from cutaway.tensors.chunk_layout import CHUNK
from cutaway.tensors.exact_chunks import changed_squares, exact_chunks
from cutaway.tensors.statistics import reference_statistics


def test_every_row_agrees_with_the_reference() -> None:
    generator = np.random.default_rng(0)
    rows = generator.standard_normal((6, CHUNK)).astype(np.float32)
    rows[1, 3], rows[2, ::2], rows[3], rows[4] = np.nan, np.inf, np.nan, 1e30
    rows[5, 7:] = 0
    valid = np.array([CHUNK, CHUNK, CHUNK, CHUNK, CHUNK, 9])
    found = exact_chunks(rows, valid)
    for place, (row, length) in enumerate(zip(rows, valid, strict=True)):
        expected = reference_statistics(row[:length])
        assert found.count[place] == expected.size - expected.nonfinite
        assert found.zeros[place] == expected.zeros
        assert found.l1[place] == pytest.approx(expected.l1)
        assert np.sqrt(found.squares[place]) == pytest.approx(expected.l2)
        if found.count[place]:
            assert (found.min[place], found.max[place]) == (expected.min, expected.max)
            assert found.abs_min[place] == expected.abs_min
            assert found.total[place] / found.count[place] == pytest.approx(expected.mean)
            spread = np.sqrt(found.deviation[place] / found.count[place])
            assert spread == pytest.approx(expected.std, abs=1e-15 * expected.l2)


def test_a_row_without_finite_values_loses_against_every_other() -> None:
    found = exact_chunks(np.full((1, CHUNK), np.nan, np.float32), np.array([CHUNK]))
    assert (found.count[0], found.zeros[0], found.min[0], found.max[0]) == (0, 0, np.inf, -np.inf)
    assert (found.total[0], found.l1[0], found.squares[0], found.deviation[0]) == (0, 0, 0, 0)


def test_a_change_counts_where_both_values_are_finite() -> None:
    now, before = np.zeros((2, CHUNK), np.float32), np.zeros((2, CHUNK), np.float32)
    now[0, :3], before[0, :3] = [3, np.nan, 3e38], [-1, 2, -3e38]
    assert changed_squares(now, before).tolist() == pytest.approx([16 + (2 * np.float64(np.float32(3e38))) ** 2, 0])
    assert changed_squares(before, before).tolist() == [0, 0]
