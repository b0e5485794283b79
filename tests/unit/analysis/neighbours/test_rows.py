"""What is searched: which rows, how they are conditioned, and when they are copied."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cutaway.analysis.neighbours.rows import prepare
from cutaway.errors import ConfigurationError


def test_vectors_that_are_fit_are_used_where_they_lie(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).standard_normal((500, 6)).astype(np.float32)
    np.save(tmp_path / "latents.npy", vectors)
    mapped = np.load(tmp_path / "latents.npy", mmap_mode="r")
    rows = prepare(mapped)
    assert np.shares_memory(rows.vectors, mapped)
    assert rows.ids is None
    assert prepare(vectors).vectors.base is vectors or prepare(vectors).vectors is vectors


def test_rows_that_are_not_finite_are_left_out_and_the_others_keep_their_numbers() -> None:
    vectors = np.ones((4, 2), np.float32) * np.array([[1], [2], [-3], [4]], np.float32)
    vectors[1, 0] = np.nan
    vectors[3, 1] = np.inf
    rows = prepare(vectors)
    assert len(rows) == 2
    assert rows.total == 4
    assert rows.named(np.array([[1, 0, -1]])).tolist() == [[2, 0, -1]]


def test_a_number_that_single_precision_cannot_hold_counts_as_infinite() -> None:
    rows = prepare(np.array([[1e300, 0], [1, 0], [-1, 0]]))
    assert rows.ids is not None
    assert rows.ids.tolist() == [1, 2]


@pytest.mark.parametrize("shape", [(0, 3), (3, 1)])
def test_no_rows_and_one_column_are_rows(shape: tuple[int, int]) -> None:
    assert len(prepare(np.zeros(shape))) == shape[0]


@pytest.mark.parametrize(
    "vectors", [np.zeros(3), np.zeros((3, 0)), np.zeros((2, 2, 2)), np.array([["a"]]), np.zeros((2, 2), complex)]
)
def test_what_is_no_table_of_numbers_is_refused(vectors: np.ndarray) -> None:
    with pytest.raises(ConfigurationError, match="a row for each sample"):
        prepare(vectors)


def test_queries_that_cannot_be_compared_are_refused_with_the_reason() -> None:
    rows = prepare(np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32))
    with pytest.raises(ConfigurationError, match="rows of 3"):
        rows.conditioned(np.zeros((2, 4)))
    with pytest.raises(ConfigurationError, match="1 of 2 queries are not finite, the first is query 1"):
        rows.conditioned(np.array([[0, 0, 0], [0, np.nan, 0]]))
    with pytest.raises(ConfigurationError, match="single precision"):
        rows.conditioned(np.array([[1e30, 0, 0]]))


@pytest.mark.parametrize("among", [np.ones(3, bool), np.ones(4), np.arange(4)])
def test_a_mask_must_be_one_yes_or_no_for_each_row(among: np.ndarray) -> None:
    with pytest.raises(ConfigurationError, match="one yes or no for each of 4 rows"):
        prepare(np.eye(4)).positions(among)
