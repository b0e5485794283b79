from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.filters import parse_filter, rows_where
from cutaway.analysis.slices import Slice, SliceSearch, find_slices
from cutaway.analysis.slices import finding as finding_module
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.evaluation.progress import Progress


def _metadata(rows: int = 3000, seed: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    return {
        "thickness": random.uniform(1, 5, rows),
        "camera": random.choice(["a", "b", "c", "d"], rows),
        "night": random.random(rows) < 0.3,
    }


def _wrong(where: Any, rise: float = 0.4, base: float = 0.05, seed: int = 1) -> Any:
    return (np.random.default_rng(seed).random(len(where)) < np.where(where, base + rise, base)).astype(float)


def _jaccard(one: Any, two: Any) -> float:
    return float((one & two).sum() / (one | two).sum())


def _only(found: SliceSearch) -> Slice:
    assert len(found) == 1, [one.words for one in found]
    return found.slices[0]


def test_samples_below_a_number_that_are_worse_are_found_and_said_in_words() -> None:
    columns = _metadata()
    planted = columns["thickness"] < 1.5
    one = _only(find_slices(columns, _wrong(planted)))
    assert _jaccard(one.rows, planted) > 0.9
    assert one.where[0].startswith("thickness < ")
    assert re.fullmatch(r"error 4\d % where thickness < [\d.]+, 5 % elsewhere: \d+ samples", one.words)
    assert one.interval[0] < 0.4 < one.interval[1]
    assert one.effect == pytest.approx(one.inside - one.outside)
    assert one.count == one.rows.sum() == one.measured
    assert one.p < 1e-6


def test_a_slice_of_two_conditions_is_told_by_both() -> None:
    columns = _metadata()
    planted = columns["night"] & (columns["camera"] == "b")
    one = _only(find_slices(columns, _wrong(planted)))
    assert set(one.where) == {"camera = b", "night = true"}
    assert (one.rows == planted).all()


def test_a_slice_that_is_no_worse_than_its_parent_is_told_by_its_parent() -> None:
    columns = _metadata()
    planted = columns["camera"] == "c"
    one = _only(find_slices(columns, _wrong(planted)))
    assert one.where == ("camera = c",)


def test_two_slices_are_told_apart_where_they_overlap() -> None:
    columns = _metadata(6000)
    first, second = columns["thickness"] > 4.5, columns["camera"] == "a"
    found = find_slices(columns, _wrong(first | second))
    assert len(found) == 2
    assert max(_jaccard(one.rows, first) for one in found) > 0.9
    assert max(_jaccard(one.rows, second) for one in found) > 0.9


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    found = find_slices(_metadata(), _wrong(np.zeros(3000, bool)))
    assert len(found) == 0
    assert list(found) == []
    assert found.tested > 100


def test_losses_are_told_in_their_own_units_whatever_their_tail() -> None:
    columns = _metadata()
    planted = columns["camera"] == "d"
    losses = np.random.default_rng(2).pareto(1.0, 3000) * np.where(planted, 3, 1)
    losses[5] = 1e30
    one = _only(find_slices(columns, losses))
    assert one.where == ("camera = d",)
    assert 1 < one.effect < 20
    assert one.words.startswith("loss ")


def test_one_enormous_loss_is_no_slice() -> None:
    losses = np.random.default_rng(2).lognormal(size=3000)
    losses[:3] = 1e12
    assert len(find_slices(_metadata(), losses)) == 0


def test_numbers_that_are_missing_are_a_slice_of_their_own() -> None:
    columns = _metadata()
    missing = np.random.default_rng(3).random(3000) < 0.1
    columns["thickness"] = np.where(missing, np.nan, columns["thickness"])
    one = _only(find_slices(columns, _wrong(missing)))
    assert one.where == ("thickness not between -inf inf",)
    assert (one.rows == missing).all()


def test_texts_that_are_missing_are_a_slice_of_their_own() -> None:
    columns = _metadata()
    missing = np.random.default_rng(3).random(3000) < 0.1
    columns["camera"] = np.where(missing, None, columns["camera"].astype(object))
    one = _only(find_slices(columns, _wrong(missing)))
    assert one.where == ("camera not in a,b,c,d",)
    assert (one.rows == missing).all()


def test_samples_without_an_outcome_are_left_out_and_said() -> None:
    columns = _metadata()
    planted = columns["camera"] == "a"
    outcome = _wrong(planted)
    outcome[:100] = np.nan
    found = find_slices(columns, outcome)
    one = _only(found)
    assert "100 of 3,000 samples are left out: 100 without an outcome." in found.notes
    assert (one.rows == planted).all()
    assert one.measured == planted[100:].sum() < one.count


def test_columns_that_tell_nothing_are_left_out_and_said() -> None:
    rows = 3000
    columns = _metadata() | {
        "same": np.ones(rows),
        "nothing": pa.nulls(rows),
        "id": np.arange(rows),
        "path": [f"{place}.png" for place in range(rows)],
        "list": pa.array([[1, 2]] * rows),
        "mixed": [1, "a"] * (rows // 2),
    }
    notes = " ".join(find_slices(columns, _wrong(columns["camera"] == "a")).notes)
    for name in ("same", "nothing", "id", "path", "list", "mixed"):
        assert f"'{name}'" in notes
    assert "camera" not in notes


def test_a_column_of_ten_thousand_values_gives_those_that_are_common() -> None:
    random = np.random.default_rng(4)
    words = np.array([f"w{one}" for one in random.integers(0, 10_000, 3000)])
    words[:300] = "often"
    one = _only(find_slices({"word": words}, _wrong(words == "often")))
    assert one.where == ("word = often",)


def test_a_table_of_a_hundred_rows_and_two_columns_is_enough_for_what_is_plain() -> None:
    columns = {"a": np.repeat(["x", "y"], 50), "b": np.tile([1.0, 2.0], 50)}
    one = _only(find_slices(columns, np.repeat([1.0, 0.0], 50) * (np.arange(100) % 10 != 0)))
    assert one.where == ("a = x",)


def test_few_rows_say_nothing_where_nothing_is_plain() -> None:
    random = np.random.default_rng(5)
    for _ in range(5):
        columns = {f"c{place}": random.normal(size=100) for place in range(5)}
        assert len(find_slices(columns, random.random(100) < 0.3)) == 0


def test_more_columns_than_can_be_paired_are_screened_and_said() -> None:
    random = np.random.default_rng(6)
    columns = {f"c{place}": random.choice(["a", "b", "c"], 1000) for place in range(50)}
    found = find_slices(columns, _wrong(columns["c30"] == "b", 0.5))
    assert _only(found).where == ("c30 = b",)
    assert "Pairs were made of the 40 of 50 columns that say most by themselves." in found.notes


def test_more_samples_than_are_searched_are_all_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding_module, "SEARCHED_ROWS", 2000)
    columns = _metadata(6000)
    planted = columns["camera"] == "c"
    found = find_slices(columns, _wrong(planted))
    assert (_only(found).rows == planted).all()
    assert "Slices were looked for among 2,000 of 6,000 samples, and tested on all." in found.notes


def test_a_search_repeats_exactly_with_its_seed() -> None:
    columns = _metadata()
    outcome = _wrong(columns["thickness"] > 4.6, 0.2)
    first, second = find_slices(columns, outcome, seed=3), find_slices(columns, outcome, seed=3)
    assert first == second


def test_the_state_of_numpy_is_left_alone() -> None:
    np.random.seed(0)  # the state that must stay
    before = np.random.get_state()[1].copy()  # type: ignore[index]
    find_slices(_metadata(500), _wrong(np.arange(500) < 50))
    assert (np.random.get_state()[1] == before).all()  # type: ignore[index]


def test_progress_goes_up_to_its_end() -> None:
    heard: list[Progress] = []
    columns = _metadata(500)
    find_slices(columns, _wrong(columns["camera"] == "a"), progress=heard.append)
    assert heard[-1].done == heard[-1].total
    assert [one.done for one in heard] == sorted(one.done for one in heard)


def test_a_table_of_arrow_is_read_as_a_mapping_is() -> None:
    columns = _metadata()
    outcome = _wrong(columns["camera"] == "b")
    assert find_slices(pa.table(columns), pa.array(outcome)) == find_slices(columns, outcome)


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (np.zeros(3000), "the outcome is 0 for all 3,000 samples"),
        (np.ones(3000), "the outcome is 1 for all 3,000 samples"),
        (np.full(3000, np.nan), "no sample has an outcome"),
        (np.full(3000, np.inf), "the outcome is inf for all"),
    ],
)
def test_an_outcome_that_is_the_same_for_all_has_no_slices(outcome: Any, reason: str) -> None:
    with pytest.raises(AnalysisUnavailable, match=re.escape(reason)):
        find_slices(_metadata(), outcome)


@pytest.mark.parametrize("columns", [{}, {"same": np.ones(100)}, {"path": [str(one) + "x" for one in range(100)]}])
def test_no_column_that_tells_anything_is_a_reason(columns: Any) -> None:
    with pytest.raises(AnalysisUnavailable, match="no column can tell samples apart"):
        find_slices(columns, np.arange(100) % 2)


def test_infinite_losses_are_the_worst_and_stay_out_of_the_means() -> None:
    columns = _metadata()
    planted = columns["camera"] == "d"
    losses = np.random.default_rng(2).lognormal(size=3000) * np.where(planted, 4, 1)
    losses[np.flatnonzero(planted)[:60]] = np.inf
    one = _only(find_slices(columns, losses))
    assert one.where == ("camera = d",)
    assert np.isfinite([one.inside, one.outside, *one.interval]).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"alpha": 0}, "`0 < alpha < 1` must hold, but got alpha=0."),
        ({"min_effect": -1}, "`min_effect >= 0` must hold"),
        ({"min_share": 0.6}, "`0 <= min_share < max_share <= 1` must hold"),
        ({"most": 0}, "`most >= 1` must hold"),
    ],
)
def test_wrong_arguments_are_said(wrong: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        find_slices(_metadata(100), _wrong(np.arange(100) < 50), **wrong)


def test_an_outcome_of_another_length_or_type_is_said() -> None:
    with pytest.raises(ConfigurationError, match="one number for each of the 100 rows"):
        find_slices(_metadata(100), np.zeros(99))
    with pytest.raises(ConfigurationError, match="must be numbers"):
        find_slices(_metadata(100), ["a"] * 100)


def test_most_slices_are_held_to_the_surest() -> None:
    columns = _metadata(6000)
    outcome = _wrong((columns["thickness"] > 4.5) | (columns["camera"] == "a"))
    assert len(find_slices(columns, outcome, most=1)) == 1


def test_conditions_and_texts_pick_out_the_rows() -> None:
    columns = _metadata()
    table = pa.table(columns)
    for one in find_slices(table, _wrong(columns["night"] & (columns["thickness"] > 3))):
        assert (rows_where(table, one.conditions) == one.rows).all()
        assert (rows_where(table, [parse_filter(text, table) for text in one.where]) == one.rows).all()
