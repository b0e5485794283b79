"""Latent spaces that are added later: filled in order, taken up again, and never believed without their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cutaway.run import Run
from cutaway.run.evaluations import Evaluation, added_spaces, spaces_document, write_source
from cutaway.run.layer_spaces import SpaceFile, are_scales, begin_space, finish_space, has_space

ABOUT = {"layers": ["conv1"], "scales": [1.0]}
ROWS = np.arange(20, dtype=np.float32).reshape(10, 2)


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    found = Evaluation(Run.create(tmp_path / "run"), 0)
    write_source(found, {"state": "finished", "subsets": {"training": {}}})
    pq.write_table(pa.table({"id": [str(i) for i in range(10)]}), found.path / "training.parquet")
    return found


def opened(evaluation: Evaluation) -> SpaceFile:
    return SpaceFile(evaluation, "conv1", "training", (10, 2))


def lie(evaluation: Evaluation, content: Any) -> None:
    evaluation.run.write_document(spaces_document(evaluation), {"spaces": content})


def test_a_space_is_there_when_it_is_finished(evaluation: Evaluation) -> None:
    begin_space(evaluation, "conv1", ABOUT)
    file = opened(evaluation)
    file.write(0, ROWS)
    file.finish()
    assert not has_space(evaluation, "conv1")
    finish_space(evaluation, "conv1")
    assert has_space(evaluation, "conv1")
    np.testing.assert_array_equal(evaluation.latents("training", "conv1"), ROWS)
    assert not [path for path in evaluation.path.iterdir() if path.name.startswith(".")]


def test_what_was_kept_is_not_filled_again(evaluation: Evaluation) -> None:
    begin_space(evaluation, "conv1", ABOUT)
    file = opened(evaluation)
    file.write(0, ROWS[:6])
    file.keep()
    file.write(6, ROWS[6:8])  # not kept: a kill costs it
    again = opened(evaluation)
    assert again.done == 6
    again.write(6, ROWS[6:])
    again.finish()
    finish_space(evaluation, "conv1")
    np.testing.assert_array_equal(evaluation.latents("training", "conv1"), ROWS)


def test_another_question_begins_anew(evaluation: Evaluation) -> None:
    begin_space(evaluation, "conv1", ABOUT)
    file = opened(evaluation)
    file.write(0, ROWS[:6])
    file.keep()
    assert begin_space(evaluation, "conv1", ABOUT)["done"] == {"training": 6}
    assert begin_space(evaluation, "conv1", {**ABOUT, "layers": ["other"]})["done"] == {}
    assert opened(evaluation).done == 0


@pytest.mark.parametrize("done", [-1, 11, "6", 6.5, None, [6], {"a": 1}])
def test_a_lie_about_what_is_done_fills_everything(evaluation: Evaluation, done: object) -> None:
    begin_space(evaluation, "conv1", ABOUT)
    opened(evaluation).keep()
    lie(evaluation, {"conv1": {**ABOUT, "done": {"training": done}, "finished": False}})
    assert opened(evaluation).done == 0


@pytest.mark.parametrize("content", [[], "conv1", None, {"conv1": []}, {"conv1": "finished"}])
def test_a_document_of_another_shape_has_no_spaces(evaluation: Evaluation, content: object) -> None:
    lie(evaluation, content)
    assert added_spaces(evaluation) == {}
    assert not has_space(evaluation, "conv1")
    assert begin_space(evaluation, "conv1", ABOUT)["done"] == {}


def test_a_space_that_is_finished_without_files_is_made_anew(evaluation: Evaluation) -> None:
    lie(evaluation, {"conv1": {**ABOUT, "done": {"training": 10}, "finished": True}})
    assert "conv1" in evaluation.spaces
    assert not has_space(evaluation, "conv1")
    begin_space(evaluation, "conv1", ABOUT)
    assert opened(evaluation).done == 0


@pytest.mark.parametrize("wrong", [np.zeros((10, 3), np.float32), np.zeros((9, 2), np.float32), np.zeros((10, 2))])
def test_a_file_of_another_shape_is_made_anew(evaluation: Evaluation, wrong: np.ndarray) -> None:
    begin_space(evaluation, "conv1", ABOUT)
    for name in ("training.conv1.npy", ".training.conv1.npy.part"):
        with (evaluation.path / name).open("wb") as file:
            np.save(file, wrong)
    assert opened(evaluation).done == 0


def test_a_name_cannot_lead_out_of_the_folder(evaluation: Evaluation) -> None:
    begin_space(evaluation, "../../up", ABOUT)
    file = SpaceFile(evaluation, "../../up", "training", (10, 2))
    file.write(0, ROWS)
    file.finish()
    assert sorted(path.name for path in evaluation.path.iterdir() if path.suffix == ".npy") == ["training._up.npy"]


def test_scales_are_finite_numbers_above_0() -> None:
    assert are_scales([1.0, 2], 2)
    for wrong in ([1.0], [1.0, 0.0], [1.0, float("nan")], [1.0, -1.0], ["1", "2"], None, {"a": 1}, [1.0, float("inf")]):
        assert not are_scales(wrong, 2)
