"""A copy of a live module: what it is kept as, that it answers the same, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import cutaway
from cutaway import registry
from cutaway.frameworks.torch.keeping import keep
from cutaway.frameworks.torch.model import wrap
from cutaway.models.loading import load
from cutaway.models.model import Model
from cutaway.trial import create_trial
from tests.frameworks.torch import models
from tests.frameworks.torch.networks import (
    BATCHES,
    CNN,
    MLP,
    Encoder,
    Recurrent,
    TwoAnswers,
    TwoInputs,
    numbers,
    seeded,
)
from tests.frameworks.torch.test_model import same, state


@pytest.mark.parametrize("kind", [MLP, CNN, Encoder, Recurrent, TwoInputs, TwoAnswers])
def test_a_module_is_kept_as_a_file_that_answers_the_same(kind: type[nn.Module], tmp_path: Path) -> None:
    module = seeded(kind).train()
    before = state(module)
    kept = keep(module, BATCHES[kind], tmp_path / "model")
    assert same(state(module), before)
    assert (kept.format, kept.reason, kept.notes) == ("pt2", "", ())
    assert kept.path == tmp_path / "model" / "model.pt2"
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["model.pt2"]
    live = wrap(module, example=BATCHES[kind])
    other = {name: values[:3] for name, values in BATCHES[kind].items()}
    with load(kept.path, trust=True) as copy:
        for name, values in copy.predict(other).items():
            assert np.allclose(values, live.predict(other)[name], atol=1e-5)
        assert np.allclose(copy.latent(other), Model(live).latent(other), atol=1e-5)


def test_one_sample_is_enough(tmp_path: Path) -> None:
    kept = keep(seeded(MLP), {"x": numbers(1, 4)}, tmp_path)
    assert kept.path is not None
    with load(kept.path, trust=True) as copy:
        assert copy.predict(numbers(7, 4))["output"].shape == (7, 3)


def test_what_only_runs_with_one_batch_size_is_kept_so(tmp_path: Path) -> None:
    class Fixed(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.reshape(5, 2, 2).sum(2) * torch.arange(10.0).reshape(5, 2)

    kept = keep(Fixed(), {"x": numbers(5, 4)}, tmp_path)
    assert kept.format == "pt2"
    assert "batches of 5 only" in kept.notes[0]


def test_what_our_check_refuses_is_kept_as_onnx(tmp_path: Path) -> None:
    """A condition inside the graph is not read from a .pt2, but ONNX has it too."""

    class Conditional(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.fc(x)
            return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (y,))

    kept = keep(Conditional(), {"x": numbers(5, 4)}, tmp_path)
    assert (kept.format, kept.reason) == ("onnx", "")
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


class DependsOnValues(nn.Module):
    """Takes another way for some values: no exporter can follow, and none may pretend to."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return self.fc(x)
        return -self.fc(x)


def test_what_cannot_be_exported_says_why_and_leaves_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    module = DependsOnValues().train()
    before = state(module)
    kept = keep(module, {"x": numbers(5, 4)}, tmp_path)
    assert kept.path is None
    assert kept.reason.startswith("DependsOnValues cannot be exported.")
    assert "pt2:" in kept.reason
    assert list(tmp_path.iterdir()) == []
    assert same(state(module), before)
    assert capfd.readouterr() == ("", "")


def test_a_copy_that_answers_otherwise_is_none(tmp_path: Path) -> None:
    """Random numbers in the forward: the copy draws others."""

    class Noisy(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + torch.randn(3, 4)[: len(x)].sum()

    kept = keep(Noisy(), {"x": numbers(3, 4)}, tmp_path)
    assert kept.path is None
    assert "differs by" in kept.reason
    assert list(tmp_path.iterdir()) == []


def test_a_watched_model_is_kept_without_a_trace_in_its_run(tmp_path: Path) -> None:
    model = models.net()
    optimizer, loss = models.sgd(model), nn.CrossEntropyLoss()
    with cutaway.attach(model, optimizer, loss, out_dir=tmp_path / "run", save_all=True) as hook:
        models.train(model, optimizer, loss, 2)
        kept = keep(model, {"x": numbers(3, 4)}, tmp_path / "model")
        models.train(model, optimizer, loss, 1)
        assert hook.step == 2
    assert kept.format == "pt2"
    assert create_trial(tmp_path / "run").steps() == [0]


def test_a_batch_that_the_module_does_not_take_is_a_reason_too(tmp_path: Path) -> None:
    kept = keep(seeded(MLP), {"x": numbers(3, 9)}, tmp_path)
    assert kept.path is None
    assert "does not take the batch" in kept.reason


def test_it_is_found_through_the_registry() -> None:
    assert registry.load("model_keepers", "torch") is keep
