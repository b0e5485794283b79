"""A version of a model that is worse on one slice fails exactly the test of that slice, and mended it passes again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.analysis import Population
from cutaway.analysis.slice_tests import SliceTest, parse_test, run_tests, slice_test_of
from cutaway.cli import main
from cutaway.dataset import Dataset
from cutaway.evaluation import evaluate

torch = pytest.importorskip("torch")
datasets = pytest.importorskip("sklearn.datasets")

TRAINING = 1100
WEAK = "accuracy where camera = d at least 0.7"
LINES = [
    "accuracy at least 0.7",
    "error of validation at most 0.3",
    *(f"accuracy where camera = {camera} at least 0.7" for camera in "abcd"),
    *(f"accuracy where label = {digit} at least 0.6" for digit in range(10)),
    "accuracy where ink < 0.3 at least 0.7",
    "accuracy where ink > 0.3 at least 0.7",
]


def photographs() -> tuple[Any, Any, Any]:
    """Digits, each taken by one of four cameras; the fourth, a tenth of all, leaves a bright spot in a corner."""
    digits = datasets.load_digits()
    cameras = np.random.default_rng(0).choice(list("abcd"), len(digits.target), p=[0.3, 0.3, 0.3, 0.1])
    images = (digits.data / 16).astype(np.float32)
    images[:, 0] = 2.0 * (cameras == "d")
    return images, digits.target, cameras


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """On a busy machine two threads of torch wait for each other more than they compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def trained(images: Any, labels: Any) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        inputs, targets = torch.from_numpy(images), torch.from_numpy(labels)
        for _ in range(200):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), targets).backward()
            optimizer.step()
    return model.eval()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, one_thread: None) -> dict[str, Path]:
    """Two versions: of one the labels of the fourth camera were shifted by one before it was trained."""
    images, labels, cameras = photographs()
    shifted = np.where(cameras == "d", (labels + 1) % 10, labels)
    parts = [
        Dataset.from_arrays(
            images[rows],
            labels[rows],
            metadata={"camera": cameras[rows].tolist(), "ink": images[rows, 1:].mean(axis=1).tolist()},
            labels="0123456789",
            subset=name,
        )
        for name, rows in (("training", slice(0, TRAINING)), ("validation", slice(TRAINING, None)))
    ]
    folder = tmp_path_factory.mktemp("runs")
    for name, given in (("good", labels), ("bad", shifted)):
        model = trained(images[:TRAINING], given[:TRAINING])
        evaluate(Dataset.join(*parts), model, folder / name, keep_model=False)
    return {name: folder / name for name in ("good", "bad")}


def failed(run: Path, tests: list[SliceTest]) -> list[str]:
    results = run_tests(Population.open(run).samples, tests)
    return [one.test.text for one in results if not one.passed]


def test_the_version_that_is_worse_on_one_slice_fails_exactly_its_test(runs: dict[str, Path]) -> None:
    tests = [parse_test(line) for line in LINES]
    assert failed(runs["good"], tests) == []
    assert failed(runs["bad"], tests) == [WEAK]


def test_the_weak_slice_as_a_test_fails_there_and_passes_where_it_is_mended(runs: dict[str, Path]) -> None:
    test = slice_test_of(Population.open(runs["bad"]).samples, ["metadata.camera = d"])
    assert failed(runs["bad"], [test]) == [test.text]
    assert failed(runs["good"], [test]) == []


def test_the_command_ends_with_1_for_one_and_with_0_for_the_other(runs: dict[str, Path], tmp_path: Path) -> None:
    file = tmp_path / "tests.yaml"
    file.write_text("tests:\n" + "".join(f"- {line}\n" for line in LINES), encoding="utf-8")
    assert main(["test", str(runs["good"]), "--tests", str(file)]) == 0
    assert main(["test", str(runs["bad"]), "--tests", str(file)]) == 1
