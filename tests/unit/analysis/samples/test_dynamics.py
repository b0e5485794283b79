"""What a training saw of each sample comes from the run folder, visit by visit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import cutaway.torch as smd
from cutaway.analysis.samples.dynamics import Dynamics
from cutaway.analysis.samples.from_run import read_dynamics
from cutaway.errors import ConfigurationError
from cutaway.run import Run


def _trained(folder: Path, epochs: int = 3) -> tuple[Run, np.ndarray]:
    """Train with a loss of classes and return the run and the losses, (epochs, samples), as the loop saw them."""
    torch.manual_seed(0)
    model, criterion = nn.Linear(4, 3), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    inputs, labels = torch.randn(10, 4), torch.arange(10) % 3
    seen = np.full((epochs, 10), np.nan, np.float32)
    with smd.Hook(folder) as hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        for epoch in range(epochs):
            order = torch.randperm(10)
            for start in range(0, 10, 5):
                rows = order[start : start + 5]
                hook.set_samples(rows.tolist())
                scores = model(inputs[rows])
                single = nn.functional.cross_entropy(scores, labels[rows], reduction="none")
                seen[epoch, rows.numpy()] = single.detach().numpy()
                optimizer.zero_grad()
                criterion(scores, labels[rows]).backward()
                optimizer.step()
        assert hook.run is not None
        return hook.run, seen


def test_each_visit_of_each_sample_is_found_again_in_its_order(tmp_path: Path) -> None:
    run, seen = _trained(tmp_path / "run")
    found = read_dynamics(run, [f"training/{row}" for row in range(10)])
    assert found is not None
    np.testing.assert_allclose(found.losses, seen, atol=1e-6)
    # A margin below 0 is a wrong answer, which costs more than log 2.
    assert ((found.margins < 0) <= (found.losses > np.log(2) - 1e-6)).all()
    assert found.visits.tolist() == [3] * 10


def test_samples_that_training_never_saw_have_no_visits(tmp_path: Path) -> None:
    run, _ = _trained(tmp_path / "run")
    found = read_dynamics(run, ["training/3", "validation/3"])
    assert found is not None
    assert found.visits.tolist() == [3, 0]
    assert read_dynamics(run, ["validation/3"]) is None


def test_some_of_the_samples_keep_their_own_visits() -> None:
    whole = Dynamics(np.arange(6, dtype=np.float32).reshape(2, 3), np.zeros((2, 3), np.float32))
    assert whole.take(np.array([2, 0])).losses.tolist() == [[2, 0], [5, 3]]


def test_losses_and_margins_of_different_shapes_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="visits, samples"):
        Dynamics(np.zeros((2, 3), np.float32), np.zeros((2, 4), np.float32))
