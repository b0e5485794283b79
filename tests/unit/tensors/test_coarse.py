"""Stretches of steps: equal to the plain minimum, maximum and last of each tensor, however the steps came in."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.tensors.coarse import Extremes, OpenStretch, merge_neighbours
from cutaway.tensors.statistic_names import COUNTS, FLOATS

NAMES = ("a", "b", "c", "d")
NUMBERS = st.floats(width=32) | st.just(math.nan)
ROWS = len(COUNTS) + 1 + len(FLOATS)


@st.composite
def steps_of_tensors(draw: st.DrawFn) -> list[tuple[tuple[str, ...], list[list[float]]]]:
    """Successive steps: which tensors each has, and one number per tensor that stands for all statistics."""
    count = draw(st.integers(1, 12))
    found = []
    for _ in range(count):
        names = tuple(draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=4)))
        found.append((names, draw(st.lists(NUMBERS, min_size=len(names), max_size=len(names)))))
    return found


def add(stretch: OpenStretch, names: tuple[str, ...], steps: list[int], numbers: list[list[float]]) -> None:
    values = np.array(numbers).reshape(1, len(steps), len(names))
    whole = np.nan_to_num(values, nan=0, posinf=9, neginf=9).clip(-(2**50), 2**50).astype(np.int64)
    stretch.add(stretch.places(names), steps, np.repeat(whole, 3, 0), np.repeat(values, len(FLOATS), 0))


def same(one: Any, other: Any) -> bool:
    return np.array_equal(np.asarray(one, float), np.asarray(other, float), equal_nan=True)


@given(steps_of_tensors())
def test_a_stretch_holds_the_least_greatest_and_last_of_each_tensor(given: list[Any]) -> None:
    growing = OpenStretch()
    for step, (names, numbers) in enumerate(given):
        add(growing, names, [10 * step], [numbers])
    found, _ = growing.close()
    assert found is not None
    assert (found.first, found.last) == (0, 10 * (len(given) - 1))
    assert found.names == tuple(dict.fromkeys(name for names, _ in given for name in names))
    for i, name in enumerate(found.names):
        own = [(10 * s, numbers[names.index(name)]) for s, (names, numbers) in enumerate(given) if name in names]
        values = [value for _, value in own if not math.isnan(value)]
        assert found.steps[i] == len(own)
        assert (found.own_first[i], found.own_last[i]) == (own[0][0], own[-1][0])
        for statistic in FLOATS:
            assert same(found.column(f"{statistic}_min")[i], min(values, default=math.nan))
            assert same(found.column(f"{statistic}_max")[i], max(values, default=math.nan))
            assert same(found.column(f"{statistic}_last")[i], own[-1][1])


@given(st.lists(NUMBERS, min_size=1, max_size=20), st.data())
def test_it_does_not_matter_how_many_steps_come_at_once(numbers: list[float], data: st.DataObject) -> None:
    single, grouped = OpenStretch(), OpenStretch()
    for step, number in enumerate(numbers):
        add(single, ("a",), [step], [[number]])
    start = 0
    while start < len(numbers):
        stop = data.draw(st.integers(start + 1, len(numbers)))
        add(grouped, ("a",), list(range(start, stop)), [[number] for number in numbers[start:stop]])
        start = stop
    one, other = single.close()[0], grouped.close()[0]
    assert one is not None
    assert other is not None
    assert one.names == other.names
    for name in ("steps", "own_first", "own_last", "size", "l2_min", "l2_max", "l2_last", "nonfinite_max"):
        assert same(one.column(name), other.column(name)), name


def test_counts_stay_exact() -> None:
    growing = OpenStretch()
    most = 2**53 + 1
    growing.add(growing.places("a"), [0], np.array([[[most]]] * 3), np.zeros((len(FLOATS), 1, 1)))
    found = growing.close()[0]
    assert found is not None
    assert found.column("nonfinite_max").tolist() == found.size.tolist() == [most]


def test_a_step_that_comes_in_two_goes_counts_once() -> None:
    growing = OpenStretch()
    add(growing, ("a",), [0, 1], [[1.0], [2.0]])
    add(growing, ("b",), [1], [[3.0]])
    assert growing.taken == 2
    assert growing.taken == 2


def test_places_last_until_a_stretch_does_without_a_tensor() -> None:
    growing = OpenStretch()
    add(growing, ("a", "b"), [0], [[1.0, 2.0]])
    assert growing.places(("b", "a")).tolist() == [1, 0]  # type: ignore[union-attr]
    assert growing.close()[1] is True
    add(growing, ("b",), [1], [[1.0]])
    found, places_hold = growing.close()
    assert found is not None
    assert found.names == ("b",)
    assert places_hold is False
    assert growing.close() == (None, True)


GRIDS = st.integers(1, 3).flatmap(
    lambda rows: st.integers(1, 17).flatmap(
        lambda columns: st.tuples(
            *(
                st.lists(st.floats(-9, 9) | st.none(), min_size=rows * columns, max_size=rows * columns).map(
                    lambda cells: np.array([math.nan if cell is None else cell for cell in cells]).reshape(rows, -1)
                )
                for _ in range(3)
            )
        )
    )
)


@given(GRIDS, st.integers(1, 5), st.integers(1, 5))
def test_merging_twice_is_merging_once(cells: Any, first: int, second: int) -> None:
    grid, there = Extremes(*cells), ~np.isnan(cells[2])
    once = merge_neighbours(grid, there, first)
    there_then = np.logical_or.reduceat(there, np.arange(0, there.shape[1], first), axis=1)
    twice = merge_neighbours(once, there_then, second)
    assert all(
        same(one, other) for one, other in zip(twice, merge_neighbours(grid, there, first * second), strict=True)
    )


@pytest.mark.parametrize(
    ("there", "wanted"), [([True, True], math.nan), ([True, False], 5.0), ([False, False], math.nan)]
)
def test_the_last_is_that_of_the_last_stretch_which_has_the_tensor(there: tuple[int, int], wanted: float) -> None:
    cells = np.array([[5.0, math.nan]])
    assert same(merge_neighbours(Extremes(cells, cells, cells), np.array([there], bool), 2).last, [[wanted]])
