"""The totals of scalars are those of all rows, however they arrive."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.run import Run, WriterId
from cutaway.run.schemas import SCALARS
from cutaway.trial.scalar_totals import ScalarTotals
from cutaway.trial.series_totals import Outline

Row = tuple[str, str, int, float]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["loss", "lr", "a.b", "ü x"]),
        st.sampled_from(["TRAIN", "EVAL"]),
        st.integers(0, 50),
        st.sampled_from([0.0, 1.5, -2.0, math.nan, math.inf, -math.inf, 1e300]),
    ),
    max_size=30,
)


def write(run: Run, rows: list[Row], worker: str = "worker_0", attempt: int = 0) -> None:
    writer = run.writer(SCALARS, WriterId("train", worker, attempt))
    for name, mode, step, value in rows:
        row = {"name": [name], "mode": [mode], "step": [step], "value": [value], "time": [0.0]}
        writer.append_rows(row, step)
    writer.close()


def expected(rows: list[Row]) -> dict[tuple[str, str], tuple[object, ...]]:
    found = {}
    for key in {(name, mode) for name, mode, _, _ in rows}:
        mine = [row for row in rows if row[:2] == key]
        last = max(range(len(mine)), key=lambda i: (mine[i][2], i))
        finite = [row[3] for row in mine if math.isfinite(row[3])]
        ends = (min(finite, default=None), max(finite, default=None))
        found[key] = (len(mine), len(mine) - len(finite), repr(mine[last][3]), mine[last][2], *ends)
    return found


def seen(totals: ScalarTotals) -> dict[tuple[str, str], tuple[object, ...]]:
    return {
        key: (one.count, one.nonfinite, repr(one.last), one.last_step, one.min, one.max)
        for key, one in totals.series.items()
    }


@given(rows=ROWS, cut=st.integers(0, 30))
def test_totals_are_those_of_all_rows_also_when_they_arrive_in_two_parts(
    rows: list[Row], cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = Run.create(tmp_path_factory.mktemp("runs") / "a")
    totals = ScalarTotals()
    write(run, rows[:cut])
    totals.poll(run)
    write(run, rows[cut:])
    totals.poll(run)
    totals.poll(run)
    whole = ScalarTotals()
    whole.poll(run)
    assert seen(totals) == seen(whole) == expected(rows)


def test_rows_that_a_later_attempt_replaced_do_not_count(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "a")
    run.begin_attempt(from_step=0)[1].release("failed")  # type: ignore[arg-type]
    totals = ScalarTotals()
    write(run, [("loss", "TRAIN", step, 100.0 + step) for step in range(10)])
    totals.poll(run)
    assert totals.series["loss", "TRAIN"].max == 109.0
    run.begin_attempt(from_step=5)[1].release("finished")  # type: ignore[arg-type]
    write(run, [("loss", "TRAIN", step, 1.0) for step in range(5, 8)], attempt=1)
    totals.poll(run)
    loss = totals.series["loss", "TRAIN"]
    assert (loss.count, loss.last, loss.min, loss.max) == (8, 1.0, 1.0, 104.0)


def test_of_each_series_the_first_worker_by_name_counts(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "a")
    totals = ScalarTotals()
    write(run, [("loss", "TRAIN", 0, 7.0), ("only", "TRAIN", 0, 8.0)], worker="worker_1")
    totals.poll(run)
    assert totals.series["loss", "TRAIN"].last == 7.0
    write(run, [("loss", "TRAIN", 0, 3.0)])
    totals.poll(run)
    assert totals.series["loss", "TRAIN"].max == 3.0
    assert totals.series["only", "TRAIN"].last == 8.0
    assert totals.outlines["loss", "TRAIN"].values() == [3.0]


def test_of_a_long_series_means_are_held(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "a")
    totals = ScalarTotals()
    rows = [("loss", "TRAIN", step, float(step)) for step in range(2000)]
    for start in range(0, 2000, 300):
        write(run, rows[start : start + 300])
        totals.poll(run)
    outline = totals.outlines["loss", "TRAIN"].values()
    assert len(outline) <= Outline.MOST
    assert outline == sorted(outline)
    assert (outline[0], outline[-1]) == (1.5, 1997.5)
    assert totals.series["loss", "TRAIN"].count == 2000
