"""Similar samples: who they are, what they are labelled, and the units behind it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from cutaway.analysis.neighbours import build_index
from cutaway.analysis.neighbours.similar import FEW, Similar, find_similar, rows_in_region
from cutaway.analysis.samples import Samples
from cutaway.errors import AnalysisUnavailable, ConfigurationError

Array = npt.NDArray[Any]


def search(samples: Samples, query: Any, k: int, among: Array | None = None) -> Similar:
    return find_similar(samples, build_index(samples.latents), query, k, among=among)


@pytest.fixture(scope="module")
def digits() -> Samples:
    loaded = load_digits()
    return Samples.from_arrays(loaded.data.astype(np.float32), loaded.target)


def line(*values: float) -> Samples:
    return Samples.from_arrays(np.array(values, np.float32)[:, None])


def test_the_neighbours_of_a_digit_are_mostly_the_same_digit_with_the_counts_shown(digits: Samples) -> None:
    found = search(digits, 0, 20)
    assert found.table.column_names == ["sample", "distance", "subset", "label"]
    assert "0" not in found.table["sample"].to_pylist()
    assert next(iter(found.counts)) == digits.table["label"][0].as_py()
    assert sum(found.counts.values()) == 20
    distances = found.table["distance"].to_numpy()
    assert (np.diff(distances) >= 0).all()
    assert distances[0] > 0


def test_columns_that_are_there_are_shown_in_their_order() -> None:
    chances = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    samples = Samples.from_arrays(np.eye(3), [0, 1, 1], chances, {"metadata.x": [1, 2, 3]})
    found = search(samples, 0, 2).table
    assert found.column_names == ["sample", "distance", "subset", "label", "prediction", "correct", "loss"]


def test_the_distance_to_several_is_that_to_the_nearest_and_they_are_not_found_themselves() -> None:
    samples = line(0.0, 1.0, 10.0, 13.0, 100.0, 5.2)
    found = search(samples, [0, 2], 3).table
    assert found["sample"].to_pylist() == ["1", "3", "5"]
    assert np.allclose(found["distance"].to_numpy(), [1.0, 3.0, 4.8])


def test_a_new_vector_finds_every_sample_also_one_that_is_equal() -> None:
    samples = line(0.0, 1.0, 5.0)
    assert search(samples, np.array([1.0]), 2).table["sample"].to_pylist() == ["1", "0"]
    assert search(samples, np.array([[1.0], [5.0]], np.float32), 3).table["distance"].to_pylist() == [0.0, 0.0, 1.0]


def test_a_copy_of_the_queried_sample_is_similar_to_it() -> None:
    assert search(line(2.0, 2.0, 3.0), 1, 1).table["sample"].to_pylist() == ["0"]


@given(seed=st.integers(0, 500), many=st.booleans(), masked=st.booleans(), k=st.integers(1, 250))
@settings(max_examples=40, deadline=None)
def test_several_samples_find_what_the_definition_says(seed: int, many: bool, masked: bool, k: int) -> None:
    rng = np.random.default_rng(seed)
    samples = Samples.from_arrays(rng.standard_normal((200, 3)).astype(np.float32))
    rows = rng.choice(200, FEW + 5 if many else 5, replace=False)
    among = rng.random(200) < 0.5 if masked else None
    found = search(samples, rows, k, among).table
    left = np.setdiff1d(np.arange(200) if among is None else np.flatnonzero(among), rows)
    gaps = np.linalg.norm(samples.latents[left, None] - samples.latents[rows], axis=2).min(axis=1)
    expected = np.sort(gaps)[:k]
    assert np.allclose(found["distance"].to_numpy(), expected, atol=1e-5)
    assert set(found["sample"].to_pylist()) <= {str(one) for one in left}


def test_units_that_query_and_neighbours_share_are_named_with_their_shares() -> None:
    rng = np.random.default_rng(0)
    latents = rng.random((300, 6)).astype(np.float32) * 0.1
    latents[:30, 4] += 5
    latents[:30, 2] += 2
    units = search(Samples.from_arrays(latents), 0, 10).units
    assert units["unit"].to_pylist()[:2] == [4, 2]
    shares = units["share"].to_numpy()
    assert shares[0] > 0.8
    assert shares.sum() <= 1 + 1e-9
    assert (shares > 0).all()
    first = {name: units[name][0].as_py() for name in units.column_names}
    assert first["active"]
    assert first["query"] == pytest.approx(float(latents[0, 4]))
    assert first["neighbours"] == pytest.approx(5, abs=0.2)
    assert first["population"] == pytest.approx(float(latents[:, 4].mean()), rel=1e-5)


def test_a_unit_that_is_silent_in_both_is_shared_but_not_active() -> None:
    latents = np.ones((100, 2), np.float32)
    latents[:10, 0] = 0
    units = search(Samples.from_arrays(latents), 0, 5).units
    assert units["unit"].to_pylist() == [0]
    assert units["active"].to_pylist() == [False]


def test_constant_vectors_have_neighbours_but_no_units() -> None:
    found = search(Samples.from_arrays(np.ones((5, 3))), 2, 10)
    assert found.table["sample"].to_pylist() == ["0", "1", "3", "4"]
    assert found.units.num_rows == 0


def test_one_sample_has_no_neighbours() -> None:
    found = search(line(1.0), 0, 5)
    assert found.table.num_rows == 0
    assert found.counts == {}


def test_a_sample_without_a_finite_vector_is_refused_and_one_of_several_is_left_out() -> None:
    samples = line(0.0, np.nan, 2.0, 3.0)
    with pytest.raises(AnalysisUnavailable, match="sample '1' is not finite"):
        search(samples, 1, 2)
    found = search(samples, [1, 3], 5)
    assert found.table["sample"].to_pylist() == ["2", "0"]
    assert any("1 of 2 queried samples" in one for one in found.notes)


@pytest.mark.parametrize("query", [7, -1, [0, 9], [], "a", np.zeros((2, 2), int)])
def test_a_query_that_is_no_sample_is_refused(query: Any) -> None:
    with pytest.raises(ConfigurationError):
        search(line(0.0, 1.0), query, 1)


def test_an_index_or_a_mask_of_other_samples_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="index has 2 rows, but there are 3"):
        find_similar(line(1, 2, 3), build_index(np.eye(2)), 0, 1)
    with pytest.raises(ConfigurationError, match="one yes or no for each of 2 samples"):
        search(line(0.0, 1.0), 0, 1, np.ones(3, bool))


def test_labels_that_are_missing_are_not_counted() -> None:
    samples = Samples.from_arrays(np.arange(4.0)[:, None], ["a", None, "b", "b"])
    assert search(samples, 0, 3).counts == {"b": 2}
    assert isinstance(search(samples, 0, 3).units, pa.Table)


class TestRegions:
    def test_a_box_holds_its_edges_and_no_sample_without_a_position(self) -> None:
        positions = np.array([[0, 0], [1, 1], [1.1, 0.5], [np.nan, np.nan]], np.float32)
        assert rows_in_region(positions, [[1, 1], [0, 0]]).tolist() == [True, True, False, False]

    def test_a_polygon_with_a_dent_leaves_out_what_lies_in_the_dent(self) -> None:
        dented = [[0, 0], [4, 0], [4, 4], [2, 1], [0, 4]]
        positions = np.array([[2, 0.5], [2, 3], [0.5, 2], [3.5, 2], [5, 1]], np.float32)
        assert rows_in_region(positions, dented).tolist() == [True, False, True, True, False]

    @given(seed=st.integers(0, 300))
    def test_a_box_as_a_polygon_holds_the_same(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        positions, (low, high) = rng.random((50, 2)), np.sort(rng.random((2, 2)), axis=0)
        corners = [low, [high[0], low[1]], high, [low[0], high[1]]]
        turned = np.roll(corners, int(rng.integers(4)), axis=0)[:: rng.choice([-1, 1])]
        assert np.array_equal(rows_in_region(positions, turned), rows_in_region(positions, [low, high]))

    @pytest.mark.parametrize("region", [[[0, 0]], [0, 1], [[0, 0], [np.nan, 1]], [[0, 0, 0], [1, 1, 1]]])
    def test_what_is_no_region_is_refused(self, region: Any) -> None:
        with pytest.raises(ConfigurationError, match="two corners of a box"):
            rows_in_region(np.zeros((1, 2)), region)
