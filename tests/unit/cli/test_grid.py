import pytest
from rich.text import Text

from cutaway.cli.grid import Cell, GridColumn, fit

COLUMNS = (
    GridColumn("name", least=8),
    GridColumn("state"),
    GridColumn("loss", "right", drop=1),
    GridColumn("trend", drop=2),
)
ROWS: list[list[Cell] | Text] = [
    ["a_rather_long_run_name", "finished", "0.1", "▁▂▃"],
    ["b", "running", "12.25", "▇█"],
]


def lines(width: int | None, rows: list[list[Cell] | Text] = ROWS) -> list[str]:
    return [line.plain for line in fit(COLUMNS, rows, width).lines]


def test_columns_are_aligned_and_as_wide_as_they_need_to_be() -> None:
    assert lines(None) == [
        "name                    state      loss  trend",
        "a_rather_long_run_name  finished    0.1  ▁▂▃",
        "b                       running   12.25  ▇█",
    ]


@pytest.mark.parametrize("width", range(20, 60))
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, lines(width))) <= width


def test_the_least_telling_column_goes_first_and_is_named() -> None:
    assert fit(COLUMNS, ROWS, 30).dropped == ["trend"]
    assert fit(COLUMNS, ROWS, 20).dropped == ["loss", "trend"]


def test_names_are_shortened_in_the_middle_only_when_nothing_else_helps() -> None:
    assert "a_rather_…run_name" in lines(42)[1]
    assert "a_rather_long_run_name" in lines(46)[1]


def test_where_nothing_fits_columns_that_must_stay_stay() -> None:
    assert lines(5)[1].split() == ["a_ra…ame", "finished"]


def test_a_heading_takes_its_line_for_itself() -> None:
    assert lines(None, [Text("weights"), ROWS[1]])[1] == "weights"


def test_wide_characters_do_not_push_columns_out_of_line() -> None:
    fitted = fit(COLUMNS, [["重みの名前がとても長いとき", "running", "1", ""], ROWS[1]], 30)
    assert {line.cell_len for line in fitted.lines} <= set(range(31))


def test_control_characters_in_names_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in "".join(lines(None, [["\x1b[31mred", "running", "1", ""]]))


def test_a_table_without_rows_is_its_titles() -> None:
    assert lines(80, []) == ["name  state  loss  trend"]


def test_a_sentence_loses_its_end() -> None:
    columns = [GridColumn("rule"), GridColumn("finding", least=5, cut="end")]
    (_, line) = fit(columns, [["A", "the first words tell most of it"]], 20).lines
    assert line.plain == "A     the first wor…"
