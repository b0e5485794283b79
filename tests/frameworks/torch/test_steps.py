"""What a step is, whichever way people train: its weights, gradients, losses, mode and number."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import cutaway.torch as smd
from cutaway.trial import create_trial
from tests.frameworks.torch.models import Net, batches, net, plain_loss, sgd, train
from tests.frameworks.torch.test_statistics import Seen, assert_recorded, gradients_of, weights_of
from tests.recording import Recorded, assert_statistics


def watch(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer | None = None, **settings: object) -> smd.Hook:
    hook = smd.Hook(path, **settings)  # type: ignore[arg-type]
    hook.register_module(model)
    if optimizer is not None:
        hook.register_optimizer(optimizer)
    return hook


# -- loops ----------------------------------------------------------------------------------------------


def test_gradients_are_those_before_clipping(tmp_path: Path) -> None:
    model, seen = net(), Seen()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer):
        for step, (x, y) in enumerate(batches(3)):
            optimizer.zero_grad()
            seen |= weights_of(model, step)
            plain_loss(model, x, y).backward()
            seen |= gradients_of(model, step)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
            optimizer.step()
    assert_recorded(tmp_path / "run", seen)


@pytest.mark.parametrize("set_to_none", [True, False])
@pytest.mark.parametrize("when", ["before the forward", "before the backward", "after the update"])
def test_zero_grad_may_come_anywhere(tmp_path: Path, when: str, set_to_none: bool) -> None:
    model, seen = net(), Seen()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer):
        for step, (x, y) in enumerate(batches(4)):
            if when == "before the forward":
                optimizer.zero_grad(set_to_none=set_to_none)
            seen |= weights_of(model, step)
            loss = plain_loss(model, x, y)
            if when == "before the backward":
                optimizer.zero_grad(set_to_none=set_to_none)
            loss.backward()
            seen |= gradients_of(model, step)
            optimizer.step()
            if when == "after the update":
                optimizer.zero_grad(set_to_none=set_to_none)
    assert_recorded(tmp_path / "run", seen)


@pytest.mark.parametrize("set_to_none", [True, False])
def test_accumulated_gradients_are_one_step_with_their_sum(tmp_path: Path, set_to_none: bool) -> None:
    model, loss, seen = net(), nn.CrossEntropyLoss(), Seen()
    optimizer = sgd(model)
    losses: list[float] = []
    with watch(tmp_path / "run", model, optimizer) as hook:
        hook.register_loss(loss)
        for i, (x, y) in enumerate(batches(9)):
            seen |= weights_of(model, i // 3)
            value = loss(model(x), y)
            losses.append(value.item())
            (value / 3).backward()
            if i % 3 == 2:
                seen |= gradients_of(model, i // 3)
                optimizer.step()
                optimizer.zero_grad(set_to_none=set_to_none)
    assert_recorded(tmp_path / "run", seen)
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == [0, 1, 2]
    means = {step: sum(losses[3 * step : 3 * step + 3]) / 3 for step in range(3)}
    assert recorded.scalars("loss") == pytest.approx(means)
    rows = recorded.statistics()
    assert [rows[1, f"CrossEntropyLoss_output_{i}"]["max"] for i in range(3)] == pytest.approx(losses[3:6])


def test_two_forwards_before_one_backward_are_one_step(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer, include_collections=["outputs"]):
        for x, _ in batches(2):
            optimizer.zero_grad()
            (model(x) - model(-x)).square().sum().backward()
            optimizer.step()
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == [0, 1]
    assert {"Net_output_0", "Net_output_1"} <= recorded.named(1)


def test_without_a_registered_optimizer_the_next_forward_ends_a_step(tmp_path: Path) -> None:
    model, seen = net(), Seen()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model):
        for step, (x, y) in enumerate(batches(4)):
            optimizer.zero_grad()
            seen |= weights_of(model, step)
            plain_loss(model, x, y).backward()
            seen |= gradients_of(model, step)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
            optimizer.step()
    assert_recorded(tmp_path / "run", seen)


def test_a_backward_twice_through_one_graph_counts_once_with_both(tmp_path: Path) -> None:
    model, seen = net(), Seen()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer):
        for step, (x, y) in enumerate(batches(2)):
            optimizer.zero_grad()
            seen |= weights_of(model, step)
            out = plain_loss(model, x, y)
            out.backward(retain_graph=True)
            out.backward()
            seen |= gradients_of(model, step)
            optimizer.step()
    assert_recorded(tmp_path / "run", seen)


def test_a_loss_that_goes_around_the_models_output(tmp_path: Path) -> None:
    model, seen = net(), Seen()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer):
        for step, (x, _) in enumerate(batches(3)):
            optimizer.zero_grad()
            seen |= weights_of(model, step)
            with torch.no_grad():
                model(x)
            model.fc2(model.fc1(x)).sum().backward()
            seen |= gradients_of(model, step)
            optimizer.step()
    rows = Recorded(tmp_path / "run").statistics()
    assert any(name.startswith("gradient") for _, name in rows)


class Explodes(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: object, grad: torch.Tensor) -> torch.Tensor:
        raise ValueError("out of memory, say")


def test_after_a_backward_that_failed_the_next_steps_are_recorded(tmp_path: Path) -> None:
    model, seen = net(), Seen()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer):
        x, y = next(batches(1))
        with pytest.raises(ValueError, match="out of memory"):
            functional.cross_entropy(model(Explodes.apply(x.requires_grad_())), y).backward()
        for step, (inputs, labels) in enumerate(batches(3), start=1):
            optimizer.zero_grad()
            seen |= weights_of(model, step)
            plain_loss(model, inputs, labels).backward()
            seen |= gradients_of(model, step)
            optimizer.step()
    rows = Recorded(tmp_path / "run").statistics()
    for key, values in seen.items():
        assert_statistics(rows[key], values)


class Checkpointed(Net):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = checkpoint(self.fc1, x, use_reentrant=False)
        return self.fc2(self.relu(hidden))


def test_recomputed_activations_are_not_recorded_again(tmp_path: Path) -> None:
    model, seen = Checkpointed(), Seen()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer, include_collections=["outputs"]):
        for step, (x, y) in enumerate(batches(2)):
            optimizer.zero_grad()
            seen |= weights_of(model, step, "Checkpointed")
            plain_loss(model, x, y).backward()
            seen |= gradients_of(model, step, "Checkpointed")
            optimizer.step()
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == [0, 1]
    rows = recorded.statistics()
    for key, values in seen.items():
        assert_statistics(rows[key], values)
    assert {name for _, name in rows if name.startswith("fc1_output")} == {"fc1_output_0"}


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_wholly_checkpointed_model_has_one_step_per_update(tmp_path: Path, reentrant: bool) -> None:
    model, seen = net(), Seen()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer):
        for step, (x, y) in enumerate(batches(3)):
            optimizer.zero_grad()
            seen |= weights_of(model, step)
            out = checkpoint(model, x.requires_grad_(), use_reentrant=reentrant)
            functional.cross_entropy(out, y).backward()
            seen |= gradients_of(model, step)
            optimizer.step()
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == [0, 1, 2]
    rows = recorded.statistics()
    for key, values in seen.items():
        assert_statistics(rows[key], values)


@pytest.mark.parametrize("set_to_none", [True, False])
def test_the_closure_of_lbfgs_is_one_step_with_the_weights_and_gradients_it_started_from(
    tmp_path: Path, set_to_none: bool
) -> None:
    model, loss, seen = net(), nn.CrossEntropyLoss(), Seen()
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=4)
    first: dict[int, float] = {}
    with watch(tmp_path / "run", model, optimizer) as hook:
        hook.register_loss(loss)
        for step, (x, y) in enumerate(batches(3)):

            def closure(x: torch.Tensor = x, y: torch.Tensor = y, step: int = step) -> torch.Tensor:
                optimizer.zero_grad(set_to_none=set_to_none)
                value: torch.Tensor = loss(model(x), y)
                value.backward()
                if step not in first:
                    first[step] = value.item()
                    seen.update(weights_of(model, step))
                    seen.update(gradients_of(model, step))
                return value

            optimizer.step(closure)
    assert_recorded(tmp_path / "run", seen)
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == [0, 1, 2]
    assert recorded.scalars("loss") == pytest.approx(first)
    assert len(recorded.scalars("learning_rate")) == 3


def test_training_goes_on_after_a_closure_that_raised(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=2)

    def broken() -> torch.Tensor:
        model(torch.ones(1, 4)).sum().backward()
        raise ValueError("no data")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        out = model(torch.ones(1, 4)).square().sum()
        out.backward()
        return out

    with watch(tmp_path / "run", model, optimizer):
        with pytest.raises(ValueError, match="no data"):
            optimizer.step(broken)
        optimizer.step(closure)
        optimizer.step(closure)
    assert Recorded(tmp_path / "run").numbers() == [0, 1, 2]


# -- mixed precision ------------------------------------------------------------------------------------


@pytest.mark.parametrize("set_to_none", [True, False])
@pytest.mark.parametrize("every", [1, 2])
def test_mixed_precision_records_unscaled_gradients_and_a_skipped_step_is_a_step(
    tmp_path: Path, set_to_none: bool, every: int
) -> None:
    model, seen = net(), Seen()
    optimizer, scaler = sgd(model), torch.amp.GradScaler("cpu", init_scale=2.0**10)
    with smd.Hook(tmp_path / "run", statistics_every=every) as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer, scaler=scaler)
        for step, (x, y) in enumerate(batches(6)):
            optimizer.zero_grad(set_to_none=set_to_none)
            if step % every == 0:
                seen |= weights_of(model, step)
            with torch.autocast("cpu", torch.bfloat16):
                out = model(x)
            loss = functional.cross_entropy(out.float(), y)
            if step == 3:
                loss = loss * float("inf")
            scaled = scaler.scale(loss)
            scaled.backward()
            if step % every == 0:
                scale = scaler.get_scale()
                seen |= {key: value / scale for key, value in gradients_of(model, step).items()}
            before = [p.clone() for p in model.parameters()]
            scaler.step(optimizer)
            scaler.update()
            skipped = all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
            assert skipped == (step == 3)
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == list(range(6))
    rows = recorded.statistics()
    assert rows.keys() == seen.keys()
    for key, values in seen.items():
        assert_statistics(rows[key], values)
    assert list(recorded.scalars("learning_rate")) == [0, 1, 2, 4, 5]
    scales = recorded.scalars("gradient_scale")
    assert list(scales) == list(range(0, 6, every))
    assert scales[0] == 2.0**10
    assert scales[4] == (2.0**9)


# -- losses ---------------------------------------------------------------------------------------------


def test_a_loop_without_a_registered_loss_has_no_loss(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer):
        train(model, optimizer, nn.CrossEntropyLoss(), steps=2)
    assert Recorded(tmp_path / "run").scalars("loss") == {}


def test_a_loss_given_as_a_value_is_recorded_at_its_step(tmp_path: Path) -> None:
    model = net()
    optimizer, losses = sgd(model), {}
    with watch(tmp_path / "run", model, optimizer) as hook:
        for step, (x, y) in enumerate(batches(3)):
            optimizer.zero_grad()
            loss = plain_loss(model, x, y)
            hook.record_tensor_value("my_loss", loss)
            losses[step] = loss.item()
            loss.backward()
            optimizer.step()
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == [0, 1, 2]
    assert recorded.scalars("loss") == pytest.approx(losses)
    assert {step: recorded.statistics()[step, "my_loss_output_0"]["mean"] for step in losses} == pytest.approx(losses)


def test_several_losses_are_recorded_each_under_its_own_name(tmp_path: Path) -> None:
    model, first, second = net(), nn.CrossEntropyLoss(), nn.MultiMarginLoss()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer) as hook:
        hook.register_loss(first)
        hook.register_loss(second)
        x, y = next(batches(1))
        out = model(x)
        values = first(out, y), second(out, y)
        sum(values).backward()
        optimizer.step()
    rows = Recorded(tmp_path / "run").statistics()
    assert rows[0, "CrossEntropyLoss_output_0"]["mean"] == pytest.approx(values[0].item())
    assert rows[0, "MultiMarginLoss_output_0"]["mean"] == pytest.approx(values[1].item())


# -- modes ----------------------------------------------------------------------------------------------


def test_modes_count_their_own_steps_and_gradients_belong_to_training(tmp_path: Path) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    settings = {"include_collections": ["weights", "outputs"], "save_config": {"save_interval": 1}}
    with watch(tmp_path / "run", model, optimizer, **settings) as hook:
        hook.register_loss(loss)
        for mode in ("TRAIN", "EVAL", "TRAIN", "PREDICT", "EVAL"):
            hook.set_mode(smd.modes[mode])
            assert hook.mode is smd.modes[mode]
            for x, y in batches(2):
                optimizer.zero_grad()
                out = loss(model(x), y)
                if mode == "TRAIN":
                    out.backward()
                    optimizer.step()
                elif mode == "EVAL":
                    out.backward()
    recorded = Recorded(tmp_path / "run")
    modes = [mode for mode in ("TRAIN", "EVAL", "TRAIN", "PREDICT", "EVAL") for _ in range(2)]
    assert [row["mode"] for row in recorded.steps] == modes
    assert [row["mode_step"] for row in recorded.steps] == [0, 1, 0, 1, 2, 3, 0, 1, 2, 3]
    training = {step for step, mode in enumerate(modes) if mode == "TRAIN"}
    gradients = {step for step, name in recorded.statistics() if name.startswith("gradient")}
    assert gradients == training
    assert recorded.saved_at("Net_fc1.weight") == list(range(10))
    assert recorded.saved_at("Net_output_0") == list(range(10))


def test_an_update_in_evaluation_mode_records_no_gradient(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer, save_config={"save_interval": 1}) as hook:
        hook.set_mode("eval")
        train(model, optimizer, nn.CrossEntropyLoss(), steps=2)
    assert not [name for name in Recorded(tmp_path / "run").named() if name.startswith("gradient")]


def without_gradients(model: nn.Module, x: torch.Tensor) -> None:
    with torch.no_grad():
        model(x)


def in_evaluation(model: nn.Module, x: torch.Tensor) -> None:
    model.eval()
    model(x)
    model.train()


@pytest.mark.parametrize("validate", [without_gradients, in_evaluation])
def test_validation_without_a_mode_is_steps_of_its_own_that_leave_training_steps_alone(
    tmp_path: Path, validate: Callable[[nn.Module, torch.Tensor], None]
) -> None:
    model, seen = net(), Seen()
    optimizer, step = sgd(model), 0
    with watch(tmp_path / "run", model, optimizer):
        for _ in range(2):
            for x, y in batches(2):
                optimizer.zero_grad()
                seen |= weights_of(model, step)
                plain_loss(model, x, y).backward()
                seen |= gradients_of(model, step)
                optimizer.step()
                step += 1
            for x, _ in batches(3):
                validate(model, x)
                step += 1
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == list(range(10))
    assert_recorded(tmp_path / "run", seen)


def test_a_model_trained_in_evaluation_mode_is_trained(tmp_path: Path) -> None:
    model, seen = net().eval(), Seen()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer):
        for i, (x, y) in enumerate(batches(4)):
            seen |= weights_of(model, i // 2)
            plain_loss(model, x, y).backward()
            if i % 2:
                seen |= gradients_of(model, i // 2)
                optimizer.step()
                optimizer.zero_grad()
    assert_recorded(tmp_path / "run", seen)


def test_weights_are_saved_at_a_due_step_of_a_forward_that_nobody_differentiates(tmp_path: Path) -> None:
    model = net()
    with watch(tmp_path / "run", model, include_collections=["weights"], save_config={"save_interval": 2}):
        for x, _ in batches(4):
            model(x)
    assert Recorded(tmp_path / "run").saved_at("Net_fc1.weight") == [0, 2]


# -- what else a step holds -----------------------------------------------------------------------------


def test_learning_rates_are_those_of_the_update_one_for_each_group(tmp_path: Path) -> None:
    model = net()
    groups = [{"params": model.fc1.parameters(), "lr": 0.5}, {"params": model.fc2.parameters()}]
    optimizer = torch.optim.SGD(groups, lr=0.1)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    with watch(tmp_path / "run", model, optimizer):
        for x, y in batches(3):
            optimizer.zero_grad()
            plain_loss(model, x, y).backward()
            optimizer.step()
            schedule.step()
    recorded = Recorded(tmp_path / "run")
    assert recorded.scalars("learning_rate/0") == pytest.approx({0: 0.5, 1: 0.25, 2: 0.125})
    assert recorded.scalars("learning_rate/1") == pytest.approx({0: 0.1, 1: 0.05, 2: 0.025})


def test_a_step_knows_its_time_phases_and_epoch(tmp_path: Path) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer) as hook:
        for epoch in (4, 5):
            hook.set_epoch(epoch)
            train(model, optimizer, loss, steps=2)
    rows = Recorded(tmp_path / "run").steps
    assert [row["epoch"] for row in rows] == [4, 4, 5, 5]
    assert rows[0]["time"] <= rows[1]["time"] <= rows[2]["time"]
    for row in rows:
        assert all(0 <= row[phase] < 10 for phase in ("forward", "backward", "optimizer"))
        assert row["data"] is None
        assert row["thinned"] == 0


def test_optimizer_variables_are_recorded_when_asked_for(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.Adam(model.parameters())
    settings = {"include_collections": ["optimizer_variables"], "save_config": {"save_interval": 1}}
    with watch(tmp_path / "run", model, optimizer, **settings):
        train(model, optimizer, nn.CrossEntropyLoss(), steps=2)
        moments = {name: optimizer.state[p]["exp_avg"].clone() for name, p in model.named_parameters()}
    saved = Recorded(tmp_path / "run").tensors()
    for name, moment in moments.items():
        array = saved[1, f"Adam_Net_{name}_exp_avg"].array
        assert array is not None
        assert array.tolist() == moment.tolist()


def test_optimizer_variables_are_in_their_collection_while_the_training_still_runs(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.Adam(model.parameters())
    settings = {"include_collections": ["optimizer_variables"], "save_config": {"save_interval": 1}}
    with watch(tmp_path / "run", model, optimizer, **settings) as hook:
        train(model, optimizer, nn.CrossEntropyLoss(), steps=2)
        hook.flush()
        trial = create_trial(tmp_path / "run")
        parameters = [name for name, _ in model.named_parameters()]
        assert trial.tensor_names(collection="weights") == sorted(f"Net_{n}" for n in parameters if "weight" in n)
        kept = trial.tensor_names(collection="optimizer_variables")
        assert {f"Adam_Net_{name}_exp_avg" for name in parameters} <= set(kept)


def test_the_configuration_notes_model_optimizer_batch_size_and_command(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model, lr=0.25)
    with watch(tmp_path / "run", model, optimizer) as hook:
        hook.set_config({"dropout": 0.5, "layers": (1, 2), "device": torch.device("cpu")})
        train(model, optimizer, nn.CrossEntropyLoss(), steps=1)
    config = Recorded(tmp_path / "run").run.config()
    assert config["model"] == "Net"
    assert config["parameters"] == sum(p.numel() for p in model.parameters())
    assert config["batch_size"] == 5
    assert config["optimizer"]["class"] == "SGD"
    assert config["optimizer"]["groups"][0]["lr"] == 0.25
    assert config["dropout"] == 0.5
    assert config["layers"] == [1, 2]
    assert config["device"] == "cpu"
    assert config["command"]


# -- more ways of training -------------------------------------------------------------------------


def test_evaluation_in_inference_mode_and_training_after_it(tmp_path: Path) -> None:
    model, seen = net(), Seen()
    optimizer = sgd(model)
    settings = {"include_collections": ["weights", "outputs"], "save_config": {"save_interval": 1}}
    with watch(tmp_path / "run", model, optimizer, **settings):
        with torch.inference_mode():
            model(torch.ones(2, 4))
        for step, (x, y) in enumerate(batches(3), start=1):
            optimizer.zero_grad()
            seen |= weights_of(model, step)
            plain_loss(model, x, y).backward()
            seen |= gradients_of(model, step)
            optimizer.step()
    recorded = Recorded(tmp_path / "run")
    assert recorded.findings() == []
    rows = recorded.statistics()
    for key, values in seen.items():
        assert_statistics(rows[key], values)
    assert recorded.saved_at("Net_fc1.weight") == [0, 1, 2, 3]


def test_gradients_per_sample_by_function_transforms_do_not_disturb(tmp_path: Path) -> None:
    model = net()
    optimizer = sgd(model)

    def loss_of(parameters: dict[str, torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.func.functional_call(model, parameters, (x.unsqueeze(0),))
        return functional.cross_entropy(out, y.unsqueeze(0))

    per_sample = torch.func.vmap(torch.func.grad(loss_of), in_dims=(None, 0, 0))
    with watch(tmp_path / "run", model, optimizer, include_collections=["outputs"]):
        for x, y in batches(2):
            optimizer.zero_grad()
            plain_loss(model, x, y).backward()
            found = per_sample({name: p.detach() for name, p in model.named_parameters()}, x, y)
            assert found["fc1.weight"].shape == (5, 6, 4)
            optimizer.step()
    recorded = Recorded(tmp_path / "run")
    assert recorded.findings() == []
    assert recorded.numbers() == [0, 1]


@pytest.mark.parametrize("every", [1, 3])
def test_two_optimizers_of_one_model_make_one_step(tmp_path: Path, every: int) -> None:
    model, seen = net(), Seen()
    first = torch.optim.SGD(model.fc1.parameters(), lr=0.1)
    second = torch.optim.Adam(model.fc2.parameters(), lr=0.01)
    with watch(tmp_path / "run", model, first, statistics_every=every) as hook:
        hook.register_optimizer(second)
        for step, (x, y) in enumerate(batches(7)):
            model.zero_grad()
            before = weights_of(model, step)
            plain_loss(model, x, y).backward()
            if step % every == 0:
                seen |= before | gradients_of(model, step)
            first.step()
            second.step()
    assert_recorded(tmp_path / "run", seen)
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == list(range(0, 7, every))
    assert set(recorded.scalars("learning_rate/0").values()) == {0.1}
    assert set(recorded.scalars("learning_rate/1").values()) == {0.01}


def test_two_optimizers_in_turn_make_a_step_each(tmp_path: Path) -> None:
    model = net()
    optimizers = [sgd(model.fc1), sgd(model.fc2)]
    with watch(tmp_path / "run", model, optimizers[0]) as hook:
        hook.register_optimizer(optimizers[1])
        for i, (x, y) in enumerate(batches(6)):
            model.zero_grad()
            plain_loss(model, x, y).backward()
            optimizers[i % 2].step()
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == list(range(6))
    assert recorded.findings() == []


def test_registering_twice_records_once(tmp_path: Path) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer) as hook:
        hook.register_optimizer(optimizer)
        hook.register_loss(loss)
        hook.register_loss(loss)
        train(model, optimizer, loss, steps=2)
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == [0, 1]
    assert len(recorded.scalars("learning_rate")) == 2
    assert "CrossEntropyLoss_output_1" not in recorded.named()


@pytest.mark.parametrize("every", [1, 3])
def test_a_value_recorded_after_the_update_belongs_to_the_step_that_was_updated(tmp_path: Path, every: int) -> None:
    model, losses = net(), {}
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer, statistics_every=every) as hook:
        for step, (x, y) in enumerate(batches(7)):
            optimizer.zero_grad()
            loss = plain_loss(model, x, y)
            loss.backward()
            optimizer.step()
            hook.record_tensor_value("my_loss", loss)
            if step % every == 0:
                losses[step] = loss.item()
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == list(losses)
    assert recorded.scalars("loss") == pytest.approx(losses)
    rows = recorded.statistics()
    found = {step: row["mean"] for (step, name), row in rows.items() if name == "my_loss_output_0"}
    assert found == pytest.approx(losses)
    assert recorded.saved_at("my_loss_output_0") == [0]
