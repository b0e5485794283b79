"""Counting values: every one is counted once, whatever its type, and whatever is not finite is named."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cutaway.studio.tensors import histograms
from cutaway.studio.tensors.histograms import count_values

kinds = st.sampled_from(["float16", "float32", "float64", "int8", "int64", "uint8", "uint64", "bool"])
anything = kinds.flatmap(lambda kind: arrays.arrays(kind, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0)))


@settings(deadline=None)
@given(values=anything, bins=st.integers(1, 40))
@example(values=np.array(2.816687827226778e304), bins=3)
def test_every_value_is_counted_once(values: np.ndarray, bins: int) -> None:
    found = count_values(values, bins)
    wide = values.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    assert sum(found.counts) == len(finite)
    assert len(found.edges) == len(found.counts) + 1
    assert found.nan == np.isnan(wide).sum()
    assert (found.positive_infinity, found.negative_infinity) == ((wide == np.inf).sum(), (wide == -np.inf).sum())
    assert found.zeros == (finite == 0).sum()
    assert all(np.isfinite(edge) for edge in found.edges)
    assert found.edges == sorted(found.edges)
    if len(finite):
        assert (found.min, found.max) == (finite.min(), finite.max())
        assert found.edges[0] <= found.min
        assert found.max <= found.edges[-1]


def test_bins_mean_and_spread_are_those_of_numpy() -> None:
    values = np.random.default_rng(1).normal(3, 2, (100, 50)).astype(np.float32)
    found = count_values(values, 30)
    counts, edges = np.histogram(values.astype(np.float64), 30)
    assert found.counts == counts.tolist()
    np.testing.assert_allclose(found.edges, edges)
    assert found.mean == pytest.approx(values.mean(dtype=np.float64))
    assert found.std == pytest.approx(values.std(dtype=np.float64))


def test_a_large_array_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).normal(1e6, 1, 1000)
    whole = count_values(values, 20)
    monkeypatch.setattr(histograms, "PIECE", 7)
    parts = count_values(values, 20)
    assert (parts.counts, parts.edges, parts.zeros) == (whole.counts, whole.edges, whole.zeros)
    assert parts.mean == pytest.approx(whole.mean)
    assert parts.std == pytest.approx(whole.std)


@pytest.mark.parametrize("value", [0.0, 5.0, -1e-30, 1e300, -1.7e308, 3])
def test_a_constant_tensor_has_all_its_values_in_one_bin(value: float) -> None:
    found = count_values(np.full(100, value), 10)
    assert sorted(found.counts)[-1] == 100
    assert (found.min, found.max) == (value, value)
    assert found.std == pytest.approx(0)
    assert found.mean == pytest.approx(value)


def test_the_largest_numbers_do_not_overflow() -> None:
    found = count_values(np.array([-1.7e308, 1.7e308]), 4)
    assert found.counts == [1, 0, 0, 1]
    assert found.mean == 0
    assert found.std == pytest.approx(1.7e308)


def test_nothing_finite_leaves_an_empty_bin_and_counts() -> None:
    found = count_values(np.array([np.nan, np.inf, -np.inf, np.inf]), 10)
    assert (found.nan, found.positive_infinity, found.negative_infinity) == (1, 2, 1)
    assert found.counts == [0]
    assert (found.min, found.mean) == (None, None)
