"""Heat maps of live modules against captum's of the same modules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from cutaway import models
from cutaway.analysis.heat_maps.making import heat_map, layers_with_places
from cutaway.arrays import Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from tests.frameworks.torch.networks import BATCHES, CNN, MLP, Encoder, Recurrent, TwoAnswers, TwoInputs, UNet, seeded

captum = pytest.importorskip("captum.attr")

CLOSE = 1e-4


class Series(nn.Module):
    """A convolution over time, with a ReLU of which three axes do not say where its channels are."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.relu, self.pool = nn.Conv1d(3, 8, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2)
        self.deep, self.last, self.head = nn.Conv1d(8, 6, 3), nn.ReLU(), nn.Linear(6, 4)

    def forward(self, series: torch.Tensor) -> torch.Tensor:
        return self.head(self.last(self.deep(self.pool(self.relu(self.conv(series))))).mean(2))


class Volume(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.relu, self.head = nn.Conv3d(1, 3, 3, stride=2, padding=1), nn.ReLU(), nn.Linear(3, 2)

    def forward(self, volume: torch.Tensor) -> torch.Tensor:
        return self.head(self.relu(self.conv(volume)).mean((2, 3, 4)))


class Small(nn.Module):
    """Two convolutions whose layers are all modules, so that captum and we can name them."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.relu1, self.pool = nn.Conv2d(2, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)
        self.conv2, self.relu2, self.head = nn.Conv2d(6, 5, 3), nn.ReLU(), nn.Linear(5 * 4 * 3, 4)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.head(self.relu2(self.conv2(self.pool(self.relu1(self.conv1(image))))).flatten(1))


class Losses(nn.Module):
    """The loss of each sample as a module, for captum."""

    def __init__(self, module: nn.Module, labels: torch.Tensor) -> None:
        super().__init__()
        self.module, self.labels = module, labels

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        labels = self.labels.repeat(len(x) // len(self.labels))
        return functional.cross_entropy(self.module(x), labels, reduction="none")


def numbers(*shape: int) -> Array:
    return np.random.default_rng(4).standard_normal(shape).astype(np.float32)


CASES: dict[type[nn.Module], tuple[Array, str]] = {
    Small: (numbers(3, 2, 12, 10), "relu2"),
    Series: (numbers(3, 3, 40), "last"),
    Volume: (numbers(2, 1, 8, 6, 4), "relu"),
}


@pytest.fixture(params=list(CASES), ids=lambda kind: kind.__name__)
def case(request: pytest.FixtureRequest) -> tuple[nn.Module, models.Model, Array, str]:
    """A module, the model of it, a batch, and its last layer with places."""
    module = seeded(request.param)
    batch, layer = CASES[request.param]
    return module, models.load(module, example=batch), batch, layer


def stacked(maps: Any) -> Array:
    return np.stack([one.values for one in maps])


def attributed(maps: Any) -> Array:
    return np.stack([one.attribution for one in maps])


def camp(attribution: torch.Tensor, sizes: tuple[int, ...]) -> Array:
    mode = {1: "linear", 2: "bilinear", 3: "trilinear"}[len(sizes)]
    return captum.LayerAttribution.interpolate(attribution, sizes, mode)[:, 0].detach().numpy()


class TestValuesAreThoseOfCaptum:
    def test_grad_cam_by_the_last_layer_with_places(self, case: Any) -> None:
        module, model, batch, layer = case
        wanted = captum.LayerGradCam(module, module.get_submodule(layer)).attribute(
            torch.tensor(batch), 1, relu_attributions=True
        )
        maps = heat_map(model, batch, target=1)
        assert {one.layer for one in maps} == {layer}
        assert not maps[0].signed
        assert np.abs(stacked(maps) - camp(wanted, batch.shape[2:])).max() < CLOSE

    def test_integrated_gradients_with_their_completeness(self, case: Any) -> None:
        module, model, batch, _ = case
        target = np.arange(len(batch)) % 2
        wanted, delta = captum.IntegratedGradients(module).attribute(
            torch.tensor(batch), target=torch.tensor(target), return_convergence_delta=True
        )
        maps = heat_map(model, batch, method="integrated_gradients", target=target)
        assert np.abs(attributed(maps) - wanted.detach().numpy()).max() < CLOSE
        assert np.abs(stacked(maps) - wanted.detach().numpy().sum(1)).max() < CLOSE
        at_zero = module(torch.zeros(1, *batch.shape[1:]))[0].detach().numpy()
        for one, off in zip(maps, delta.tolist(), strict=True):
            change = one.score - at_zero[one.target]
            assert one.completeness == pytest.approx(abs(off / change), abs=1e-4)

    def test_input_gradients(self, case: Any) -> None:
        module, model, batch, _ = case
        wanted = captum.Saliency(module).attribute(torch.tensor(batch, requires_grad=True), target=0, abs=False)
        maps = heat_map(model, batch, method="input_gradient", target=0)
        assert np.abs(attributed(maps) - wanted.numpy()).max() < CLOSE
        assert np.abs(stacked(maps) - wanted.abs().amax(1).numpy()).max() < CLOSE

    @pytest.mark.parametrize(("window", "stride"), [(2, 1), (3, 2), (4, 3)])
    def test_occlusion(self, case: Any, window: int, stride: int) -> None:
        module, model, batch, _ = case
        rank = batch.ndim - 2
        wanted = captum.Occlusion(module).attribute(
            torch.tensor(batch), (batch.shape[1],) + (window,) * rank, (1,) + (stride,) * rank, target=1
        )
        maps = heat_map(model, batch, method="occlusion", target=1, window=window, stride=stride)
        assert np.abs(stacked(maps) - wanted.detach().numpy()[:, 0]).max() < CLOSE

    def test_layer_cam_is_its_formula(self, case: Any) -> None:
        module, model, batch, layer = case
        kept: list[torch.Tensor] = []
        handle = module.get_submodule(layer).register_forward_hook(lambda _m, _a, out: kept.append(out))
        score = module(torch.tensor(batch))[:, 1].sum()
        handle.remove()
        (gradient,) = torch.autograd.grad(score, kept[0])
        wanted = (gradient.relu() * kept[0]).sum(1, keepdim=True).relu()
        maps = heat_map(model, batch, method="layer_cam", target=1)
        assert np.abs(stacked(maps) - camp(wanted, batch.shape[2:])).max() < CLOSE


def test_an_activation_over_time_has_its_channels_where_the_convolution_has_them() -> None:
    batch, _ = CASES[Series]
    axes = {layer.name: layer.channel_axis for layer in models.load(seeded(Series), example=batch).layers}
    assert [axes[name] for name in ("conv", "relu", "pool", "deep", "last")] == [1] * 5
    assert axes["head"] == -1
    tokens = models.load(seeded(Encoder), example=BATCHES[Encoder]["tokens"])
    assert {layer.channel_axis for layer in tokens.layers} == {-1}


class TestMapsOfALoss:
    labels = np.array([2, 0, 1])
    name = "CategoricalCrossentropyFromLogits"

    @pytest.fixture
    def asked(self) -> tuple[nn.Module, models.Model, Array]:
        module, batch = seeded(Small), CASES[Small][0]
        return Losses(module, torch.tensor(self.labels)), models.load(module, example=batch), batch

    def test_integrated_gradients_and_gradients_of_a_loss_are_captums(self, asked: Any) -> None:
        module, model, batch = asked
        wanted = captum.IntegratedGradients(module).attribute(torch.tensor(batch)).detach().numpy()
        maps = heat_map(model, batch, method="integrated_gradients", loss=self.name, labels=self.labels)
        assert np.abs(attributed(maps) - wanted).max() < CLOSE
        assert maps[0].target is None
        assert maps[0].loss == self.name
        change = (module(torch.tensor(batch)) - module(torch.zeros(batch.shape))).detach().numpy()
        off = np.abs(wanted.sum((1, 2, 3)) - change) / np.abs(change)
        assert [one.completeness for one in maps] == pytest.approx(off.tolist(), abs=1e-4)
        gradient = captum.Saliency(module).attribute(torch.tensor(batch, requires_grad=True), abs=False).numpy()
        signed = heat_map(model, batch, method="input_gradient", loss=self.name, labels=self.labels)
        assert np.abs(stacked(signed) - gradient.sum(1)).max() < CLOSE

    def test_occlusion_and_grad_cam_of_a_loss_keep_both_signs(self, asked: Any) -> None:
        module, model, batch = asked
        one_hot = np.eye(4, dtype=np.float32)[self.labels]
        wanted = captum.Occlusion(module).attribute(torch.tensor(batch), (2, 3, 3), (1, 2, 2)).detach().numpy()[:, 0]
        maps = heat_map(model, batch, method="occlusion", window=3, stride=2, loss=self.name, labels=one_hot)
        assert np.abs(stacked(maps) - wanted).max() < CLOSE
        cam = captum.LayerGradCam(module, module.module.relu2).attribute(torch.tensor(batch))
        maps = heat_map(model, batch, loss=self.name, labels=self.labels)
        assert np.abs(stacked(maps) - camp(cam, batch.shape[2:])).max() < CLOSE
        assert all(one.signed for one in maps)
        assert stacked(maps).min() < 0 < stacked(maps).max()

    def test_labels_and_losses_must_fit(self, asked: Any) -> None:
        _, model, batch = asked
        with pytest.raises(ConfigurationError, match="needs `labels`"):
            heat_map(model, batch, loss=self.name)
        with pytest.raises(ConfigurationError, match=r"Did you mean 'CategoricalCrossentropy'"):
            heat_map(model, batch, loss="CategoricalCrosentropy", labels=self.labels)
        with pytest.raises(ConfigurationError, match="are for a loss"):
            heat_map(model, batch, labels=self.labels)
        with pytest.raises(ConfigurationError, match="a row for each of the 3 samples"):
            heat_map(model, batch, loss=self.name, labels=self.labels[:2])


class TestRise:
    def test_it_finds_the_only_place_that_the_score_depends_on(self) -> None:
        class Corner(nn.Module):
            def forward(self, image: torch.Tensor) -> torch.Tensor:
                corner = image[:, :, :5, :5].mean((1, 2, 3))
                return torch.stack([corner, -corner], 1)

        batch = np.ones((2, 1, 20, 20), np.float32)
        model = models.load(Corner(), example=batch)
        values = heat_map(model, batch, method="rise", target=0, masks=400)[0].values
        assert values[:4, :4].min() > 2 * values[10:, 10:].max()
        against = heat_map(model, batch, method="rise", target=1, masks=400)[0].values
        assert np.allclose(against, -values, atol=1e-5)

    def test_it_repeats_with_its_seed_whatever_goes_in_at_once(self) -> None:
        module, batch = seeded(Small), CASES[Small][0]
        model = models.load(module, example=batch)
        first, again, packed, other = (
            stacked(heat_map(model, batch, method="rise", masks=60, seed=seed, batch_size=size))
            for seed, size in ((3, 64), (3, 64), (3, 7), (4, 64))
        )
        assert np.array_equal(first, again)
        assert np.abs(first - packed).max() < 1e-5
        assert np.abs(first - other).max() > 1e-3

    def test_global_random_numbers_are_left_alone(self) -> None:
        module, batch = seeded(Small), CASES[Small][0]
        before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()
        heat_map(models.load(module, example=batch), batch, method="rise", masks=10)
        assert torch.equal(before, torch.get_rng_state())
        assert np.array_equal(numpy_before, np.random.get_state()[1])


class TestTexts:
    @pytest.fixture
    def text(self) -> tuple[nn.Module, models.Model, Array]:
        module, batch = seeded(Encoder), BATCHES[Encoder]["tokens"]
        return module, models.load(module, example=batch), batch

    def test_gradients_go_through_the_embedding(self, text: Any) -> None:
        module, model, batch = text
        wanted = captum.LayerGradientXActivation(module, module.embedding).attribute(torch.tensor(batch), target=2)
        maps = heat_map(model, batch, method="input_gradient", target=2)
        assert maps[0].layer == "embedding"
        assert maps[0].signed
        assert maps[0].values.shape == (6,)
        assert np.abs(stacked(maps) - wanted.sum(-1).detach().numpy()).max() < CLOSE
        again = heat_map(model, batch, method="input_gradient", target=2, layer=maps[0].layer)
        assert np.array_equal(stacked(again), stacked(maps))

    def test_class_activation_maps_have_a_value_for_each_token(self, text: Any) -> None:
        _, model, batch = text
        for method in ("grad_cam", "layer_cam"):
            maps = heat_map(model, batch, method=method)
            assert stacked(maps).shape == batch.shape
            assert maps[0].layer == "encoder"

    def test_occlusion_replaces_tokens_by_padding_unless_another_is_named(self, text: Any) -> None:
        module, model, batch = text
        maps = heat_map(model, batch, method="occlusion", target=0)
        assert any("token 0" in note for note in maps[0].notes)
        changed = batch.copy()
        changed[:, 4] = 0
        fall = (module(torch.tensor(batch)) - module(torch.tensor(changed)))[:, 0].detach().numpy()
        assert np.abs(stacked(maps)[:, 4] - fall).max() < CLOSE
        changed[:, 4] = 7
        fall = (module(torch.tensor(batch)) - module(torch.tensor(changed)))[:, 0].detach().numpy()
        other = heat_map(model, batch, method="occlusion", target=0, baseline=7)
        assert np.abs(stacked(other)[:, 4] - fall).max() < CLOSE

    def test_rise_masks_tokens_whole(self, text: Any) -> None:
        _, model, batch = text
        assert np.isfinite(stacked(heat_map(model, batch, method="rise", masks=30))).all()

    def test_integrated_gradients_say_what_works_instead(self, text: Any) -> None:
        _, model, batch = text
        with pytest.raises(AnalysisUnavailable, match=r"whole numbers.*input_gradient, occlusion, rise"):
            heat_map(model, batch, method="integrated_gradients")
        with pytest.raises(ConfigurationError, match="Tokens have no mean"):
            heat_map(model, batch, method="occlusion", baseline="mean")


class TestModelsOfAllKinds:
    def test_a_single_output_is_explained_whole(self) -> None:
        module = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(3 * 16, 1))
        batch = numbers(2, 1, 6, 6)
        model = models.load(module, example=batch)
        wanted = captum.IntegratedGradients(module).attribute(torch.tensor(batch), target=0).detach().numpy()
        for target in (None, 0):
            maps = heat_map(model, batch, method="integrated_gradients", target=target)
            assert maps[0].target is None
            assert np.abs(attributed(maps) - wanted).max() < CLOSE
        with pytest.raises(ConfigurationError, match="has 1 classes"):
            heat_map(model, batch, method="occlusion", target=1)

    def test_an_output_for_each_pixel_is_summed_over_them(self) -> None:
        module, batch = seeded(UNet), BATCHES[UNet]["image"]

        def summed(x: torch.Tensor) -> torch.Tensor:
            return module(x).sum((2, 3))

        model = models.load(module, example=batch)
        wanted = captum.IntegratedGradients(summed).attribute(torch.tensor(batch), target=3).detach().numpy()
        maps = heat_map(model, batch, method="integrated_gradients", target=3)
        assert np.abs(attributed(maps) - wanted).max() < CLOSE * np.abs(wanted).max()
        predicted = heat_map(model, batch)
        assert [one.target for one in predicted] == summed(torch.tensor(batch)).argmax(1).tolist()
        assert predicted[0].layer == "head.input"
        assert predicted[0].values.shape == batch.shape[2:]

    def test_any_output_and_any_input_can_be_named(self) -> None:
        batch = BATCHES[TwoAnswers]["x"]
        module = seeded(TwoAnswers)
        model = models.load(module, example=batch)
        wanted = captum.Saliency(lambda x: module(x)["classes"]).attribute(
            torch.tensor(batch, requires_grad=True), target=1, abs=False
        )
        maps = heat_map(model, batch, method="input_gradient", output="classes", target=1)
        assert np.abs(attributed(maps) - wanted.numpy()).max() < CLOSE
        with pytest.raises(ConfigurationError, match=r"no output 'class'.*'classes'"):
            heat_map(model, batch, method="occlusion", output="class")
        sides, both = BATCHES[TwoInputs], seeded(TwoInputs)
        model = models.load(both, example=sides)
        left, right = (torch.tensor(values) for values in sides.values())
        wanted = captum.IntegratedGradients(both).attribute((left, right), target=0, baselines=(left, 0 * right))[1]
        maps = heat_map(model, sides, method="integrated_gradients", target=0, input="right")
        assert np.abs(attributed(maps) - wanted.detach().numpy()).max() < CLOSE
        assert heat_map(model, sides, method="rise", masks=20, input="right")[0].values.shape == (2,)
        with pytest.raises(ConfigurationError, match=r"no input 'rigth'.*'right'"):
            heat_map(model, sides, method="occlusion", input="rigth")

    def test_a_module_without_an_example_gets_the_same_maps(self) -> None:
        for kind in (Small, Series):
            batch, layer = CASES[kind]
            module = seeded(kind)
            known, unknown = models.load(module, example=batch), models.load(module)
            for method in ("grad_cam", "integrated_gradients", "occlusion"):
                first, second = (stacked(heat_map(model, batch, method=method)) for model in (known, unknown))
                assert np.abs(first - second).max() < 1e-6
            assert heat_map(unknown, batch)[0].layer == layer

    def test_a_recurrent_model_has_a_value_for_each_time(self) -> None:
        batch = BATCHES[Recurrent]["series"]
        model = models.load(seeded(Recurrent), example=batch)
        for method in ("grad_cam", "input_gradient", "integrated_gradients", "occlusion"):
            assert heat_map(model, batch, method=method)[0].values.shape == (9,)

    def test_a_table_has_a_value_for_each_column_and_no_layer_with_places(self) -> None:
        batch = BATCHES[MLP]["x"]
        model = models.load(seeded(MLP), example=batch)
        assert heat_map(model, batch, method="occlusion")[0].values.shape == (4,)
        with pytest.raises(AnalysisUnavailable, match=r"no layer of this model keeps places.*'integrated_gradients'"):
            heat_map(model, batch)

    def test_channels_given_last_come_back_last(self) -> None:
        module, batch = seeded(Small), CASES[Small][0]
        first = models.load(module, example=batch)
        last = models.Model(first._backend, channels_last=True)
        turned = np.moveaxis(batch, 1, -1)
        for method in ("grad_cam", "integrated_gradients", "occlusion", "rise"):
            one, other = (heat_map(*pair, method=method, masks=20) for pair in ((first, batch), (last, turned)))
            assert np.abs(stacked(one) - stacked(other)).max() < 1e-6
        attribution = heat_map(last, turned, method="integrated_gradients")[0].attribution
        assert attribution.shape == turned.shape[1:]

    def test_layers_of_one_place_are_passed_over_and_said_where_they_are_asked_for(self) -> None:
        batch = BATCHES[CNN]["image"]
        model = models.load(seeded(CNN), example=batch)
        assert heat_map(model, batch)[0].layer == "relu:1"
        narrow = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(6), nn.Flatten(), nn.Linear(4, 2))
        assert heat_map(models.load(narrow, example=batch), batch)[0].layer == "1"
        flat = heat_map(model, batch, layer="pool")[0]
        assert np.ptp(flat.values) == 0
        assert any("single place" in note for note in flat.notes)
        assert "pool" not in layers_with_places(model, batch)
        with pytest.raises(AnalysisUnavailable, match=r"'head' gives \(None, 5\).*'conv1', 'bn1'"):
            heat_map(model, batch, layer="head")


class TestWholeNumbers:
    def test_images_of_whole_numbers_have_no_gradients_by_the_input(self) -> None:
        class Bytes(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.conv, self.head = nn.Conv2d(3, 4, 3), nn.Linear(4, 2)

            def forward(self, image: torch.Tensor) -> torch.Tensor:
                return self.head(self.conv(image / 255).relu().mean((2, 3)))

        batch = np.random.default_rng(0).integers(0, 256, (2, 3, 9, 9)).astype(np.uint8)
        module = seeded(Bytes)
        model = models.load(module, example=batch)
        for method in ("integrated_gradients", "input_gradient"):
            with pytest.raises(AnalysisUnavailable, match="grad_cam, layer_cam, occlusion, rise"):
                heat_map(model, batch, method=method)
        assert heat_map(model, batch)[0].layer == "conv"
        changed = batch.copy()
        changed[:, :, :3, :3] = 0
        fall = (module(torch.tensor(batch)) - module(torch.tensor(changed)))[:, 1].detach().numpy()
        maps = heat_map(model, batch, method="occlusion", target=1, window=3, stride=3)
        assert np.abs(stacked(maps)[:, 0, 0] - fall).max() < CLOSE
        for baseline in ("mean", "blur"):
            assert np.isfinite(stacked(heat_map(model, batch, method="rise", masks=20, baseline=baseline))).all()


class TestSeveralMaps:
    def test_layers_with_places_are_those_before_the_head(self) -> None:
        model = models.load(seeded(Small), example=CASES[Small][0])
        assert layers_with_places(model, CASES[Small][0]) == ("conv1", "relu1", "pool", "conv2", "relu2")

    def test_a_batch_of_one_and_of_none(self) -> None:
        module, batch = seeded(Small), CASES[Small][0]
        model = models.load(module, example=batch)
        whole = heat_map(model, batch)
        assert np.abs(heat_map(model, batch[:1])[0].values - whole[0].values).max() < 1e-5
        assert heat_map(model, batch[:0]) == ()

    def test_small_portions_change_nothing(self) -> None:
        module, batch = seeded(Small), CASES[Small][0]
        model = models.load(module, example=batch)
        for method in ("grad_cam", "integrated_gradients", "input_gradient", "occlusion"):
            whole, parts = (stacked(heat_map(model, batch, method=method, batch_size=size)) for size in (64, 2))
            assert np.abs(whole - parts).max() < 1e-5


class TestWhatIsNotFinite:
    @pytest.mark.parametrize("method", ["grad_cam", "integrated_gradients", "input_gradient", "occlusion", "rise"])
    def test_nan_in_the_input_is_nan_in_its_map_and_in_no_other(self, method: str) -> None:
        module, batch = seeded(Small), CASES[Small][0].copy()
        model = models.load(module, example=batch)
        healthy = stacked(heat_map(model, batch, method=method, masks=20))
        batch[1, 0, 2, 3] = np.nan
        maps = heat_map(model, batch, method=method, masks=20)
        assert np.isnan(maps[1].values[2, 3])
        assert any("The input is not finite at 1 of 120 places" in note for note in maps[1].notes)
        assert np.abs(stacked(maps)[[0, 2]] - healthy[[0, 2]]).max() < 1e-5
        assert not any("finite" in note for note in maps[0].notes)

    def test_nan_in_a_gradient_is_said(self) -> None:
        class Broken(nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return (x - 1).sqrt() if x.requires_grad else x

        batch = np.zeros((1, 3), np.float32)
        maps = heat_map(models.load(Broken(), example=batch), batch, method="input_gradient", target=0)
        assert any("The map is not finite" in note for note in maps[0].notes)
