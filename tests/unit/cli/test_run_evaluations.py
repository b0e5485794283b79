"""`runs show` of a run that was evaluated: how each subset did, and the samples to look at first."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from cutaway.cli.app import app
from cutaway.dataset import Dataset
from cutaway.evaluation import evaluate

torch = pytest.importorskip("torch")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ten samples of two classes, the sixth of which is labelled wrong, and a network that is always sure."""
    x = np.array([[1.0, 0.0], [0.0, 1.0]] * 5, np.float32)
    y = np.array([0, 1] * 5)
    y[5] = 0
    dataset = Dataset.from_arrays(x, y, labels=["cat", "dog"], subset="test")
    network = torch.nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        network.weight.copy_(5 * torch.eye(2))
    evaluate(dataset, network, tmp_path / "run", epoch=3, keep_model=False)
    return tmp_path / "run"


def test_the_hardest_sample_comes_first_with_what_it_is_and_was_taken_for(folder: Path) -> None:
    shown = CliRunner().invoke(app, ["runs", "show", str(folder)]).output
    assert "Evaluations" in shown
    first = next(line for line in shown.splitlines() if "test/" in line)
    assert first.split()[0] == "test/5"
    assert first.split()[2:] == ["cat", "dog"]


def test_a_run_that_nobody_trained_says_so_and_is_not_called_unwatched(folder: Path) -> None:
    shown = CliRunner().invoke(app, ["runs", "show", str(folder)]).output
    assert "A run of evaluations only" in shown
    assert "Health" not in shown


def test_json_has_every_subset_of_every_evaluation(folder: Path) -> None:
    told = json.loads(CliRunner().invoke(app, ["runs", "show", str(folder), "--json"]).output)
    (one,) = told["evaluations"]
    assert (one["evaluation"], one["epoch"], one["state"]) == (0, 3, "finished")
    assert one["subsets"]["test"]["samples"] == 10
    assert one["hardest"][0]["id"] == "test/5"


def test_an_evaluation_that_cannot_be_read_is_said_and_the_rest_is_told(folder: Path) -> None:
    table = folder / "samples" / "0" / "test.parquet"
    table.write_bytes(table.read_bytes()[:100])
    done = CliRunner().invoke(app, ["runs", "show", str(folder)])
    assert done.exit_code == 0
    assert "'test.parquet' of evaluation 0" in done.output
    assert "Evaluations" in done.output
