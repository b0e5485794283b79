"""Tensors are named as upstream names them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

import cutaway.torch as smd
from tests.frameworks.torch.models import Net, batches, net, plain_loss, sgd, train
from tests.recording import Recorded

PARAMETERS = {"Net_fc1.weight", "Net_fc1.bias", "Net_fc2.weight", "Net_fc2.bias"}
GRADIENTS = {f"gradient/{name}" for name in PARAMETERS}


def test_parameters_gradients_and_losses_have_the_names_of_upstream(tmp_path: Path) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_loss(loss)
        train(model, hook.wrap_optimizer(sgd(model)), loss, steps=2)
    for step in (0, 1):
        assert Recorded(tmp_path / "run").named(step) == {*PARAMETERS, *GRADIENTS, "CrossEntropyLoss_output_0"}


def test_modules_name_their_inputs_and_outputs_and_the_root_goes_by_its_class(tmp_path: Path) -> None:
    model = net()
    with smd.Hook(tmp_path / "run", include_collections=["inputs", "outputs"]) as hook:
        hook.register_module(model)
        model(torch.ones(2, 4))
    modules = ("Net", "fc1", "relu", "fc2")
    wanted = {f"{name}_{kind}_0" for name in modules for kind in ("input", "output")}
    assert wanted <= Recorded(tmp_path / "run").named(0)


def test_nested_modules_keep_their_dotted_names(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 3)))
    with smd.Hook(tmp_path / "run", include_collections=["outputs"]) as hook:
        hook.register_module(model)
        plain_loss(model, *next(batches(1))).backward()
    named = Recorded(tmp_path / "run").named(0)
    assert {"Sequential_1.0.weight", "gradient/Sequential_1.0.weight", "1.0_output_0", "1_output_0"} <= named


class Twice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.relu(self.fc(self.relu(x)))


def test_a_module_used_twice_gets_increasing_indices_that_start_again_each_step(tmp_path: Path) -> None:
    model = Twice()
    with smd.Hook(tmp_path / "run", include_regex="relu|^fc_", save_config={"save_interval": 1}) as hook:
        hook.register_module(model)
        for _ in range(2):
            model(torch.full((1, 4), -1.0)).sum().backward()
    saved = Recorded(tmp_path / "run").tensors()
    for step in (0, 1):
        of_step = {name for at, name in saved if at == step}
        assert of_step == {
            "relu_input_0",
            "relu_input_1",
            "relu_output_0",
            "relu_output_1",
            "fc_input_0",
            "fc_output_0",
        }
        assert not saved[step, "relu_output_0"].array.any()
        assert saved[step, "relu_input_1"].array.tolist() == saved[step, "fc_output_0"].array.tolist()


class Nested(nn.Module):
    def forward(self, x: torch.Tensor) -> dict[str, object]:
        return {"whole": x, "parts": (x[:1], [x[1:]]), "text": "not a tensor"}


def test_tensors_inside_tuples_lists_and_dictionaries_are_counted_in_order(tmp_path: Path) -> None:
    model = Nested()
    with smd.Hook(tmp_path / "run", include_collections=["outputs"], save_config={"save_interval": 1}) as hook:
        hook.register_module(model)
        model(torch.arange(6.0).reshape(3, 2))
    saved = Recorded(tmp_path / "run").tensors()
    shapes = {name: one.shape for (_, name), one in saved.items()}
    assert shapes == {"Nested_output_0": (3, 2), "Nested_output_1": (1, 2), "Nested_output_2": (2, 2)}


def test_two_losses_of_one_class_get_increasing_indices(tmp_path: Path) -> None:
    model, first, second = net(), nn.CrossEntropyLoss(), nn.CrossEntropyLoss(label_smoothing=0.2)
    settings = {"include_collections": ["losses", "labels", "predictions"], "save_config": {"save_interval": 1}}
    with smd.Hook(tmp_path / "run", **settings) as hook:
        hook.register_module(model)
        hook.register_loss(first)
        hook.register_loss(second)
        x, y = next(batches(1))
        out = model(x)
        values = first(out, y), second(out, y)
    saved = Recorded(tmp_path / "run").tensors()
    for i, value in enumerate(values):
        assert saved[0, f"CrossEntropyLoss_output_{i}"].array.item() == value.item()
    assert saved[0, "CrossEntropyLoss_input_0"].shape == (5, 3)
    assert saved[0, "CrossEntropyLoss_input_1"].array.tolist() == y.tolist()


def test_a_recorded_value_is_named_as_an_output(tmp_path: Path) -> None:
    model = net()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        for x, y in batches(2):
            hook.record_tensor_value("nll_loss", plain_loss(model, x, y))
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers() == [0, 1]
    assert "nll_loss_output_0" in recorded.named(0) & recorded.named(1)


class Wrapped(Net):
    """A model of which only a part is compiled."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = torch.compile(self.fc1, backend="eager")


@pytest.mark.parametrize("build", [lambda: torch.compile(net(), backend="eager"), lambda: nn.DataParallel(net())])
def test_what_compiling_and_parallel_wrappers_add_to_names_is_left_out(tmp_path: Path, build: object) -> None:
    model = build()  # type: ignore[operator]
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        plain_loss(model, *next(batches(1))).backward()
    assert Recorded(tmp_path / "run").named(0) == PARAMETERS | GRADIENTS


def test_a_compiled_part_of_a_model_keeps_its_name(tmp_path: Path) -> None:
    model = Wrapped()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        plain_loss(model, *next(batches(1))).backward()
    assert {name.replace("Wrapped", "Net") for name in Recorded(tmp_path / "run").named(0)} == PARAMETERS | GRADIENTS
