"""`torch.compile` before and after attaching: what is recorded is right, and what is not recorded is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

import cutaway.torch as smd
from tests.frameworks.torch.models import batches, net, plain_loss, sgd
from tests.frameworks.torch.test_statistics import Seen, gradients_of, weights_of
from tests.recording import Recorded, assert_statistics


@pytest.fixture(autouse=True)
def _fresh_compiler() -> None:
    torch.compiler.reset()


def record(hook: smd.Hook, called: Any, model: nn.Module, optimizer: torch.optim.Optimizer, steps: int = 3) -> Seen:
    """Train by calling one object, and note the weights and gradients of the model behind it."""
    seen, loss = Seen(), nn.CrossEntropyLoss()
    hook.register_loss(loss)
    for step, (x, y) in enumerate(batches(steps)):
        optimizer.zero_grad()
        seen |= weights_of(model, step)
        loss(called(x), y).backward()
        seen |= gradients_of(model, step)
        optimizer.step()
    return seen


def assert_all_recorded(recorded: Recorded, seen: Seen) -> None:
    rows = recorded.statistics()
    for key, values in seen.items():
        assert_statistics(rows[key], values)
    assert all((step, "CrossEntropyLoss_output_0") in rows for step in recorded.numbers())
    assert recorded.numbers() == [0, 1, 2]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("optimized", [True, False])
def test_a_compiled_model_records_weights_gradients_and_losses(tmp_path: Path, backend: str, optimized: bool) -> None:
    model = net()
    compiled, optimizer = torch.compile(model, backend=backend), sgd(model)
    with smd.Hook(tmp_path / "run", include_regex="^Net_output") as hook:
        hook.register_module(compiled)
        if optimized:
            hook.register_optimizer(optimizer)
        seen = record(hook, compiled, model, optimizer)
    recorded = Recorded(tmp_path / "run")
    assert_all_recorded(recorded, seen)
    assert (0, "Net_output_0") in recorded.statistics()
    assert recorded.findings() == []


def test_inner_modules_that_stay_silent_under_compile_are_said_once_each(tmp_path: Path) -> None:
    model = net()
    compiled, optimizer = torch.compile(model, backend="aot_eager"), sgd(model)
    with smd.Hook(tmp_path / "run", include_collections=["outputs"]) as hook:
        hook.register_module(compiled)
        hook.register_optimizer(optimizer)
        seen = record(hook, compiled, model, optimizer)
    recorded = Recorded(tmp_path / "run")
    assert_all_recorded(recorded, seen)
    assert sorted(recorded.findings()) == ["hook-silent:fc1", "hook-silent:fc2"]


def test_no_module_is_called_silent_in_an_ordinary_run(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run", include_collections=["outputs"]) as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        record(hook, model, model, optimizer)
    assert Recorded(tmp_path / "run").findings() == []


class Choosing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, x: torch.Tensor, left: bool) -> torch.Tensor:
        return self.left(x) if left else self.right(x)


@pytest.mark.parametrize("set_to_none", [True, False])
def test_a_module_that_was_not_used_in_a_step_is_not_called_silent(tmp_path: Path, set_to_none: bool) -> None:
    model = Choosing()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run", include_collections=["outputs"]) as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        for step, (x, y) in enumerate(batches(4)):
            optimizer.zero_grad(set_to_none=set_to_none)
            functional.cross_entropy(model(x, step % 2 == 0), y).backward()
            optimizer.step()
    assert Recorded(tmp_path / "run").findings() == []


@pytest.mark.parametrize("optimized", [True, False])
def test_compiling_after_attaching_records_parameters_and_says_that_the_model_is_silent(
    tmp_path: Path, optimized: bool
) -> None:
    model = net()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        if optimized:
            hook.register_optimizer(optimizer)
        seen = record(hook, torch.compile(model, backend="aot_eager"), model, optimizer)
    recorded = Recorded(tmp_path / "run")
    rows = recorded.statistics()
    for key, values in seen.items():
        assert_statistics(rows[key], values)
    assert "hook-silent" in recorded.findings()
    assert recorded.numbers() == [0, 1, 2]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_model_compiled_in_place(tmp_path: Path, when: str) -> None:
    model = net()
    optimizer = sgd(model)
    if when == "before":
        model.compile(backend="aot_eager")
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        if when == "after":
            model.compile(backend="aot_eager")
        seen = record(hook, model, model, optimizer)
    recorded = Recorded(tmp_path / "run")
    rows = recorded.statistics()
    for key, values in seen.items():
        assert_statistics(rows[key], values)
    assert recorded.numbers() == [0, 1, 2]


def test_compiling_in_mid_training_goes_on_recording(tmp_path: Path) -> None:
    model, seen = net(), Seen()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        called: Any = model
        for step, (x, y) in enumerate(batches(6)):
            if step == 3:
                called = torch.compile(model, backend="aot_eager")
            optimizer.zero_grad()
            seen |= weights_of(model, step)
            plain_loss(called, x, y).backward()
            seen |= gradients_of(model, step)
            optimizer.step()
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == list(range(6))
    rows = recorded.statistics()
    for key, values in seen.items():
        assert_statistics(rows[key], values)
    assert recorded.findings() == ["hook-silent"]


def test_compiled_training_is_bit_equal_with_and_without_the_hook(tmp_path: Path) -> None:
    trained = []
    for watched in (False, True):
        torch.compiler.reset()
        model = net()
        compiled, optimizer = torch.compile(model, backend="aot_eager"), sgd(model)
        hook = smd.Hook(tmp_path / "run", include_collections=["outputs"]) if watched else None
        if hook is not None:
            hook.register_module(compiled)
            hook.register_optimizer(optimizer)
        for x, y in batches(4):
            optimizer.zero_grad()
            plain_loss(compiled, x, y).backward()
            optimizer.step()
        if hook is not None:
            hook.close()
        trained.append(model.state_dict())
    for name, value in trained[0].items():
        assert torch.equal(value, trained[1][name])
