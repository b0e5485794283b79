"""The order of a model is that of its forward, not the one in which its layers were made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import cutaway.torch as smd
from cutaway.run import Run
from cutaway.studio.tensors.rows import layer_rows
from cutaway.trial import Trial
from cutaway.trial.model_tensors import ModelTensors
from tests.frameworks.torch.models import sgd, train


class Backwards(nn.Module):
    """Makes its last layer first."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(6, 3)
        self.act = nn.ReLU()
        self.blocks = nn.ModuleList([nn.Linear(6, 6), nn.Linear(4, 6)])
        self.unused = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in reversed(self.blocks):
            x = self.act(block(x))
        return self.head(x)


def trained(path: Path, model: nn.Module, called: nn.Module | None = None, **settings: Any) -> Trial:
    optimizer, loss = sgd(model), nn.CrossEntropyLoss()
    called = model if called is None else called
    with smd.Hook(path, **settings) as hook:
        hook.register_module(called)
        hook.register_optimizer(optimizer)
        train(called, optimizer, loss, 3)
    return Trial(Run.open(path))


def test_tensors_and_layers_go_by_the_forward(tmp_path: Path) -> None:
    trial = trained(tmp_path / "run", Backwards(), include_collections=["outputs"])
    layers = ["blocks.1", "blocks.0", "head", "unused"]
    weights = [f"Backwards_{layer}.weight" for layer in layers]
    stripes = trial.overviews.read(statistic="l2").tensors
    assert [name for name in stripes if name in weights] == weights
    assert [name for name in ModelTensors(trial).names if name in weights] == weights
    shown = [row.name for row in layer_rows(trial)]
    assert shown == ["Backwards", "blocks", "blocks.1", "blocks.0", "act", "head", "unused"]


def test_it_is_heard_once_and_leaves_nothing_on_the_model(tmp_path: Path) -> None:
    model = Backwards()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        train(model, optimizer, nn.CrossEntropyLoss(), 1)
        inner = [module for module in model.modules() if module is not model]
        assert not any(module._forward_pre_hooks for module in inner)
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_a_hook_that_is_closed_before_a_forward_leaves_nothing_on_the_model(tmp_path: Path) -> None:
    class Fails(Backwards):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ValueError("no data")

    model = Fails()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        with pytest.raises(ValueError, match="no data"):
            model(torch.zeros(1, 4))
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_a_compiled_model_is_left_alone(tmp_path: Path) -> None:
    model = Backwards()
    trial = trained(tmp_path / "run", model, torch.compile(model, backend="eager"))
    assert trial.run.document("trace/model_order.json") is None
    names = trial.overviews.read(statistic="l2").tensors
    assert names.index("Backwards_head.weight") < names.index("Backwards_blocks.1.weight")


@pytest.mark.parametrize("content", [{}, {"forward": None}, {"forward": [3, None, "head"]}])
def test_a_document_of_a_stranger_harms_nothing(tmp_path: Path, content: dict[str, Any]) -> None:
    trial = trained(tmp_path / "run", Backwards())
    trial.run.write_document("trace/model_order.json", content)
    again = Trial(Run.open(tmp_path / "run"))
    assert set(ModelTensors(again).names) == set(ModelTensors(trial).names)
