from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.samples.coding import coded, left_out, most_frequent
from cutaway.errors import ConfigurationError


def _coded(values: pa.Array, order: tuple[str, ...] = ()) -> tuple[tuple[str, ...], list[int]]:
    found = coded("x", pa.chunked_array([values[:1], values[1:]]), order)
    return found.names, found.codes.tolist()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array(["b", None, "a", "b"]), (("a", "b"), [1, -1, 0, 1])),
        (pa.array([10, 9, None, 10]), (("9", "10"), [1, 0, -1, 1])),
        (pa.array([0.5, float("nan"), None, -1.0]), (("-1.0", "0.5"), [1, -1, -1, 0])),
        (pa.array([True, False, None]), (("no", "yes"), [1, 0, -1])),
        (pa.array([None, None], pa.null()), ((), [-1, -1])),
        (pa.array([None, None], pa.string()), ((), [-1, -1])),
        (pa.array([], pa.string()), ((), [])),
        (pa.array(["b", "a"]).dictionary_encode(), (("a", "b"), [1, 0])),
    ],
)
def test_values_are_numbered_in_their_order(values: pa.Array, expected: tuple[tuple[str, ...], list[int]]) -> None:
    assert _coded(values) == expected


def test_a_given_order_comes_first_whether_its_values_occur_or_not() -> None:
    assert _coded(pa.array(["x", "b", "a"]), ("b", "c")) == (("b", "c", "a", "x"), [3, 0, 2])


@pytest.mark.parametrize("values", [pa.array([[1], [2]]), pa.array([b"a", b"b"])])
def test_columns_without_plain_values_are_refused(values: pa.Array) -> None:
    with pytest.raises(ConfigurationError, match="one plain value for each sample is needed"):
        _coded(values)


def test_of_many_values_the_most_frequent_stay_in_their_order() -> None:
    found, others = most_frequent(coded("x", pa.chunked_array([["c", "a", "b", "c", "a", None]]), ("z",)), 2)
    assert (found.names, found.codes.tolist(), others) == (("a", "c"), [1, 0, -1, 1, 0, -1], 1)


def test_some_rows_keep_the_names_of_all() -> None:
    found = coded("x", pa.chunked_array([["b", "a"]])).of(np.array([True, False]))
    assert (found.names, found.codes.tolist()) == (("a", "b"), [1])


def test_nothing_left_out_says_nothing() -> None:
    assert left_out(5, {"without a loss": 0}) == ()
