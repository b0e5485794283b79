"""Steps of which nothing is wanted are only counted: what is recorded is at the right step, and right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import cutaway.torch as smd
from tests.frameworks.torch.models import batches, net, plain_loss, sgd
from tests.frameworks.torch.test_statistics import Seen, gradients_of, weights_of
from tests.recording import Recorded, assert_statistics

EVERY = 3

Forward = Callable[[nn.Module, torch.Tensor], torch.Tensor]


def plain(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return model(x)


def recomputed(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return checkpoint(model, x, use_reentrant=False)


@pytest.mark.parametrize("optimized", [True, False])
@pytest.mark.parametrize("forward", [plain, recomputed])
def test_every_third_step_is_recorded_as_if_all_were(tmp_path: Path, optimized: bool, forward: Forward) -> None:
    model, loss, seen = net(), nn.CrossEntropyLoss(), Seen()
    optimizer, losses = sgd(model), {}
    with smd.Hook(tmp_path / "run", statistics_every=EVERY) as hook:
        hook.register_module(model)
        hook.register_loss(loss)
        if optimized:
            hook.register_optimizer(optimizer)
        for step, (x, y) in enumerate(batches(8)):
            optimizer.zero_grad()
            before = weights_of(model, step)
            value = loss(forward(model, x), y)
            value.backward()
            if step % EVERY == 0:
                seen |= before | gradients_of(model, step)
                losses[step] = value.item()
            optimizer.step()
    recorded = Recorded(tmp_path / "run")
    rows = {key: row for key, row in recorded.statistics().items() if "oss" not in key[1]}
    assert rows.keys() == seen.keys()
    for key, values in seen.items():
        assert_statistics(rows[key], values)
    assert recorded.scalars("loss") == pytest.approx(losses)
    assert recorded.findings() == []


def test_a_model_trained_in_evaluation_mode_is_counted_once_a_step(tmp_path: Path) -> None:
    model = net().eval()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run", statistics_every=EVERY) as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        for x, y in batches(8):
            optimizer.zero_grad()
            plain_loss(model, x, y).backward()
            optimizer.step()
    recorded = Recorded(tmp_path / "run")
    assert sorted({step for step, _ in recorded.statistics()}) == [0, 3, 6]
    assert recorded.findings() == []


def test_accumulated_steps_are_counted_by_their_updates(tmp_path: Path) -> None:
    model, seen = net(), Seen()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run", statistics_every=EVERY) as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        for i, (x, y) in enumerate(batches(14)):
            step = i // 2
            if step % EVERY == 0:
                seen |= weights_of(model, step)
            plain_loss(model, x, y).backward()
            if i % 2:
                if step % EVERY == 0:
                    seen |= gradients_of(model, step)
                optimizer.step()
                optimizer.zero_grad()
    rows = Recorded(tmp_path / "run").statistics()
    assert rows.keys() == seen.keys()
    for key, values in seen.items():
        assert_statistics(rows[key], values)


def test_a_closure_is_one_step_while_idle_too(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)
    with smd.Hook(tmp_path / "run", statistics_every=EVERY) as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        for x, y in batches(7):

            def closure(x: torch.Tensor = x, y: torch.Tensor = y) -> torch.Tensor:
                optimizer.zero_grad()
                out = plain_loss(model, x, y)
                out.backward()
                return out

            optimizer.step(closure)
        assert hook.step == 6
    assert Recorded(tmp_path / "run").numbers() == [0, 3, 6]


def test_modes_wake_by_their_own_schedules(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)
    config = {smd.modes.TRAIN: smd.SaveConfigMode(save_interval=4), smd.modes.EVAL: smd.SaveConfigMode(save_interval=2)}
    settings: dict[str, Any] = {"include_collections": ["weights"], "save_config": config, "statistics_every": 0}
    with smd.Hook(tmp_path / "run", **settings) as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        for mode, count in (("TRAIN", 6), ("EVAL", 3), ("TRAIN", 3), ("EVAL", 2)):
            hook.set_mode(mode)
            for x, y in batches(count):
                if mode == "EVAL":
                    with torch.no_grad():
                        model(x)
                else:
                    optimizer.zero_grad()
                    plain_loss(model, x, y).backward()
                    optimizer.step()
    rows = Recorded(tmp_path / "run").steps
    # Training steps 0, 4, 8 are 0, 4, 11 over all; evaluation steps 0, 2, 4 are 6, 8, 13.
    listed = [(row["step"], row["mode"], row["mode_step"]) for row in rows]
    assert listed == [
        (0, "TRAIN", 0),
        (4, "TRAIN", 4),
        (6, "EVAL", 0),
        (8, "EVAL", 2),
        (11, "TRAIN", 8),
        (13, "EVAL", 4),
    ]


def test_what_is_saved_by_hand_has_the_number_of_its_step(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run", statistics_every=5) as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        for step, (x, y) in enumerate(batches(8)):
            optimizer.zero_grad()
            loss = plain_loss(model, x, y)
            if step in (2, 6):
                hook.save_tensor("mine", torch.tensor(float(step)))
            loss.backward()
            optimizer.step()
            hook.save_scalar("progress", step)
    recorded = Recorded(tmp_path / "run")
    for step in (2, 6):
        array = recorded.tensors()[step, "mine"].array
        assert array is not None
        assert array == step
    assert recorded.scalars("progress") == {step: float(step) for step in range(8)}
    assert {0, 5} <= set(recorded.numbers())


def test_named_samples_are_recorded_at_every_step(tmp_path: Path) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer, wanted = sgd(model), {}
    with smd.Hook(tmp_path / "run", statistics_every=5) as hook:
        hook.register_module(model)
        hook.register_loss(loss)
        hook.register_optimizer(optimizer)
        for step, (x, y) in enumerate(batches(8)):
            hook.set_samples([f"{step}-{i}" for i in range(5)])
            optimizer.zero_grad()
            out = model(x)
            values = functional.cross_entropy(out, y, reduction="none").tolist()
            wanted |= {(step, f"training/{step}-{i}"): value for i, value in enumerate(values)}
            loss(out, y).backward()
            optimizer.step()
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == list(range(8))
    assert recorded.values("loss") == pytest.approx(wanted)


def test_an_idle_hook_keeps_the_result_bit_equal(tmp_path: Path) -> None:
    trained = []
    for watched in (False, True):
        model = net()
        optimizer = sgd(model)
        hook = smd.Hook(tmp_path / "run", statistics_every=0) if watched else None
        if hook is not None:
            hook.register_module(model)
            hook.register_optimizer(optimizer)
        for x, y in batches(10):
            optimizer.zero_grad()
            plain_loss(model, x, y).backward()
            optimizer.step()
        if hook is not None:
            hook.close()
        trained.append([p.detach() for p in model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*trained, strict=True))


def test_a_resumed_run_goes_on_after_the_steps_that_were_only_counted(tmp_path: Path) -> None:
    for attempt in range(2):
        model = net()
        optimizer = sgd(model)
        with smd.Hook(tmp_path / "run", statistics_every=100, resume=attempt > 0) as hook:
            hook.register_module(model)
            hook.register_optimizer(optimizer)
            hook.set_mode("TRAIN")
            for x, y in batches(50):
                optimizer.zero_grad()
                plain_loss(model, x, y).backward()
                optimizer.step()
            assert hook.step == 50 * attempt + 49
    rows = Recorded(tmp_path / "run").steps
    assert all(row["step"] == row["mode_step"] for row in rows)


def test_the_last_counted_step_is_listed_in_its_own_mode(tmp_path: Path) -> None:
    model = net()
    with smd.Hook(tmp_path / "run", statistics_every=0) as hook:
        hook.register_module(model)
        for mode, count in (("EVAL", 2), ("TRAIN", 5), ("EVAL", 0)):
            hook.set_mode(mode)
            for x, _ in batches(count):
                model(x)
    last = Recorded(tmp_path / "run").steps[-1]
    assert (last["step"], last["mode"], last["mode_step"]) == (6, "TRAIN", 4)
