"""The reference: what each statistic and reduction means."""

import math
from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cutaway.errors import ConfigurationError
from cutaway.tensors.reduction_config import NORMS, REDUCTIONS
from cutaway.tensors.statistics import Statistics, from_statistics, reduce, reference_change, reference_statistics

any_float = st.floats(width=32, allow_nan=True, allow_infinity=True)
usual_float = st.floats(-1e6, 1e6, width=32)
any_array = hnp.arrays(np.float32, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6), elements=any_float)
usual_array = hnp.arrays(np.float32, st.integers(1, 40), elements=usual_float)


def close(found: Statistics, expected: Statistics) -> bool:
    return all(
        np.isclose(left, right, rtol=1e-9, atol=1e-12, equal_nan=True)
        for left, right in zip(asdict(found).values(), asdict(expected).values(), strict=True)
    )


@given(any_array)
def test_statistics_count_everything_and_describe_the_finite_values(array: np.ndarray) -> None:
    found = reference_statistics(array)
    finite = array[np.isfinite(array)].astype(np.float64)
    assert found.size == array.size
    assert found.nonfinite == array.size - finite.size
    assert found.zeros == np.count_nonzero(finite == 0)
    assert found.l1 == pytest.approx(np.absolute(finite).sum())
    assert found.l2 == pytest.approx(math.hypot(*finite))
    if finite.size:
        assert (found.min, found.max) == (finite.min(), finite.max())
        assert found.abs_min == np.absolute(finite).min()
        assert found.min <= found.mean <= found.max or math.isclose(found.mean, found.min)
        assert found.std == pytest.approx(finite.std(), rel=1e-9, abs=1e-12 * max(-found.min, found.max))
    else:
        assert all(math.isnan(value) for value in (found.min, found.max, found.mean, found.std, found.abs_min))


@given(any_array, st.randoms(use_true_random=False))
def test_the_order_of_values_does_not_matter(array: np.ndarray, random: object) -> None:
    shuffled = array.reshape(-1).tolist()
    random.shuffle(shuffled)
    found, expected = reference_statistics(np.array(shuffled, dtype=np.float32)), reference_statistics(array)
    assert (found.size, found.nonfinite, found.zeros) == (expected.size, expected.nonfinite, expected.zeros)
    scale = max(1e-300, expected.l2)
    assert all(
        np.isclose(left / scale, right / scale, rtol=1e-9, atol=1e-12, equal_nan=True)
        for left, right in zip(asdict(found).values(), asdict(expected).values(), strict=True)
    )


@given(usual_array, usual_array)
def test_the_statistics_of_two_parts_give_those_of_the_whole(left: np.ndarray, right: np.ndarray) -> None:
    one, two, whole = map(reference_statistics, (left, right, np.concatenate([left, right])))
    count = one.size + two.size
    mean = (one.mean * one.size + two.mean * two.size) / count
    square = one.size * (one.std**2 + (one.mean - mean) ** 2) + two.size * (two.std**2 + (two.mean - mean) ** 2)
    assert whole.zeros == one.zeros + two.zeros
    assert whole.min == min(one.min, two.min)
    assert whole.max == max(one.max, two.max)
    assert whole.abs_min == min(one.abs_min, two.abs_min)
    assert whole.l1 == pytest.approx(one.l1 + two.l1)
    assert whole.l2 == pytest.approx(math.hypot(one.l2, two.l2))
    assert whole.mean == pytest.approx(mean, abs=1e-12 * whole.l1)
    assert whole.std == pytest.approx(math.sqrt(square / count), rel=1e-6, abs=1e-9 * whole.l2)


@pytest.mark.parametrize(
    "array",
    [
        np.array([True, False, True]),
        np.array([[1, 0], [-7, 3]], dtype=np.int64),
        np.array([0, 255, 3], dtype=np.uint8),
        np.array([0.5, -0.25, 65504], dtype=np.float16),
        np.array(3.5),
        np.arange(24, dtype=np.float32).reshape(2, 3, 4).transpose(2, 0, 1)[::2, :, ::-1],
        np.broadcast_to(np.float32(2), (3, 4)),
    ],
    ids=["bool", "int64", "uint8", "float16", "scalar", "strided", "broadcast"],
)
def test_every_type_and_layout_is_read_as_float64(array: np.ndarray) -> None:
    assert close(reference_statistics(array), reference_statistics(array.astype(np.float64).copy()))


def test_no_values_have_no_extremes_and_no_length() -> None:
    found = reference_statistics(np.empty((0, 3), dtype=np.float32))
    assert (found.size, found.nonfinite, found.zeros, found.l1, found.l2) == (0, 0, 0, 0.0, 0.0)
    assert all(math.isnan(value) for value in (found.min, found.max, found.mean, found.std, found.abs_min))


@pytest.mark.parametrize("value", [0.1, 1e300, 1e-300, 5e-324, -1.7e308, 16777217.0])
def test_a_constant_has_itself_as_mean_and_no_spread(value: float) -> None:
    found = reference_statistics(np.full(3, value))
    assert (found.min, found.max, found.mean, found.std) == (value, value, value, 0.0)


@pytest.mark.parametrize("size", [1e300, 1e-300, 1e-320])
def test_squares_that_float64_cannot_hold_do_not_spoil_the_norms(size: float) -> None:
    found = reference_statistics(np.array([3.0, -4.0]) * size)
    assert found.l1 == pytest.approx(7 * size, rel=1e-3)
    assert found.l2 == pytest.approx(5 * size, rel=1e-3)
    assert found.std == pytest.approx(3.5 * size, rel=1e-3)


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(TypeError, match="complex"):
        reference_statistics(np.array([1j]))


def test_the_change_is_the_norm_of_the_difference_where_both_are_finite() -> None:
    assert reference_change([1.0, 2.0, np.nan, np.inf], [4.0, 6.0, 1.0, 5.0]) == 5.0
    assert reference_change([], []) == 0.0
    assert reference_change([1e-30], [0.0]) == 1e-30


@pytest.mark.parametrize(
    ("reduction", "plain", "absolute"),
    [
        ("min", -4.0, 1.0),
        ("max", 3.0, 4.0),
        ("mean", 0.5, 2.5),
        ("sum", 2.0, 10.0),
        ("prod", -24.0, 24.0),
        ("median", 1.5, 2.5),
        ("variance", 7.25, 1.25),
        ("std", math.sqrt(7.25), math.sqrt(1.25)),
        ("l1", 10.0, 10.0),
        ("l2", math.sqrt(30), math.sqrt(30)),
        ("l2_norm", math.sqrt(30), math.sqrt(30)),
    ],
)
def test_reductions_are_those_of_the_flattened_array(reduction: str, plain: float, absolute: float) -> None:
    array = np.array([[1.0, -4.0], [3.0, 2.0]])
    assert reduce(array, reduction) == pytest.approx(plain)
    assert reduce(array, reduction, abs=True) == pytest.approx(absolute)
    assert reduce(array.reshape(2, 1, 2), reduction) == reduce(array, reduction)


@pytest.mark.parametrize("reduction", REDUCTIONS + NORMS)
def test_a_nan_never_hides_in_a_reduction(reduction: str) -> None:
    assert math.isnan(reduce([1.0, math.nan, 2.0], reduction))
    assert math.isnan(reduce([1.0, math.nan, 2.0], reduction, abs=True))


@pytest.mark.parametrize(("reduction", "value"), [("sum", 0), ("prod", 1), ("l1", 0), ("l2", 0)])
def test_a_reduction_of_nothing_is_its_neutral_value(reduction: str, value: float) -> None:
    assert reduce([], reduction) == value


@pytest.mark.parametrize("reduction", ["min", "max", "mean", "std", "variance", "median"])
def test_a_reduction_of_nothing_without_neutral_value_is_nan(reduction: str) -> None:
    assert math.isnan(reduce([], reduction))
    assert math.isnan(from_statistics(reference_statistics([]), reduction) or math.nan)


def test_an_unknown_reduction_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'mean'"):
        reduce([1.0], "maen")


@pytest.mark.parametrize("as_row", [lambda found: found, asdict], ids=["dataclass", "mapping"])
@given(array=usual_array, reduction=st.sampled_from(REDUCTIONS + NORMS), absolute=st.booleans())
def test_statistics_answer_what_the_array_would(
    as_row: Callable[[Statistics], object], array: np.ndarray, reduction: str, absolute: bool
) -> None:
    row = reference_statistics(array)
    found = from_statistics(as_row(row), reduction, abs=absolute)
    if reduction in ("prod", "median"):
        assert found is None
    elif found is None:
        assert absolute
        assert reduction in ("std", "variance")
    else:
        size = row.l2**2 if reduction == "variance" else row.l1 if reduction == "sum" else row.l2
        assert found == pytest.approx(reduce(array, reduction, abs=absolute), rel=1e-6, abs=1e-7 * size)


def test_the_spread_of_absolute_values_is_not_guessed_where_the_norms_cancel() -> None:
    signs = np.where(np.arange(1000) % 2, 1.0, -1.0)
    assert from_statistics(reference_statistics(signs * 5), "std", abs=True) is None
    assert from_statistics(reference_statistics(signs * 5), "abs_variance") is None
    assert from_statistics(reference_statistics(np.linspace(5, 5.001, 9)), "abs_std") is not None


@pytest.mark.parametrize("reduction", ["min", "max", "mean", "std", "variance", "sum", "l1", "l2"])
def test_non_finite_values_make_the_answer_nan_unless_the_finite_ones_are_asked_for(reduction: str) -> None:
    row = reference_statistics([1.0, math.inf, -3.0])
    assert math.isnan(from_statistics(row, reduction))
    assert from_statistics(row, reduction, finite=True) == pytest.approx(reduce([1.0, -3.0], reduction))
    everything = reference_statistics([math.nan])
    assert from_statistics(everything, reduction, finite=True) == pytest.approx(reduce([], reduction), nan_ok=True)
