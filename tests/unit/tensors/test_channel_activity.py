"""The share of positive values per channel, as blocks of statistics give it from memory and from a run folder."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from cutaway.tensors.statistics_blocks import StatisticsBlock
from cutaway.testing.rules import ScriptedRun
from cutaway.trial import create_trial

NAME = "relu_output_0"


def blocks(
    rows: Sequence[Sequence[float] | None], folder: Path, start: int = 0, before: int = 0
) -> list[StatisticsBlock]:
    """The block of a run with these rows, from memory and from its folder."""
    run = ScriptedRun()
    for row in rows:
        run.step(tensors={"fc.weight": np.ones(2), NAME: np.ones(2)}, active=None if row is None else {NAME: row})
    run.write(folder / "run")
    readers = run, create_trial(folder / "run")
    return [reader.statistics_blocks([NAME], start, len(rows), before=before)[0] for reader in readers]


def test_activity_at_every_step_is_a_matrix(tmp_path: Path) -> None:
    for block in blocks([[0.25, 0.5], [0.0, 1.0]], tmp_path):
        found = block.active(NAME)
        assert found is not None
        assert found.tolist() == [[0.25, 0.5], [0.0, 1.0]]
        assert [list(row) for row in block.active_rows(NAME) if row is not None] == [[0.25, 0.5], [0.0, 1.0]]


def test_steps_before_a_window_are_those_that_were_asked_for(tmp_path: Path) -> None:
    for block in blocks([[float(i)] for i in range(6)], tmp_path, start=4, before=1):
        found = block.active(NAME)
        assert found is not None
        assert found[:, 0].tolist() == block.steps.tolist() == [3, 4, 5]


@pytest.mark.parametrize("rows", [[[0.5], None, [1.0]], [[0.5], [0.5, 1.0]], [None, None]])
def test_what_is_no_matrix_comes_row_by_row(rows: list[list[float] | None], tmp_path: Path) -> None:
    for block in blocks(rows, tmp_path):
        assert block.active(NAME) is None
        assert [None if row is None else list(row) for row in block.active_rows(NAME)] == rows


def test_a_tensor_beside_it_has_none(tmp_path: Path) -> None:
    run = ScriptedRun()
    run.step(tensors={"fc.weight": np.ones(2), NAME: np.ones(2)}, active={NAME: [1.0]})
    (block,) = run.statistics_blocks(["fc.weight"], 0, 1)
    assert block.active_rows("fc.weight") == [None]
