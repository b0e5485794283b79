"""Balanced parts of a table: equal shares, small groups whole, and never a row twice."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.samples.balancing import balanced_rows
from cutaway.errors import ConfigurationError

letters = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=80)
counts, seeds = st.integers(1, 120), st.integers(0, 5)


def _sizes(table: pa.Table, by: list[str]) -> dict[tuple[object, ...], int]:
    found: dict[tuple[object, ...], int] = {}
    for row in zip(*(table[name].to_pylist() for name in by), strict=True):
        found[row] = found.get(row, 0) + 1
    return found


@given(letters, counts, seeds, st.booleans(), st.data())
def test_rows_are_sorted_none_comes_twice_and_there_are_never_too_many(
    values: list[str | None], count: int, seed: int, fill: bool, data: st.DataObject
) -> None:
    other = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    table = pa.table({"letter": pa.array(values, pa.string()), "flag": other})
    rows = balanced_rows(table, ["letter", "flag"], count, seed=seed, fill=fill)
    assert (np.diff(rows) > 0).all()
    assert len(rows) <= count
    assert len(rows) == 0 or 0 <= rows[0] <= rows[-1] < len(values)
    if fill:
        assert len(rows) == min(count, len(values))
    assert np.array_equal(rows, balanced_rows(table, ["letter", "flag"], count, seed=seed, fill=fill))


@given(letters, counts, seeds, st.booleans())
def test_groups_differ_by_at_most_one_unless_they_gave_all_they_had(
    values: list[str | None], count: int, seed: int, fill: bool
) -> None:
    table = pa.table({"letter": pa.array(values, pa.string())})
    rows = balanced_rows(table, "letter", count, seed=seed, fill=fill)
    there, drawn = _sizes(table, ["letter"]), _sizes(table.take(rows), ["letter"])
    open_ended = [drawn.get(group, 0) for group, size in there.items() if drawn.get(group, 0) < size]
    whole = [size for group, size in there.items() if drawn.get(group, 0) == size]
    assert not open_ended or max(open_ended) - min(open_ended) <= 1
    assert not open_ended or not whole or max(whole) <= max(open_ended) + 1


def test_a_small_group_is_in_whole_and_the_rest_fills_up_only_if_asked() -> None:
    table = pa.table({"label": ["a"] * 500 + ["b"] * 500 + ["c"] * 4})
    filled, short = (balanced_rows(table, ["label"], 300, fill=fill) for fill in (True, False))
    assert _sizes(table.take(filled), ["label"]) == {("a",): 148, ("b",): 148, ("c",): 4}
    assert _sizes(table.take(short), ["label"]) == {("a",): 100, ("b",): 100, ("c",): 4}


def test_another_seed_draws_other_rows() -> None:
    table = pa.table({"label": ["a", "b"] * 500})
    assert not np.array_equal(balanced_rows(table, "label", 50, seed=0), balanced_rows(table, "label", 50, seed=1))


def test_numbers_with_many_values_are_cut_at_quantiles() -> None:
    numbers = np.concatenate([np.random.default_rng(0).exponential(size=1000), [np.nan] * 300, [np.inf] * 10])
    drawn = numbers[balanced_rows(pa.table({"metadata.size": numbers}), ["metadata.size"], 600)]
    assert np.isfinite(drawn).sum() == 500
    assert (
        np.histogram(drawn[np.isfinite(drawn)], np.quantile(numbers[:1000], np.linspace(0, 1, 6)))[0].tolist()
        == [100] * 5
    )


def test_numbers_with_few_values_are_taken_as_they_are_and_missing_is_a_value() -> None:
    table = pa.table({"digit": pa.array([0] * 50 + [1] * 50 + [None] * 50, pa.int8())})
    assert _sizes(table.take(balanced_rows(table, "digit", 30)), ["digit"]) == {(0,): 10, (1,): 10, (None,): 10}


def test_no_columns_give_a_plain_part_and_an_empty_table_gives_no_rows() -> None:
    assert len(balanced_rows(pa.table({"label": ["a"] * 9 + ["b"]}), [], 5)) == 5
    assert len(balanced_rows(pa.table({"label": pa.array([], pa.string())}), ["label"], 5)) == 0


def test_encoded_columns_and_many_columns_work() -> None:
    flags = {f"flag{one}": np.random.default_rng(one).random(400) < 0.5 for one in range(70)}
    table = pa.table({**flags, "label": pa.array(["a", "b"] * 200).dictionary_encode()})
    assert len(balanced_rows(table, table.column_names, 100)) == 100


@pytest.mark.parametrize(
    ("by", "count", "message"),
    [
        ("labl", 5, r"no column 'labl'. Did you mean 'label'\?"),
        ("label", 0, r"`count >= 1` must hold, but got count=0"),
        ("box", 5, r"Column 'box' holds list"),
    ],
)
def test_wrong_arguments_are_refused_with_the_reason(by: str, count: int, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        balanced_rows(pa.table({"label": ["a"], "box": [[1, 2]]}), by, count)
