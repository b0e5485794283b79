"""A live module as a model: what it says of itself, what it answers, and that it is left as it was."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import nn

import cutaway
from cutaway.capture.budget import DEFAULT_BUDGET
from cutaway.errors import ConfigurationError, GradientUnavailable, LayerUnavailable, ModelError, ModelInputError
from cutaway.frameworks.torch.model import wrap
from cutaway.models.backend import Question
from cutaway.models.model import Model
from cutaway.trial import create_trial
from tests.frameworks.torch import models
from tests.frameworks.torch.networks import BATCHES, CNN, MLP, Encoder, TwoAnswers, TwoInputs, UNet, numbers, seeded


def model_of(kind: type[nn.Module]) -> tuple[nn.Module, Model]:
    module = seeded(kind)
    return module, Model(wrap(module, example=BATCHES[kind]))


class Fixed(nn.Module):
    """Returns what it is told to, made of its input."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer

    def forward(self, x: torch.Tensor) -> Any:
        return self.answer(x)


class Pair(NamedTuple):
    mean: torch.Tensor
    spread: torch.Tensor


@dataclasses.dataclass
class Answer:
    logits: torch.Tensor
    loss: torch.Tensor | None = None


class TestWhatItAnswers:
    @pytest.mark.parametrize("kind", list(BATCHES))
    def test_predictions_are_the_modules_own(self, kind: type[nn.Module]) -> None:
        module, model = model_of(kind)
        with torch.no_grad():
            wanted = module(*(torch.tensor(values) for values in BATCHES[kind].values()))
        wanted = wanted if isinstance(wanted, dict) else {"output": wanted}
        for name, values in model.predict(BATCHES[kind]).items():
            assert np.abs(values - wanted[name].numpy()).max() <= 1e-5 * wanted[name].abs().max()

    def test_activations_are_what_the_modules_returned_before_others_changed_it_in_place(self) -> None:
        module, model = model_of(CNN)
        image = torch.tensor(BATCHES[CNN]["image"])
        got = model.activations(BATCHES[CNN], ["conv1", "bn1", "relu", "relu:1"])
        conv = module.conv1(image)
        norm = module.bn1(conv)
        first = norm.relu()
        second = (module.conv2(first) + first).relu()
        for name, wanted in (("conv1", conv), ("bn1", norm), ("relu", first), ("relu:1", second)):
            assert np.allclose(got[name], wanted.detach().numpy(), atol=1e-6), name

    @pytest.mark.parametrize("wrt", ["image", "conv1", "bn1", "relu", "relu:1", "head.input"])
    def test_gradients_are_those_of_autograd(self, wrt: str) -> None:
        module, model = model_of(CNN)
        target = np.array([0, 1, 2, 3, 4])
        got = model.gradient(BATCHES[CNN], target=target, wrt=wrt)
        image = torch.tensor(BATCHES[CNN]["image"], requires_grad=True)
        conv = module.conv1(image)
        norm = module.bn1(conv)
        first = norm.relu()
        second = (module.conv2(first) + first).relu()
        flat = module.pool(second).flatten(1)
        score = module.head(flat)[range(5), range(5)].sum()
        values = {"image": image, "conv1": conv, "bn1": norm, "relu": first, "relu:1": second, "head.input": flat}
        (wanted,) = torch.autograd.grad(score, values[wrt])
        assert np.allclose(got.gradient, wanted.numpy(), atol=1e-6)
        assert np.allclose(got.activation, values[wrt].detach().numpy(), atol=1e-6)

    def test_the_latent_vector_is_what_goes_into_the_head(self) -> None:
        module, model = model_of(CNN)
        seen: list[torch.Tensor] = []
        module.head.register_forward_pre_hook(lambda _m, args: seen.append(args[0].detach()))
        module(torch.tensor(BATCHES[CNN]["image"]))
        assert model.latent_layer == "head.input"
        assert np.allclose(model.latent(BATCHES[CNN]), seen[0].numpy(), atol=1e-6)

    def test_of_a_segmentation_it_is_the_mean_over_the_image(self) -> None:
        _, model = model_of(UNet)
        assert model.latent_layer == "head.input"
        assert model.latent(BATCHES[UNet]).shape == (5, 16)
        assert model.outputs[0].shape == (None, 4, None, None)
        larger = {"image": numbers(2, 3, 12, 6)}
        assert model.predict(larger)["output"].shape == (2, 4, 12, 6)

    def test_float64_batches_become_what_the_module_computes_in(self) -> None:
        module = seeded(MLP)
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            model = Model(wrap(module.to(dtype)))
            answer = model.predict(numbers(3, 4).astype(np.float64))["output"]
            assert answer.dtype == ("float64" if dtype == torch.float64 else "float32")

    def test_batches_may_be_turned_views(self) -> None:
        module = seeded(MLP)
        turned = numbers(3, 4)[::-1]
        got = wrap(module, example={"x": turned}).predict({"x": turned})["output"]
        assert np.allclose(got, wrap(module).predict({"x": turned.copy()})["output"])

    def test_channels_are_moved_only_where_that_was_said(self) -> None:
        _, model = model_of(CNN)
        last = Model(wrap(seeded(CNN), example=BATCHES[CNN]), channels_last=True)
        images = BATCHES[CNN]["image"]
        turned = last.predict(np.moveaxis(images, 1, -1))
        assert np.allclose(turned["output"], model.predict(images)["output"], atol=1e-6)
        with pytest.raises(ModelInputError, match="channels_last=True"):
            model.predict(np.moveaxis(images, 1, -1))


class TestNames:
    @pytest.mark.parametrize(
        ("answer", "names"),
        [
            (lambda x: x, ["output"]),
            (lambda x: (x,), ["output"]),
            (lambda x: (x, 2 * x), ["output_0", "output_1"]),
            (lambda x: [x, (x, x)], ["output_0", "output_1_0", "output_1_1"]),
            (lambda x: {"a": x, "b": {"c": x}}, ["a", "b_c"]),
            (lambda x: {"only": x}, ["only"]),
            (lambda x: Pair(x, x), ["mean", "spread"]),
            (Answer, ["logits"]),
            (lambda x: Answer(x, x.mean()), ["logits"]),  # a loss of the whole batch has no rows
            (lambda x: OrderedDict(logits=x, hidden=(x, x)), ["logits", "hidden_0", "hidden_1"]),
        ],
    )
    def test_outputs_are_named_by_what_the_module_returns(self, answer: Any, names: list[str]) -> None:
        model = Model(wrap(Fixed(answer), example=numbers(3, 2)))
        assert [spec.name for spec in model.outputs] == names
        assert list(model.predict(numbers(3, 2))) == names

    def test_a_module_that_answers_nothing_for_each_sample_is_refused(self) -> None:
        with pytest.raises(ModelError, match="no tensor with a row for each of the 3 samples"):
            wrap(Fixed(lambda x: x.mean()), example=numbers(3, 2))

    def test_inputs_are_the_parameters_of_forward(self) -> None:
        assert [spec.name for spec in wrap(seeded(TwoInputs)).description.inputs] == ["left", "right"]
        assert [spec.name for spec in wrap(nn.Sequential(nn.Linear(2, 2))).description.inputs] == ["input"]

    def test_an_example_with_a_wrong_name_is_told(self) -> None:
        with pytest.raises(ConfigurationError, match="Did you mean 'left'"):
            wrap(seeded(TwoInputs), example={"lefft": numbers(2, 4), "right": numbers(2, 2)})

    def test_an_example_may_be_a_list_in_the_order_of_the_parameters(self) -> None:
        description = wrap(seeded(TwoInputs), example=[numbers(2, 4), numbers(2, 2)]).description
        assert [(spec.name, spec.shape) for spec in description.inputs] == [("left", (None, 4)), ("right", (None, 2))]

    def test_layers_are_those_that_were_called_in_their_order(self) -> None:
        names = [layer.name for layer in wrap(seeded(CNN), example=BATCHES[CNN]).description.layers]
        assert names == ["conv1", "bn1", "relu", "conv2", "relu:1", "pool", "head", "head.input"]

    def test_what_is_only_used_through_its_weights_is_not_listed(self) -> None:
        names = [layer.name for layer in wrap(seeded(Encoder), example=BATCHES[Encoder]).description.layers]
        assert "encoder.layers.0.self_attn" in names
        assert "encoder.layers.0.self_attn.out_proj" not in names

    def test_compiled_and_parallel_modules_go_by_the_names_inside(self) -> None:
        plain = wrap(seeded(MLP), example=BATCHES[MLP]).description
        compiled = torch.compile(seeded(MLP), backend="eager")
        assert wrap(compiled, example=BATCHES[MLP]).description == plain
        assert wrap(nn.DataParallel(seeded(MLP)), example=BATCHES[MLP]).description == plain

    def test_a_module_that_is_one_layer_has_that_layer(self) -> None:
        model = Model(wrap(nn.Linear(4, 3), example=numbers(2, 4)))
        assert [layer.name for layer in model.layers] == ["Linear", "Linear.input"]
        assert np.array_equal(model.latent(numbers(2, 4)), numbers(2, 4))


class TestWithoutAnExample:
    def test_any_batch_is_taken_and_the_output_is_called_output(self) -> None:
        model = Model(wrap(seeded(MLP)))
        assert model.inputs[0].shape == ()
        assert np.array_equal(model.predict(numbers(3, 4))["output"], model_of(MLP)[1].predict(numbers(3, 4))["output"])
        assert model.latent(numbers(3, 4)).shape == (3, 8)
        assert model.gradient(numbers(3, 4)).gradient.shape == (3, 4)

    def test_tokens_stay_whole_numbers(self) -> None:
        model = Model(wrap(seeded(Encoder)))
        assert model.predict(BATCHES[Encoder])["output"].shape == (5, 4)

    def test_a_module_with_other_outputs_asks_for_an_example(self) -> None:
        model = Model(wrap(seeded(TwoAnswers)))
        with pytest.raises(ModelError, match=r"returned box, classes, but output was expected.*example=batch"):
            model.predict(numbers(3, 4))

    def test_a_layer_that_is_never_called_says_so(self) -> None:
        model = Model(wrap(seeded(Encoder)))
        with pytest.raises(LayerUnavailable, match="did not go through it"):
            model.activations(BATCHES[Encoder], ["encoder.layers.0.self_attn.out_proj"])


class TestGradientsThatAreNot:
    def test_by_tokens_there_is_none_and_the_embedding_is_offered(self) -> None:
        _, model = model_of(Encoder)
        with pytest.raises(GradientUnavailable, match=r"int64.*embedding"):
            model.gradient(BATCHES[Encoder])
        assert model.gradient(BATCHES[Encoder], wrt="embedding").gradient.shape == (5, 6, 16)

    def test_through_a_detached_value_there_is_none(self) -> None:
        model = Model(wrap(Fixed(lambda x: x.detach() * 2), example=numbers(2, 3)))
        with pytest.raises(GradientUnavailable, match="does not depend on 'x'"):
            model.gradient(numbers(2, 3))

    def test_frozen_parameters_do_not_hinder(self) -> None:
        module = seeded(TwoAnswers).requires_grad_(False)
        model = Model(wrap(module, example=BATCHES[TwoAnswers]))
        for wrt in ("x", "body", "classes.input"):
            assert np.abs(model.gradient(BATCHES[TwoAnswers], "box", wrt=wrt).gradient).max() > 0


def state(module: nn.Module) -> list[Any]:
    """Everything about a module that evaluating it must not change."""
    hooks = [(list(m._forward_hooks), list(m._forward_pre_hooks)) for m in module.modules()]
    flags = [(m.training, type(m)) for m in module.modules()]
    parameters = [(p.requires_grad, p.grad, p.device, p.detach().clone()) for p in module.parameters()]
    return [hooks, flags, parameters, [b.clone() for b in module.buffers()]]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and torch.equal(a, b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


class TestLeftAsItWas:
    def ask_everything(self, module: nn.Module, batch: dict[str, Any]) -> None:
        backend = wrap(module, example=batch)
        backend.predict(batch)
        backend.activations(batch, [layer.name for layer in backend.description.layers])
        for wrt in (next(iter(batch)), "conv1"):
            backend.gradient(batch, Question("output", wrt))
        wrap(module).predict(batch)

    @pytest.mark.parametrize("training", [True, False])
    def test_mode_gradients_flags_hooks_and_statistics_stay(self, training: bool) -> None:
        module = seeded(CNN).train(training)
        module.bn1.eval()
        module.conv1.weight.requires_grad_(False)
        module.conv2.weight.grad = torch.ones_like(module.conv2.weight)
        module.relu.register_forward_hook(lambda *_: None)
        before = state(module)
        self.ask_everything(module, BATCHES[CNN])
        assert same(state(module), before)

    @pytest.mark.parametrize("way", ["predict", "activations", "gradient", "layer", "wrap"])
    def test_also_where_the_forward_raises(self, way: str) -> None:
        module = seeded(CNN).train()
        backend = wrap(module, example=BATCHES[CNN])
        before = state(module)
        wrong = {"image": numbers(2, 7, 8, 8)}
        ways = {
            "predict": lambda: backend.predict(wrong),
            "activations": lambda: backend.activations(wrong, ["conv1", "head.input"]),
            "gradient": lambda: backend.gradient(wrong, Question("output", "image")),
            "layer": lambda: backend.gradient(wrong, Question("output", "head.input")),
            "wrap": lambda: wrap(module, example=wrong),
        }
        with pytest.raises(RuntimeError, match="channels"):
            ways[way]()
        assert same(state(module), before)

    def test_the_batch_is_not_changed_by_a_module_that_works_in_place(self) -> None:
        batch = {"x": numbers(3, 4)}
        backend = wrap(Fixed(lambda x: x.mul_(2)), example=batch)
        backend.predict(batch)
        assert backend.gradient(batch, Question("output", "x")).gradient.sum() == 6  # 2 for one class of each sample
        assert np.array_equal(batch["x"], numbers(3, 4))

    def test_a_users_own_hooks_still_run(self) -> None:
        module = seeded(MLP)
        module.fc1.register_forward_hook(lambda _m, _a, output: output * 0)
        first = wrap(module, example=BATCHES[MLP]).predict(BATCHES[MLP])["output"]
        assert np.array_equal(first, np.broadcast_to(first[0], first.shape))

    def test_it_can_be_trained_on_after_a_prediction_that_filled_a_cache(self) -> None:
        class Caches(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.fc, self.cache = nn.Linear(4, 4), None

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                if self.cache is None:
                    self.cache = torch.linspace(0, 1, 4)
                return self.fc(x * self.cache)

        module = Caches()
        wrap(module).predict({"x": numbers(2, 4)})
        module(torch.tensor(numbers(2, 4), requires_grad=True)).sum().backward()


class TestWatched:
    def train(self, out: Path, *, evaluate: bool) -> list[Any]:
        model = models.net()
        optimizer, loss = models.sgd(model), nn.CrossEntropyLoss()
        hook = cutaway.attach(
            model, optimizer, loss, out_dir=out, save_all=True, disk_budget=DEFAULT_BUDGET, statistics_every=1
        )
        with hook:
            for step in range(4):
                models.train(model, optimizer, loss, 1, seed=step)
                if evaluate:
                    backend = wrap(model, example={"x": numbers(3, 4)})
                    backend.predict({"x": numbers(3, 4)})
                    backend.activations({"x": numbers(3, 4)}, ["fc1", "relu"])
                    backend.gradient({"x": numbers(3, 4)}, Question("output", "x"))
                    backend.gradient({"x": numbers(3, 4)}, Question("output", "relu"))
        trial = create_trial(out)
        names = sorted(trial.tensor_names())
        values = [trial.tensor(name).value(step) for name in names for step in trial.tensor(name).steps()]
        return [trial.steps(), names, [v.tolist() for v in values]]

    def test_evaluating_between_steps_records_nothing_and_changes_nothing(self, tmp_path: Path) -> None:
        assert self.train(tmp_path / "plain", evaluate=False) == self.train(tmp_path / "evaluated", evaluate=True)

    def test_evaluating_inside_a_step_belongs_to_no_step(self, tmp_path: Path) -> None:
        model = models.net()
        optimizer, loss = models.sgd(model), nn.CrossEntropyLoss()
        with cutaway.attach(model, optimizer, loss, out_dir=tmp_path / "run") as hook:
            for x, y in models.batches(3):
                optimizer.zero_grad()
                value = loss(model(x), y)
                wrap(model).predict({"x": numbers(3, 4)})
                value.backward()
                optimizer.step()
            said = hook.step
        assert said == 2
        assert create_trial(tmp_path / "run").steps() == [0]
