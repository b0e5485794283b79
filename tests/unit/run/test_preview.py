from pathlib import Path

import pytest

from cutaway.run import Run, WriterId
from cutaway.run.preview import preview

SCALARS = "scalars"


def write(run: Run, steps: range, *, attempt: int = 0, worker: str = "worker_0", value: float = 0.0) -> None:
    writer = run.writer(SCALARS, WriterId("train", worker, attempt))
    for step in steps:
        row = {"name": ["loss"], "step": [step], "mode": ["TRAIN"], "value": [value], "time": [0.0]}
        writer.append_rows(row, step)
    writer.close()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run")


def steps(run: Run, count: int) -> list[int]:
    table = preview(run, SCALARS, count)
    return [] if table is None else [int(step) for step in table["step"].to_pylist()]


def test_an_empty_table_has_nothing_to_show(run: Run) -> None:
    assert preview(run, SCALARS, 5) is None


@pytest.mark.parametrize(
    ("count", "seen"), [(1, [0]), (2, [0, 99]), (4, [0, 33, 66, 99]), (100, [*range(100)]), (1000, [*range(100)])]
)
def test_batches_are_evenly_spaced_and_end_with_the_last(count: int, seen: list[int], run: Run) -> None:
    write(run, range(100))
    assert steps(run, count) == seen


def test_what_a_later_attempt_replaced_is_not_shown(run: Run) -> None:
    _, first = run.begin_attempt(from_step=0)
    write(run, range(10))
    first.release("crashed")  # type: ignore[arg-type]
    number, _ = run.begin_attempt(from_step=6)
    write(run, range(6, 8), attempt=number, value=1.0)
    assert steps(run, 100) == [0, 1, 2, 3, 4, 5, 6, 7]


def test_only_the_first_worker_is_shown(run: Run) -> None:
    write(run, range(3))
    write(run, range(9), worker="worker_1")
    assert steps(run, 100) == [0, 1, 2]


@pytest.mark.parametrize("ending", ["idx", "arrow"])
def test_a_file_that_is_damaged_or_gone_costs_only_its_own_rows(ending: str, run: Run) -> None:
    write(run, range(3))
    write(run, range(3, 6), attempt=1)
    broken = run.path / SCALARS / f"train-worker_0-0-0.{ending}"
    broken.write_bytes(b"x" * 100)
    assert steps(run, 100) == [3, 4, 5]
    broken.unlink()
    assert steps(run, 100) == [3, 4, 5]
