"""Linear resizing: against numpy's own interpolation, and what holds for any sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.heat_maps.resizing import resize

sizes = st.integers(1, 40)


@given(sizes, sizes)
def test_one_axis_is_linear_between_the_centres_of_cells(old: int, new: int) -> None:
    values = np.random.default_rng(old).normal(size=(2, old)).astype(np.float32)
    centres, wanted_at = (np.arange(old) + 0.5) / old, (np.arange(new) + 0.5) / new
    wanted = [np.interp(wanted_at, centres, row) for row in values]
    assert np.allclose(resize(values, [new]), wanted, atol=1e-5)


@given(sizes, sizes, sizes, sizes)
def test_it_stays_within_the_values_and_keeps_constants(a: int, b: int, c: int, d: int) -> None:
    values = np.random.default_rng(a * b).random((1, a, b)).astype(np.float32)
    large = resize(values, [c, d])
    assert large.shape == (1, c, d)
    assert values.min() - 1e-6 <= large.min() <= large.max() <= values.max() + 1e-6
    assert np.allclose(resize(np.ones((1, a, b)), [c, d]), 1)


@pytest.mark.parametrize(
    ("old", "new"), [((7,), (31,)), ((7, 5), (28, 28)), ((28, 28), (9, 13)), ((1, 1), (4, 3)), ((3, 4, 5), (8, 6, 7))]
)
def test_it_is_torchs_interpolation_without_aligned_corners(old: tuple[int, ...], new: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    values = np.random.default_rng(3).normal(size=(4, *old)).astype(np.float32)
    mode = {1: "linear", 2: "bilinear", 3: "trilinear"}[len(old)]
    wanted = torch.nn.functional.interpolate(torch.tensor(values)[:, None], new, mode=mode)[:, 0].numpy()
    assert np.abs(resize(values, new) - wanted).max() < 1e-5


def test_nan_stays_beside_its_place() -> None:
    values = np.zeros((1, 8), np.float32)
    values[0, 0] = np.nan
    assert np.isfinite(resize(values, [16])[0, 4:]).all()
