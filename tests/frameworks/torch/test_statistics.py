"""Statistics and saved tensors equal what the loop itself saw, against a float64 reference."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import cutaway.torch as smd
from tests.frameworks.torch.models import Net, batches, net, plain_loss, sgd
from tests.recording import Array, Recorded, assert_statistics

Seen = dict[tuple[int, str], Array]


def numbers(tensor: torch.Tensor) -> Array:
    """A tensor's values in float64, taken now."""
    dense = tensor.detach().to_dense() if tensor.is_sparse else tensor.detach()
    return dense.to(torch.float64).numpy().copy()


def weights_of(model: nn.Module, step: int, prefix: str = "Net") -> Seen:
    return {(step, f"{prefix}_{name}"): numbers(p) for name, p in model.named_parameters()}


def gradients_of(model: nn.Module, step: int, prefix: str = "Net") -> Seen:
    found = [(name, p.grad) for name, p in model.named_parameters() if p.grad is not None]
    return {(step, f"gradient/{prefix}_{name}"): numbers(grad) for name, grad in found}


def assert_recorded(path: Path, seen: Seen, *, besides: str = "[Ll]oss") -> None:
    """Every tensor that the loop saw has its statistics, and no other has."""
    recorded = Recorded(path)
    found = {key: row for key, row in recorded.statistics().items() if "oss" not in key[1]}
    assert found.keys() == seen.keys()
    for key, values in seen.items():
        assert_statistics(found[key], values)
    assert recorded.findings() == []


def test_every_weight_and_gradient_of_every_step(tmp_path: Path) -> None:
    model, seen = net(), Seen()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        for step, (x, y) in enumerate(batches(20)):
            optimizer.zero_grad()
            seen |= weights_of(model, step)
            plain_loss(model, x, y).backward()
            seen |= gradients_of(model, step)
            optimizer.step()
    assert_recorded(tmp_path / "run", seen)


def test_the_change_of_weights_is_the_norm_of_the_update(tmp_path: Path) -> None:
    model, optimizer, before = net(), None, {}
    optimizer = sgd(model)
    changes: dict[tuple[int, str], float] = {}
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        for step, (x, y) in enumerate(batches(4)):
            for (_, name), now in weights_of(model, step).items():
                if step:
                    changes[step, name] = float(np.linalg.norm(now - before[name]))
                before[name] = now
            optimizer.zero_grad()
            plain_loss(model, x, y).backward()
            optimizer.step()
    rows = Recorded(tmp_path / "run").statistics()
    assert {key: row["change"] for key, row in rows.items() if row["change"] is not None} == pytest.approx(changes)
    assert all(row["change"] is None for (step, name), row in rows.items() if step == 0 or name.startswith("gradient"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_parameters_of_any_precision(tmp_path: Path, dtype: torch.dtype) -> None:
    model, seen = net().to(dtype), Seen()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run", include_collections=["weights"], save_config={"save_interval": 1}) as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        for step, (x, _) in enumerate(batches(3)):
            optimizer.zero_grad()
            seen |= weights_of(model, step)
            model(x.to(dtype)).square().mean().backward()
            seen |= gradients_of(model, step)
            optimizer.step()
    assert_recorded(tmp_path / "run", seen)
    saved = Recorded(tmp_path / "run").tensors()
    assert {one.dtype for one in saved.values()} == {str(dtype).removeprefix("torch.")}
    for (step, name), one in saved.items():
        assert one.array is not None
        bits = torch.from_numpy(one.array.copy())
        values = bits.view(torch.bfloat16) if dtype is torch.bfloat16 else bits
        np.testing.assert_array_equal(numbers(values), seen[step, name])


def test_a_model_of_mixed_precision(tmp_path: Path) -> None:
    model, seen = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2).double()), Seen()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        seen |= weights_of(model, 0, "Sequential")
        model[1](model[0](torch.ones(1, 4)).double()).sum()
        x = torch.ones(1, 4)
        model.forward = lambda x: model[1](model[0](x).double())  # type: ignore[method-assign]
        model(x).sum().backward()
        seen |= gradients_of(model, 0, "Sequential")
    assert_recorded(tmp_path / "run", seen)


SHAPES: dict[str, Callable[[], torch.Tensor]] = {
    "empty": lambda: torch.zeros(0, 3),
    "scalar": lambda: torch.tensor(2.5),
    "transposed": lambda: torch.arange(12.0).reshape(3, 4).T,
    "strided": lambda: torch.arange(24.0)[::3],
    "expanded": lambda: torch.ones(1, 3).expand(4, 3),
    "with nan": lambda: torch.tensor([1.0, float("nan"), float("-inf"), 0.0]),
    "all nan": lambda: torch.full((3,), float("nan")),
    "huge": lambda: torch.tensor([3e38, -3e38, 1e-38]),
    "int64": lambda: torch.arange(-3, 4),
    "uint8": lambda: torch.arange(5, dtype=torch.uint8),
    "bool": lambda: torch.tensor([True, False, True]),
    "float64": lambda: torch.tensor([1e300, -1.0], dtype=torch.float64),
    "bfloat16": lambda: torch.linspace(-1, 1, 7, dtype=torch.bfloat16),
    "float16": lambda: torch.linspace(-1, 1, 7, dtype=torch.float16),
    "sparse": lambda: torch.eye(3).to_sparse(),
}


class Returns(nn.Module):
    def forward(self, value: torch.Tensor) -> torch.Tensor:
        return value


@pytest.mark.parametrize("shape", SHAPES)
def test_outputs_of_any_shape_and_type(tmp_path: Path, shape: str) -> None:
    value, model = SHAPES[shape](), Returns()
    with smd.Hook(tmp_path / "run", include_collections=["outputs"], save_config={"save_interval": 1}) as hook:
        hook.register_module(model)
        model(value)
    recorded = Recorded(tmp_path / "run")
    assert_statistics(recorded.statistics()[0, "Returns_output_0"], numbers(value))
    saved = recorded.tensors()[0, "Returns_output_0"]
    assert (saved.dtype, saved.shape) == (str(value.dtype).removeprefix("torch."), tuple(value.shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_saved_tensor_comes_back_bit_for_bit(tmp_path: Path, shape: str) -> None:
    value = SHAPES[shape]()
    with smd.Hook(tmp_path / "run") as hook:
        hook.save_tensor("mine", value)
        value = value.clone()
    saved = Recorded(tmp_path / "run").tensors()[0, "mine"]
    dense = value.to_dense() if value.is_sparse else value.contiguous()
    wanted = dense.view(torch.uint16) if dense.dtype is torch.bfloat16 else dense
    assert saved.array is not None
    assert saved.array.tobytes() == wanted.numpy().tobytes()
    assert saved.shape == tuple(value.shape)


@pytest.mark.parametrize("value", [np.arange(3), [1.0, 2.0], 4.5, np.float32(2)])
def test_arrays_lists_and_numbers_can_be_saved_too(tmp_path: Path, value: object) -> None:
    with smd.Hook(tmp_path / "run") as hook:
        hook.save_tensor("mine", value, collections_to_write=["mine_too", "default"])
    recorded = Recorded(tmp_path / "run")
    saved = recorded.tensors()[0, "mine"].array
    assert saved is not None
    assert saved.tolist() == np.asarray(value).tolist()
    collections = (recorded.run.document("trace/collections.json") or {})["collections"]
    assert "mine" in collections["mine_too"]["tensor_names"]
    assert "mine" in collections["default"]["tensor_names"]


def test_a_saved_tensor_is_the_value_of_that_moment(tmp_path: Path) -> None:
    value = torch.zeros(3)
    with smd.Hook(tmp_path / "run") as hook:
        hook.save_tensor("mine", value)
        value += 1
    saved = Recorded(tmp_path / "run").tensors()[0, "mine"].array
    assert saved is not None
    assert not saved.any()


class Complex(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1 + 2j, -3j]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.weight * x).abs()


def test_complex_parameters_are_described_by_their_real_and_imaginary_parts(tmp_path: Path) -> None:
    model = Complex()
    with smd.Hook(tmp_path / "run", include_collections=["weights"]) as hook:
        hook.register_module(model)
        model(torch.ones(2)).sum().backward()
    recorded = Recorded(tmp_path / "run")
    parts = torch.view_as_real(model.weight.detach())
    assert_statistics(recorded.statistics()[0, "Complex_weight"], numbers(parts))
    saved = recorded.tensors()[0, "Complex_weight"]
    assert saved.dtype == "complex64"
    assert saved.array is not None
    np.testing.assert_array_equal(saved.array, model.weight.detach().numpy())
    assert recorded.findings() == []


class Uneven(nn.Module):
    """Uses one branch or the other, so that some parameters get no gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right, self.frozen = nn.Linear(4, 3), nn.Linear(4, 3), nn.Linear(3, 3)
        self.frozen.requires_grad_(False)

    def forward(self, x: torch.Tensor, left: bool) -> torch.Tensor:
        return self.frozen(self.left(x) if left else self.right(x))


def test_frozen_and_unused_parameters_have_weights_but_no_gradients(tmp_path: Path) -> None:
    model, seen = Uneven(), Seen()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        for step, (x, _) in enumerate(batches(4)):
            optimizer.zero_grad()
            seen |= weights_of(model, step, "Uneven")
            model(x, step % 2 == 0).square().sum().backward()
            seen |= gradients_of(model, step, "Uneven")
            optimizer.step()
    assert (0, "gradient/Uneven_right.weight") not in seen
    assert_recorded(tmp_path / "run", seen)


class Words(nn.Module):
    def __init__(self, *, sparse: bool) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 4, sparse=sparse)
        self.out = nn.Linear(4, 10, bias=False)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.out(self.embed(words))


def test_sparse_gradients_of_an_embedding(tmp_path: Path) -> None:
    model, seen = Words(sparse=True), Seen()
    optimizer = sgd(model)
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        for step in range(3):
            optimizer.zero_grad()
            seen |= weights_of(model, step, "Words")
            model(torch.tensor([1, 2, 2, step])).square().sum().backward()
            assert model.embed.weight.grad is not None
            assert model.embed.weight.grad.is_sparse
            seen |= gradients_of(model, step, "Words")
            optimizer.step()
    assert_recorded(tmp_path / "run", seen)


def test_tied_weights_are_recorded_once(tmp_path: Path) -> None:
    model, seen = Words(sparse=False), Seen()
    model.out.weight = model.embed.weight
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        seen |= weights_of(model, 0, "Words")
        model(torch.tensor([1, 2])).square().sum().backward()
        seen |= gradients_of(model, 0, "Words")
    assert set(seen) == {(0, "Words_embed.weight"), (0, "gradient/Words_embed.weight")}
    assert_recorded(tmp_path / "run", seen)


@pytest.mark.parametrize("optimized", [True, False])
def test_lazy_modules_are_recorded_from_their_first_step_on(tmp_path: Path, optimized: bool) -> None:
    torch.manual_seed(0)
    model, seen = nn.Sequential(nn.LazyLinear(5), nn.ReLU(), nn.LazyLinear(3)), Seen()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with smd.Hook(tmp_path / "run", include_collections=["outputs"]) as hook:
        hook.register_module(model)
        if optimized:
            hook.register_optimizer(optimizer)
        for step, (x, y) in enumerate(batches(3)):
            optimizer.zero_grad()
            loss = plain_loss(model, x, y)
            seen |= weights_of(model, step, "Sequential")
            loss.backward()
            seen |= gradients_of(model, step, "Sequential")
            optimizer.step()
    rows = Recorded(tmp_path / "run").statistics()
    assert seen.keys() <= rows.keys()
    for key, values in seen.items():
        assert_statistics(rows[key], values)
    assert (1, "0_output_0") in rows


@pytest.mark.parametrize("change", ["new layer", "new shape", "unfrozen", "new root parameter", "double", "bfloat16"])
def test_a_model_that_changes_in_mid_training_is_recorded_as_it_is(tmp_path: Path, change: str) -> None:
    model, seen = net(), Seen()
    if change == "unfrozen":
        model.fc2.requires_grad_(False)
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        for step, (x, y) in enumerate(batches(6)):
            if step == 3:
                if change == "new layer":
                    model.fc2 = nn.Linear(6, 3)
                elif change == "new shape":
                    model.fc1, model.fc2 = nn.Linear(4, 9), nn.Linear(9, 3)
                elif change == "unfrozen":
                    model.fc2.requires_grad_(True)
                elif change in ("double", "bfloat16"):
                    model.to(getattr(torch, change))
                else:
                    model.extra_weight = nn.Parameter(torch.ones(3))
            optimizer = sgd(model)
            optimizer.zero_grad()
            seen |= weights_of(model, step)
            out = plain_loss(model, x.to(model.fc1.weight.dtype), y)
            if hasattr(model, "extra_weight"):
                out = out + model.extra_weight.sum()
            out.backward()
            seen |= gradients_of(model, step)
            optimizer.step()
    assert_recorded(tmp_path / "run", seen)


def test_a_parameter_whose_data_takes_another_shape(tmp_path: Path) -> None:
    model, seen = net(), Seen()
    with smd.Hook(tmp_path / "run") as hook:
        hook.register_module(model)
        for step, (x, y) in enumerate(batches(4)):
            if step == 2:
                model.fc1.weight.data = torch.randn(8, 4)
                model.fc1.bias.data = torch.randn(8)
                model.fc2.weight.data = torch.randn(3, 8)
            model.zero_grad()
            seen |= weights_of(model, step)
            plain_loss(model, x, y).backward()
            seen |= gradients_of(model, step)
    assert_recorded(tmp_path / "run", seen)


class InPlace(Net):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.fc1(x)
        hidden.relu_()
        return self.fc2(hidden)


def test_activations_are_those_before_they_are_changed_in_place(tmp_path: Path) -> None:
    model = InPlace()
    x = torch.randn(7, 4)
    with smd.Hook(tmp_path / "run", include_collections=["outputs"]) as hook:
        hook.register_module(model)
        out = model(x)
        before = out.detach().clone()
        out += 1
        out.sum().backward()
    saved = Recorded(tmp_path / "run").tensors()
    for name, value in (("fc1_output_0", model.fc1(x)), ("InPlace_output_0", before)):
        array = saved[0, name].array
        assert array is not None
        np.testing.assert_array_equal(array, value.detach().numpy())


def test_activations_are_those_of_the_forward(tmp_path: Path) -> None:
    model, reference = net(), copy.deepcopy(net())
    settings = {"include_collections": ["inputs", "outputs"], "save_config": {"save_interval": 1}}
    x = torch.randn(7, 4)
    with smd.Hook(tmp_path / "run", **settings) as hook:
        hook.register_module(model)
        model(x)
        x_before = x.clone()
        x.zero_()
    saved = Recorded(tmp_path / "run").tensors()
    hidden = reference.fc1(x_before)
    wanted = {
        "Net_input_0": x_before,
        "fc1_output_0": hidden,
        "relu_output_0": hidden.relu(),
        "fc2_output_0": reference(x_before),
        "Net_output_0": reference(x_before),
    }
    for name, value in wanted.items():
        array = saved[0, name].array
        assert array is not None
        np.testing.assert_array_equal(array, value.detach().numpy())


def test_the_share_of_positive_values_per_channel_when_asked(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU())
    x = torch.randn(4, 1, 6, 6)
    with smd.Hook(tmp_path / "run", channel_activity="^1_output") as hook:
        hook.register_module(model)
        positive = (model(x) > 0).double().mean(dim=(0, 2, 3))
    rows = Recorded(tmp_path / "run").statistics()
    assert rows[0, "1_output_0"]["active"] == pytest.approx(positive.tolist())
    assert all(row["active"] is None for (_, name), row in rows.items() if name != "1_output_0")


@pytest.mark.parametrize("optimized", [True, False])
def test_statistics_every_third_step_and_none_when_told_so(tmp_path: Path, optimized: bool) -> None:
    for every, wanted in ((3, [0, 3, 6]), (0, [])):
        model = Net()
        optimizer = sgd(model)
        with smd.Hook(tmp_path / f"every-{every}", statistics_every=every) as hook:
            hook.register_module(model)
            if optimized:
                hook.register_optimizer(optimizer)
            for x, y in batches(8):
                optimizer.zero_grad()
                plain_loss(model, x, y).backward()
                optimizer.step()
        recorded = Recorded(tmp_path / f"every-{every}")
        assert sorted({step for step, _ in recorded.statistics()}) == wanted
        assert [row["step"] for row in recorded.steps if row["statistics"]] == wanted
        # Listed in any case are step 0, whose loss is saved by schedule, and the last, so that numbers go on after it.
        assert recorded.numbers() == sorted({0, *wanted, 7})
