"""What two runs measured: sample by sample where both were evaluated, else as hooks recorded it, else what to add."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.analysis.fixing import measure, recorded_accuracy
from cutaway.dataset import Dataset
from cutaway.evaluation import evaluate
from cutaway.run import Run

torch = pytest.importorskip("torch")
smd = pytest.importorskip("cutaway.torch")

INPUTS = np.eye(4, dtype=np.float32)[np.arange(40) % 4]
TRUTH = np.arange(40) % 4


def model(*wrong: int) -> Any:
    """A network that knows the classes, but for those that it takes for the next one."""
    weights = np.eye(4, dtype=np.float32)
    for one in wrong:
        weights[:, one] = np.eye(4)[(one + 1) % 4]
    found = torch.nn.Sequential(torch.nn.Linear(4, 4, bias=False), torch.nn.Linear(4, 4, bias=False))
    found[0].weight.data = torch.eye(4)
    found[1].weight.data = torch.tensor(weights * 9)
    return found.eval()


def evaluated(
    folder: Path, network: Any, *, subset: str = "validation", truth: Any = TRUTH, inputs: Any = INPUTS
) -> Run:
    data = Dataset.from_arrays(inputs, truth, subset=subset)
    return evaluate(data, network, folder, keep_model=False).run


@pytest.mark.parametrize("subset", ["validation", "test"])
def test_evaluations_of_the_same_samples_are_compared_one_by_one(tmp_path: Path, subset: str) -> None:
    old = evaluated(tmp_path / "old", model(0, 1), subset=subset)
    new = evaluated(tmp_path / "new", model(3), subset=subset)
    found = measure(old, new)
    assert found.on == f"40 {subset} samples"
    assert found.gain is not None
    assert (found.gain.before, found.gain.after, found.gain.better, found.gain.worse) == (0.5, 0.75, 20, 10)
    assert found.gain.over == "samples"


def test_training_samples_prove_nothing(tmp_path: Path) -> None:
    old, new = (evaluated(tmp_path / name, model(), subset="training") for name in ("old", "new"))
    found = measure(old, new)
    assert found.gain is None
    assert "save_scalar" in found.notes[0]
    assert "evaluate(dataset, model, hook)" in found.notes[0]


def test_only_samples_that_are_in_both_with_the_same_content_count(tmp_path: Path) -> None:
    old = evaluated(tmp_path / "old", model(0))
    moved = INPUTS.copy()
    moved[:4] += 0.01
    new = evaluated(tmp_path / "new", model(), inputs=moved[:20], truth=TRUTH[:20])
    found = measure(old, new)
    assert found.gain is not None
    assert found.gain.count == 16
    assert "16 of 40 validation samples are in both." in found.notes


def test_both_are_measured_with_the_new_labels(tmp_path: Path) -> None:
    corrected = TRUTH.copy()
    corrected[0] = 1
    old, new = evaluated(tmp_path / "old", model()), evaluated(tmp_path / "new", model(), truth=corrected)
    found = measure(old, new)
    assert found.gain is not None
    assert found.gain.before == found.gain.after == 39 / 40
    assert any("1 validation labels were corrected" in note for note in found.notes)


def recorded(folder: Path, *accuracies: float, name: str = "accuracy", after: bool = True) -> Run:
    network = torch.nn.Linear(2, 2)
    with smd.Hook(folder) as hook:
        hook.register_module(network)
        for epoch in ([0.1, 0.1], accuracies):
            hook.set_mode("TRAIN")
            network(torch.ones(1, 2)).sum().backward()
            hook.set_mode("EVAL" if after else "TRAIN")
            for one in epoch:
                with torch.no_grad():
                    network(torch.ones(1, 2))
                hook.save_scalar(name, one)
    return Run.open(folder)


def test_what_a_hook_recorded_after_the_last_training_is_the_accuracy(tmp_path: Path) -> None:
    assert recorded_accuracy(recorded(tmp_path / "a", 0.8, 0.9)) == pytest.approx(0.85)
    assert recorded_accuracy(recorded(tmp_path / "b", 0.8, name="val_acc")) == pytest.approx(0.8)
    assert recorded_accuracy(recorded(tmp_path / "c", 0.8, name="accelerator")) is None
    assert recorded_accuracy(recorded(tmp_path / "d", 0.8, after=False)) is None


def test_recorded_accuracies_are_compared_without_an_interval_and_said_to_be(tmp_path: Path) -> None:
    found = measure(recorded(tmp_path / "a", 0.8), recorded(tmp_path / "b", 0.9))
    assert found.gain is not None
    assert found.gain.difference == pytest.approx(0.1)
    assert found.gain.low is None
    assert "Unpaired" in found.notes[0]
    assert "--repeats" in found.notes[0]
