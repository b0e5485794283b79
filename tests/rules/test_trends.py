"""Whether a noisy series has come down."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.rules.trends import roughness, scatter, trend

FLOATS = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50).map(np.array)


def test_scatter_is_the_standard_deviation_of_white_noise() -> None:
    assert scatter(np.random.default_rng(0).normal(3.0, 2.0, 20_000)) == pytest.approx(2.0, rel=0.02)


def test_a_steady_slope_hardly_scatters() -> None:
    slope = np.linspace(0.0, 100.0, 1_000)
    assert scatter(slope) < 0.01 * slope.std()


def test_a_single_value_does_not_scatter() -> None:
    assert scatter(np.array([7.0])) == 0


def test_roughness_is_the_standard_deviation_even_around_a_course_that_is_steep_at_first() -> None:
    noise = np.random.default_rng(0).normal(0.0, 2.0, 20_000)
    steep = np.zeros(20_000)
    steep[:2_000] = np.linspace(1e4, 0, 2_000)
    assert roughness(noise + steep) == pytest.approx(2.0, rel=0.03)
    assert roughness(np.array([1.0, 5.0])) == 0


def test_differences_within_the_noise_are_rare_beyond_four_of_it() -> None:
    chance = np.random.default_rng(1)
    beyond = [trend(*chance.normal(size=(2, 10))) for _ in range(2_000)]
    assert sum(abs(one.fall) > 4 * one.noise for one in beyond) < 10


def test_percent_is_of_where_it_came_from() -> None:
    assert trend(np.array([4.0, 4.0]), np.array([3.0])).percent == 25
    assert trend(np.array([-4.0]), np.array([-3.0])).percent == -25
    assert np.isnan(trend(np.zeros(2), np.ones(2)).percent)


@given(FLOATS, st.floats(1e-3, 1e3), st.floats(-1e6, 1e6))
def test_scatter_grows_with_the_values_and_ignores_their_level(values: np.ndarray, factor: float, level: float) -> None:
    assert scatter(values * factor) == pytest.approx(factor * scatter(values), rel=1e-6, abs=1e-6)
    assert scatter(values + level) == pytest.approx(scatter(values), rel=1e-6, abs=1e-3)
