"""The time-series example as its README says: it fits its model, and the model looks at the burst."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from cutaway.dataset import Dataset, LeapGraph, load_entry
from cutaway.dataset.enums import Role
from cutaway.evaluation import CheckStatus, Evaluation, check, evaluations
from cutaway.models import Model, load
from cutaway.run import Run

pytest.importorskip("keras")

EXAMPLE = Path(__file__).parents[2] / "examples" / "bind_series"
MODEL = "model.keras"
LARGEST = 100_000
RATE, BEARING = 5120, 3
HIDDEN = 64  # values: 12.5 milliseconds


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_entry(EXAMPLE / "leap.yaml").dataset()


@pytest.fixture(scope="module")
def model() -> Model:
    return load(EXAMPLE / MODEL)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    folder = copied(tmp_path_factory.mktemp("evaluated"))
    python("-m", "cutaway", "evaluate", ".", MODEL, "--json", cwd=folder)
    [run] = (folder / "runs").iterdir()
    [evaluation] = evaluations(Run.open(run))
    return evaluation


def copied(parent: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, parent / EXAMPLE.name, ignore=shutil.ignore_patterns("__pycache__")))


def python(*words: str, cwd: Path) -> str:
    environment = {**os.environ, "NO_COLOR": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *words], cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def unseen(evaluated: Evaluation) -> pa.Table:
    return pa.concat_tables([evaluated.table("validation"), evaluated.table("test")])


def test_the_binding_fits_its_model_and_only_bursts_may_be_missing(model: Model) -> None:
    report = check(EXAMPLE, model)
    assert report.ok
    assert [one.code for one in report.findings] == ["binding-missing-values"]
    assert {row.name for row in report.rows if row.status is not CheckStatus.PASS} == {"burst_at"}


def test_the_recordings_are_the_same_each_time(dataset: Dataset) -> None:
    again = load_entry(EXAMPLE / "leap.yaml").dataset()
    for name, subset in dataset.subsets.items():
        for index in (0, len(subset) - 1):
            other = again.subsets[name].encode(Role.INPUT, "vibration", index)
            assert np.array_equal(subset.encode(Role.INPUT, "vibration", index), other)


@pytest.mark.slow
def test_evaluate_gives_every_recording_a_row_and_most_a_right_answer(evaluated: Evaluation) -> None:
    assert {name: evaluated.table(name).num_rows for name in evaluated.subsets} == {
        "training": 1600,
        "validation": 400,
        "test": 400,
    }
    assert evaluated.failures() == []
    margins = evaluated.table("test")["metric.margin"].to_numpy()
    assert 0.9 <= (margins > 0).mean() <= 0.97


@pytest.mark.slow
def test_most_answers_that_differ_from_wrong_labels_are_what_the_machine_was(evaluated: Evaluation) -> None:
    rows = unseen(evaluated).to_pylist()
    mislabelled = [row for row in rows if row["ground_truth.state.label"] != row["metadata.true_state"]]
    assert 5 <= len(mislabelled) <= 30
    seen_through = [row["prediction.prediction.label"] == row["metadata.true_state"] for row in mislabelled]
    assert np.mean(seen_through) >= 0.7


@pytest.mark.slow
def test_most_errors_are_bearings_and_those_are_weak(evaluated: Evaluation) -> None:
    rows = unseen(evaluated).to_pylist()
    errors = [row for row in rows if row["prediction.prediction.label"] != row["metadata.true_state"]]
    bearings = [row for row in rows if row["metadata.true_state"] == "bearing"]
    missed = [row for row in errors if row["metadata.true_state"] == "bearing"]
    assert len(missed) > len(errors) / 2
    found = [row for row in bearings if row["prediction.prediction.label"] == "bearing"]
    for column in ("metadata.machine_load", "metadata.signal_snr"):
        assert np.mean([row[column] for row in missed]) < np.mean([row[column] for row in found])


def test_hiding_the_burst_costs_more_than_hiding_another_place(dataset: Dataset, model: Model) -> None:
    test = dataset.subsets["test"]
    bursts = {index: test.metadata(index)["burst_at"] for index in range(len(test))}
    damaged = [index for index, at in bursts.items() if at is not None]
    signals = np.stack([test.encode(Role.INPUT, "vibration", index) for index in damaged])
    before = model.predict(signals)["prediction"]
    more = []
    for index, signal, scores in zip(damaged, signals, before, strict=True):
        if scores.argmax() == BEARING:
            drops, middles = hidden_drops(model, signal, scores[BEARING])
            away = np.abs(middles - bursts[index] / 1000 * RATE)
            more.append(drops[away.argmin()] > drops[away >= HIDDEN].mean())
    assert len(more) > 70
    assert np.mean(more) >= 0.8


def hidden_drops(
    model: Model, signal: npt.NDArray[np.float32], score: float
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]:
    """How far the score of a damaged bearing falls with each stretch of a recording set to 0, and their middles."""
    starts = np.arange(0, len(signal) - HIDDEN + 1, 4)
    batch = np.repeat(signal[None], len(starts), axis=0)
    for row, start in enumerate(starts):
        batch[row, start : start + HIDDEN] = 0
    return score - model.predict(batch)["prediction"][:, BEARING], starts + HIDDEN / 2


def test_gradients_reach_every_time_and_each_convolution(dataset: Dataset, model: Model) -> None:
    validation = dataset.subsets["validation"]
    signals = np.stack([validation.encode(Role.INPUT, "vibration", index) for index in range(8)])
    assert model.gradient(signals, target=BEARING).gradient.shape == signals.shape
    for layer, shape in {"waves_1": (128, 16), "waves_2": (64, 24), "waves_3": (64, 32)}.items():
        gradient = model.gradient(signals, target=BEARING, wrt=layer).gradient
        assert gradient.shape[1:] == shape
        assert np.abs(gradient).max() > 0


@pytest.mark.parametrize("shape", [(256,), (256, 1), (256, 2)])
def test_a_heat_map_lies_on_the_traces_as_the_visualizer_draws_them(dataset: Dataset, shape: tuple[int, ...]) -> None:
    [visualizer] = [one for one in dataset.visualizers if one.name == "trace"]
    shown = visualizer.function(dataset.subsets["test"].encode(Role.INPUT, "vibration", 0))
    assert isinstance(shown, LeapGraph)
    assert visualizer.heatmap is not None
    assert visualizer.heatmap(np.ones(shape, np.float32)).shape == shown.data.shape


def test_the_model_file_is_small_and_names_no_folder_of_anybody() -> None:
    content = (EXAMPLE / MODEL).read_bytes()
    assert len(content) < LARGEST
    for word in (b"site-packages", b"/home/", b"/Users/", b'.py", line'):
        assert word not in content


@pytest.mark.slow
def test_training_anew_gives_as_good_a_model(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / MODEL).unlink()
    told = python("train_model.py", cwd=folder)
    assert float(told.split("test: ")[1].split("%")[0]) >= 90
