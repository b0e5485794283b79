import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.cli.sparkline import ASCII_BLOCKS, BLOCKS, NOT_FINITE, sparkline
from cutaway.trial.summary import shrink

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        ([], ""),
        ([0, 1, 2, 3, 4, 5, 6, 7], BLOCKS),
        ([7, 0], "█▁"),
        ([5], "▄"),
        ([5, 5, 5], "▄▄▄"),
        ([0.0, 0.0], "▄▄"),
        ([NAN], "x"),
        ([NAN, NAN], "xx"),
        ([1, NAN, 2], "▁x█"),
        ([1, INF, -INF, 2], "▁xx█"),
        ([None, None], "  "),
        ([1, None, 2], "▁ █"),
        ([-1e308, 1e308], "▁█"),
        ([1e-320, 2e-320], "▁█"),
    ],
)
def test_a_series_is_drawn_between_its_own_minimum_and_maximum(values: list[float | None], drawn: str) -> None:
    assert sparkline(values) == drawn


def test_a_long_series_is_averaged_into_the_width() -> None:
    assert sparkline(range(8_000), 8) == BLOCKS
    assert shrink([0, 2, 10, 20], 2) == [1, 15]


def test_one_nan_in_a_long_series_is_never_averaged_away() -> None:
    values: list[float | None] = [1.0] * 10_000
    values[5_000] = NAN
    assert sparkline(values, 10).count(NOT_FINITE) == 1


def test_a_stretch_without_any_value_stays_a_gap() -> None:
    assert shrink([1, 1, None, None, 2, None], 3) == [1, None, 2]


def test_terminals_without_blocks_get_ascii() -> None:
    assert sparkline(range(8), blocks=ASCII_BLOCKS) == ASCII_BLOCKS
    assert ASCII_BLOCKS.isascii()


@pytest.mark.parametrize("width", [0, -3])
def test_a_width_without_room_is_refused_with_its_value(width: int) -> None:
    with pytest.raises(ValueError, match=f"`width >= 1` must hold, but got width={width}"):
        sparkline([1, 2], width)


@given(st.lists(st.none() | st.floats(allow_nan=True, allow_infinity=True, width=64), max_size=300), st.integers(1, 50))
def test_whatever_the_values_one_character_stands_for_each_stretch(values: list[float | None], width: int) -> None:
    drawn = sparkline(values, width)
    assert len(drawn) == min(len(values), width)
    assert set(drawn) <= set(BLOCKS) | {NOT_FINITE, " "}
    broken = any(value is not None and not math.isfinite(value) for value in values)
    assert (NOT_FINITE in drawn) == broken
