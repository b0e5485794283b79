import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.cli.words import age, number, printable, seconds_since, share, shorten, size


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-12.0, "-12"),
        (0.123456, "0.1235"),
        (99999.0, "99999"),
        (123456.0, "1.235e5"),
        (12345.6, "12346"),
        (1e-3, "0.001"),
        (1.5e-7, "1.5e-7"),
        (-1.23456e-300, "-1.235e-300"),
        (1e300, "1e300"),
        (math.nan, "NaN"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (None, "·"),
    ],
)
def test_numbers_are_short_and_keep_the_digits_that_count(value: float | None, written: str) -> None:
    assert number(value) == written


@given(st.floats(-1e308, 1e308))
def test_a_written_number_is_near_the_number(value: float) -> None:
    written = number(value)
    assert len(written) <= 11
    assert float(written) == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize(
    ("part", "whole", "written"),
    [(0, 10, "0 %"), (1, 10_000, "<0.1 %"), (1, 20, "5.0 %"), (9_999, 10_000, ">99 %"), (10, 10, "100 %"), (0, 0, "·")],
)
def test_a_share_never_rounds_something_to_nothing_or_a_part_to_all(part: int, whole: int, written: str) -> None:
    assert share(part, whole) == written


@pytest.mark.parametrize(
    ("bytes_", "written"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (123_456, "123 kB"),
        (999_600, "1.0 MB"),
        (5e9, "5.0 GB"),
        (7e15, "7000.0 TB"),
    ],
)
def test_sizes_have_the_unit_that_fits(bytes_: float, written: str) -> None:
    assert size(bytes_) == written


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(-5, "0 s"), (59, "59 s"), (60, "1 min"), (3_599, "59 min"), (86_400, "1 d"), (400 * 86_400, "1.1 y")],
)
def test_ages_have_one_unit(seconds: float, written: str) -> None:
    assert age(seconds) == written


@pytest.mark.parametrize("text", [None, "", "yesterday", 17, "2026-01-01"])
def test_a_time_that_is_none_has_no_age(text: object) -> None:
    assert seconds_since(text, datetime.now(UTC)) is None


def test_the_age_of_a_time_is_counted_from_now() -> None:
    assert seconds_since("2026-01-01T00:00:00+00:00", datetime(2026, 1, 1, 0, 1, tzinfo=UTC)) == 60


@pytest.mark.parametrize(
    ("width", "short"), [(30, "gradient/Net_conv1.weight"), (9, "grad…ight"), (2, "g…"), (1, "g"), (0, "")]
)
def test_a_long_name_loses_its_middle(width: int, short: str) -> None:
    assert shorten("gradient/Net_conv1.weight", width) == short


@pytest.mark.parametrize("nasty", ["\x1b[2J", "a\x07b", "a\r\nb", "\u202eabc", "\x9b31m"])
def test_nothing_that_steers_a_terminal_is_printed(nasty: str) -> None:
    assert printable(nasty).isprintable()
