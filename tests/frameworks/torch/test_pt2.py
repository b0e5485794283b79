"""Exported files against the modules they were made of."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from cutaway.errors import ConfigurationError, GradientUnavailable
from cutaway.frameworks.torch.model import wrap
from cutaway.frameworks.torch.pt2 import open_pt2
from cutaway.models.backend import Arrays, Backend, Question
from cutaway.models.loading import load
from cutaway.models.model import Model
from tests.frameworks.torch.exporting import exported, program_of
from tests.frameworks.torch.networks import BATCHES, CNN, MLP, Encoder, TwoAnswers, TwoInputs, numbers, seeded
from tests.hostile.pt2_archives import PROGRAM, edit, members_of, write


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pt2")


def opened(path: Path, *, trust: bool = False) -> Backend:
    return open_pt2(path, trust=trust, custom_layers={})


def saved(module: nn.Module, batch: Arrays, path: Path) -> Path:
    arguments = tuple(torch.tensor(values) for values in batch.values())
    shapes = {name: {0: torch.export.Dim("batch")} for name in batch}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(torch.export.export(module, arguments, dynamic_shapes=shapes), str(path))
    return path


def close(a: np.ndarray, b: np.ndarray, limit: float) -> bool:
    return bool(np.abs(a - b).max() <= limit * max(float(np.abs(b).max()), 1e-30))


class TestTheSameAsTheModule:
    @pytest.mark.parametrize("kind", list(BATCHES))
    def test_predictions_gradients_and_latent_vectors(self, kind: type[nn.Module], files: Path) -> None:
        live, file = wrap(seeded(kind), example=BATCHES[kind]), opened(exported(kind, files))
        for batch in (BATCHES[kind], {name: values[:3] for name, values in BATCHES[kind].items()}):
            wanted = live.predict(batch)
            for name, values in file.predict(batch).items():
                assert close(values, wanted[name], 1e-5)
            assert close(Model(file).latent(batch), Model(live).latent(batch), 1e-5)
            for name, values in batch.items():
                if values.dtype.kind == "f":
                    question = Question(file.description.outputs[0].name, name)
                    got, want = file.gradient(batch, question), live.gradient(batch, question)
                    assert np.abs(want.gradient).max() > 0
                    assert close(got.gradient, want.gradient, 1e-4)

    @pytest.mark.parametrize("kind", list(BATCHES))
    def test_layers_have_the_names_and_values_of_the_modules(self, kind: type[nn.Module], files: Path) -> None:
        live, file = wrap(seeded(kind), example=BATCHES[kind]), opened(exported(kind, files))
        names = {layer.name for layer in file.description.layers}
        modules = [layer.name for layer in live.description.layers]
        assert [name for name in modules if name not in names] == []
        assert file.description.latent_layer == live.description.latent_layer
        got, wanted = file.activations(BATCHES[kind], modules), live.activations(BATCHES[kind], modules)
        axes = {layer.name: layer.channel_axis for layer in file.description.layers}
        for layer in live.description.layers:
            assert close(got[layer.name], wanted[layer.name], 1e-5), layer.name
            assert axes[layer.name] % got[layer.name].ndim == layer.channel_axis % got[layer.name].ndim, layer.name

    def test_gradients_by_layers(self, files: Path) -> None:
        live, file = wrap(seeded(CNN), example=BATCHES[CNN]), opened(exported(CNN, files))
        for layer in ("conv1", "bn1", "relu", "relu:1", "head.input"):
            question = Question("output", layer, target=np.arange(5))
            got, wanted = file.gradient(BATCHES[CNN], question), live.gradient(BATCHES[CNN], question)
            assert close(got.gradient, wanted.gradient, 1e-4), layer
            assert close(got.activation, wanted.activation, 1e-5), layer

    def test_trusted_or_not_it_is_the_same_model(self, files: Path) -> None:
        checked, trusted = (opened(exported(TwoAnswers, files), trust=trust) for trust in (False, True))
        assert checked.description == trusted.description
        for name, values in trusted.predict(BATCHES[TwoAnswers]).items():
            assert np.array_equal(checked.predict(BATCHES[TwoAnswers])[name], values)


class TestWhatItSays:
    def test_an_open_batch_is_none_and_a_fixed_one_its_number(self, files: Path) -> None:
        assert opened(exported(CNN, files)).description.inputs[0].shape == (None, 3, 8, 8)
        fixed = opened(exported(CNN, files, fixed=True))
        assert fixed.description.inputs[0].shape == (5, 3, 8, 8)
        images = numbers(12, 3, 8, 8)
        whole = Model(opened(exported(CNN, files))).predict(images)["output"]
        assert close(Model(fixed).predict(images)["output"], whole, 1e-5)

    def test_inputs_and_outputs_are_named(self, files: Path) -> None:
        two = opened(exported(TwoInputs, files)).description
        assert [spec.name for spec in two.inputs] == ["left", "right"]
        assert [spec.name for spec in opened(exported(TwoAnswers, files)).description.outputs] == ["box", "classes"]
        tokens = opened(exported(Encoder, files)).description.inputs[0]
        assert (tokens.name, tokens.dtype) == ("tokens", "int64")

    def test_outputs_in_a_class_of_their_own_are_numbered(self, files: Path, tmp_path: Path) -> None:
        members = members_of(exported(TwoAnswers, files))
        members[PROGRAM] = members[PROGRAM].replace(
            b'builtins.dict\\", \\"context\\": \\"[\\\\', b'my.Own\\", \\"context\\": \\"[\\\\'
        )
        assert b"my.Own" in members[PROGRAM]
        backend = opened(write(tmp_path / "own.pt2", members))
        assert [spec.name for spec in backend.description.outputs] == ["output_0", "output_1"]

    def test_exported_in_training_mode_it_says_so_and_still_answers_alike(self, tmp_path: Path) -> None:
        backend = opened(saved(seeded(CNN).train(), BATCHES[CNN], tmp_path / "training.pt2"))
        assert "training mode" in backend.description.notes[0]
        first = backend.predict(BATCHES[CNN])["output"]
        assert np.array_equal(backend.predict(BATCHES[CNN])["output"], first)

    def test_tokens_have_no_gradient_and_the_embedding_has(self, files: Path) -> None:
        backend = opened(exported(Encoder, files))
        with pytest.raises(GradientUnavailable, match="int64"):
            backend.gradient(BATCHES[Encoder], Question("output", "tokens"))
        assert np.abs(backend.gradient(BATCHES[Encoder], Question("output", "embedding")).gradient).max() > 0


class Tied(nn.Module):
    """Tied weights, a part of a larger tensor, a buffer that is not saved, a constant, no_grad and autocast."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.part = nn.Parameter(torch.randn(10, 4)[2:6])
        self.register_buffer("scale", torch.linspace(1, 2, 4), persistent=False)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        x = self.second(self.first(x).tanh()) @ self.part * self.scale + torch.tensor([0.5, 1, 2, 3])
        with torch.no_grad():
            shift = x.mean(1, keepdim=True)
        return x - shift + self.count


class TestUnusualPrograms:
    def test_tied_weights_parts_constants_and_regions_without_gradients(self, tmp_path: Path) -> None:
        torch.manual_seed(0)
        module = Tied()
        batch = {"x": numbers(5, 4)}
        with torch.no_grad():
            wanted = module(torch.tensor(batch["x"])).numpy()
        module.count.zero_()
        backend = opened(saved(module, batch, tmp_path / "tied.pt2"))
        for _ in range(2):  # the count goes on from the file's each time
            assert close(backend.predict(batch)["output"], wanted, 1e-5)
        assert np.abs(backend.gradient(batch, Question("output", "x")).gradient).max() > 0

    @pytest.mark.slow
    def test_a_program_of_core_operators_only(self, tmp_path: Path) -> None:
        for kind in (MLP, CNN, Encoder):
            torch.export.save(program_of(kind).run_decompositions(), str(tmp_path / "core.pt2"))
            backend = opened(tmp_path / "core.pt2")
            wanted = wrap(seeded(kind), example=BATCHES[kind])
            assert close(backend.predict(BATCHES[kind])["output"], wanted.predict(BATCHES[kind])["output"], 1e-5)
            assert Model(backend).latent_layer == wanted.description.latent_layer
            assert close(Model(backend).latent(BATCHES[kind]), Model(wanted).latent(BATCHES[kind]), 1e-5)

    def test_sizes_that_are_computed(self, tmp_path: Path) -> None:
        class Pairs(nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return x.reshape(x.shape[0], -1, 2).mean(-1)[:, : x.shape[1] // 2]

        x = torch.tensor(numbers(5, 12))
        shapes = {"x": {0: torch.export.Dim("batch"), 1: 2 * torch.export.Dim("half", min=2)}}
        torch.export.save(torch.export.export(Pairs(), (x,), dynamic_shapes=shapes), str(tmp_path / "pairs.pt2"))
        backend = opened(tmp_path / "pairs.pt2")
        assert backend.description.inputs[0].shape == (None, None)
        other = numbers(3, 8)
        assert close(backend.predict({"x": other})["output"], other.reshape(3, 4, 2).mean(-1), 1e-5)

    def test_a_model_that_was_exported_on_a_gpu_runs_here(self, files: Path, tmp_path: Path) -> None:
        members = members_of(exported(MLP, files))
        for name, data in members.items():
            if name.endswith(".json"):
                members[name] = data.replace(b'"type": "cpu", "index": null', b'"type": "cuda", "index": 0')
        assert b"cuda" in members[PROGRAM]
        got = opened(write(tmp_path / "gpu.pt2", members)).predict(BATCHES[MLP])["output"]
        assert np.array_equal(got, opened(exported(MLP, files)).predict(BATCHES[MLP])["output"])

    def test_what_the_exporter_noted_in_odd_ways_does_not_matter(self, files: Path, tmp_path: Path) -> None:
        members = members_of(exported(MLP, files))

        def change(program: dict) -> None:
            for node in program["graph_module"]["graph"]["nodes"]:
                node["metadata"] = {"nn_module_stack": "a;b\n,c", "source_fn_stack": "x,torch.os.system"}

        edit(members, PROGRAM, change)
        backend = opened(write(tmp_path / "odd.pt2", members))
        assert [layer.name for layer in backend.description.layers][:2] == ["linear", "relu"]
        assert backend.description.latent_layer == "linear_1.input"


class TestThreads:
    def test_the_environment_sets_them(self, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CUTAWAY_MODEL_THREADS", "2")
        opened(exported(MLP, files))
        assert torch.get_num_threads() == 2

    @pytest.mark.parametrize("given", ["0", "many", "-1"])
    def test_what_is_no_number_is_told(self, given: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CUTAWAY_MODEL_THREADS", given)
        with pytest.raises(ConfigurationError, match="CUTAWAY_MODEL_THREADS"):
            opened(exported(MLP, files))


def test_from_a_process_of_its_own_it_answers_the_same(files: Path) -> None:
    with load(exported(CNN, files)) as model:
        here = opened(exported(CNN, files))
        assert model.description == here.description
        assert close(model.predict(BATCHES[CNN])["output"], here.predict(BATCHES[CNN])["output"], 1e-5)
        got = model.gradient(BATCHES[CNN], wrt="conv1").gradient
        assert close(got, here.gradient(BATCHES[CNN], Question("output", "conv1")).gradient, 1e-4)
