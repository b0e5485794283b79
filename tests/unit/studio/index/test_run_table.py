"""The table of runs against the plainest way to say the same."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.errors import ConfigurationError
from cutaway.studio.index import IndexedRun, RunTable
from cutaway.studio.index.facts import HealthFacts
from cutaway.studio.index.run_table import BUILT_IN, HEALTH_ORDER
from cutaway.studio.runs.rows import columns_of, page_of_runs, run_row
from cutaway.trial.run_totals import LossFacts

NAMES = ["config.lr", "config.a b", "config.ü.x", "config.x = y", "scalar.loss.TRAIN.last", "identity.git"]
VALUES = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, -0.5, 1e9]), st.booleans(), st.sampled_from("aBbÄ"))
ROWS = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(NAMES), VALUES),
        st.one_of(st.none(), st.integers(0, 5)),
        st.lists(st.sampled_from(["x", "y", "z"]), unique=True),
        st.sampled_from(HEALTH_ORDER),
        st.one_of(st.none(), st.sampled_from([0.1, 2.0])),
    ),
    max_size=12,
)


def table_of(rows: Sequence[Any]) -> RunTable:
    shapes: dict[tuple[str, ...], tuple[str, ...]] = {}
    found = []
    for i, (cells, created, tags, health, loss) in enumerate(rows):
        keys = shapes.setdefault(tuple(cells), tuple(cells))
        found.append(
            IndexedRun(
                id=f"r{i}",
                name=f"run {i}",
                folder=f"runs/{i}",
                created=created,
                tags=tuple(tags),
                health=HealthFacts(health),
                loss=None if loss is None else LossFacts("loss", loss, loss, ()),
                keys=keys,
                values=tuple(cells.values()),
            )
        )
    return RunTable(found)


def value_of(row: IndexedRun, name: str) -> Any:
    if name in BUILT_IN:
        return BUILT_IN[name].value(row)
    return dict(zip(row.keys, row.values, strict=True)).get(name)


def plain_key(name: str, value: Any) -> tuple[int, float, str]:
    if name == "health":
        return (0, HEALTH_ORDER.index(value), "")
    return (1, 0.0, value.casefold()) if isinstance(value, str) else (0, float(value), "")


@given(
    rows=ROWS,
    name=st.sampled_from([*NAMES, "created", "health", "loss", "name", "tags", "baseline"]),
    down=st.booleans(),
)
def test_sorting_is_sorted_with_missing_values_last_and_ties_by_age(rows: Any, name: str, *, down: bool) -> None:
    table = table_of(rows)
    if name not in table.names:
        return
    newest = sorted(table.rows, key=lambda row: (-(row.created or 0), row.folder))
    known = [row for row in newest if value_of(row, name) is not None]
    missing = [row for row in newest if value_of(row, name) is None]
    expected = sorted(known, key=lambda row: plain_key(name, value_of(row, name)), reverse=down) + missing
    found = [table.rows[i] for i in table.select("", [], f"-{name}" if down else name)]
    assert [row.id for row in found] == [row.id for row in expected]


@given(rows=ROWS, name=st.sampled_from(NAMES), limit=st.sampled_from([-1, 0, 0.5, 2]))
def test_a_condition_on_numbers_is_the_plain_comparison(rows: Any, name: str, limit: float) -> None:
    numeric = [({k: v for k, v in cells.items() if type(v) in (int, float)}, *rest) for cells, *rest in rows]
    table = table_of(numeric)
    if name not in table.names:
        return
    for sign, holds in ((">", lambda v: v > limit), ("<", lambda v: v < limit), ("=", lambda v: v == limit)):
        expected = {row.id for row in table.rows if (v := value_of(row, name)) is not None and holds(v)}
        assert {table.rows[i].id for i in table.select("", [f"{name} {sign} {limit}"], "name")} == expected
    different = {row.id for row in table.rows if value_of(row, name) != limit}
    assert {table.rows[i].id for i in table.select("", [f'"{name}" != {limit}'], "name")} == different


@given(rows=ROWS)
def test_a_condition_on_tags_holds_where_it_does_for_one_of_them(rows: Any) -> None:
    table = table_of(rows)

    def ids(*where: str) -> set[str]:
        return {table.rows[i].id for i in table.select("", where, "name")}

    assert ids("tags = x") == {row.id for row in table.rows if "x" in row.tags}
    assert ids("tags in x,y") == {row.id for row in table.rows if {"x", "y"} & set(row.tags)}
    assert ids("tags != x") == {row.id for row in table.rows if "x" not in row.tags}
    assert ids("tags = x", "tags = y") == {row.id for row in table.rows if {"x", "y"} <= set(row.tags)}


@given(rows=ROWS, limit=st.integers(1, 5), sort=st.sampled_from(["created", "-loss", "tags"]))
def test_pages_joined_are_the_whole(rows: Any, limit: int, sort: str) -> None:
    table = table_of(rows)
    about: dict[str, Any] = {"search": "", "where": [], "sort": sort, "columns": ["name"]}
    whole = page_of_runs(table, **about, offset=0, limit=1000)
    pages = [page_of_runs(table, **about, offset=offset, limit=limit) for offset in range(0, 15, limit)]
    assert [row for page in pages for row in page.data] == whole.data
    assert {page.total for page in pages} == {len(rows)}


@given(rows=ROWS)
def test_columns_count_what_the_runs_have(rows: Any) -> None:
    table = table_of(rows)
    for column in columns_of(table):
        known = [v for row in table.rows if (v := value_of(row, column.name)) is not None]
        assert column.runs == len(known)
        assert column.different == len(set(known))
        if column.kind == "number" and known:
            assert (column.min, column.max) == (min(known), max(known))


def small() -> RunTable:
    return table_of(
        [
            ({"config.lr": 0.1, "config.model": "ViT"}, 1, ["good"], "healthy", 0.5),
            ({"config.lr": 0.01, "config.model": "MLP"}, 2, [], "sick", None),
        ]
    )


def names(table: RunTable, **asked: Any) -> list[str]:
    about = {"search": "", "where": [], "sort": "-created", "columns": [], "offset": 0, "limit": 100, **asked}
    return [row.name for row in page_of_runs(table, **about).data]


def test_words_are_searched_in_name_folder_tags_and_note() -> None:
    assert names(small(), search="GOOD run") == ["run 0"]
    assert names(small(), search="runs/1") == ["run 1"]
    assert names(small(), search="good 1") == []


def test_conditions_take_texts_quotes_and_days() -> None:
    assert names(small(), where=["config.model == 'ViT'"]) == ["run 0"]
    assert names(small(), where=["config.lr < 0.05", "health = sick"]) == ["run 1"]
    assert names(small(), where=["created < 1970-01-02"]) == ["run 1", "run 0"]
    assert names(small(), where=["created > 2001-01-01T10:00:00+02:00"]) == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"where": ["config.lrr < 1"]}, "Did you mean 'config.lr'"),
        ({"where": ["tgas = x"]}, "Did you mean 'tags'"),
        ({"sort": "-losss"}, "Did you mean 'loss'"),
        ({"columns": ["config.modle"]}, "Did you mean 'config.model'"),
        ({"where": ["config.lr < much"]}, "much"),
        ({"where": ["__import__('os').system('id')"]}, "is not a condition"),
        ({"where": ["config.lr >= 1"]}, ">="),
        ({"where": [""]}, "is not a condition"),
    ],
)
def test_what_cannot_be_asked_is_said_with_the_nearest_name(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match="(?s)" + said.replace("(", r"\(").replace(")", r"\)")):
        names(small(), **asked)


def test_an_error_does_not_list_thousands_of_columns() -> None:
    table = table_of([({f"config.key{i}": i for i in range(3000)}, 1, [], "healthy", None)])
    with pytest.raises(ConfigurationError) as caught:
        names(table, where=["nothing = 1"])
    assert len(str(caught.value)) < 400


def test_a_row_travels_as_it_is_and_nothing_in_it_is_not_finite() -> None:
    row = run_row(IndexedRun("i", "n", "f", loss=LossFacts("loss", math.inf, None, (1.0, None))))
    assert row.loss is not None
    assert row.loss.last is None
    row.model_dump_json()
