"""Exports of both of torch's exporters fulfil the contract of backends, and agree with the module they came from."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

from cutaway.errors import GradientUnavailable
from cutaway.frameworks.onnx.files import open_onnx
from cutaway.frameworks.onnx.session import wrap
from cutaway.models.backend import Arrays, Backend, Question
from cutaway.models.model import Model
from cutaway.testing.models import BackendContract, relative_error
from tests.frameworks.onnx.conftest import Export
from tests.frameworks.torch.networks import (
    BATCHES,
    CNN,
    MLP,
    Encoder,
    Recurrent,
    TwoAnswers,
    TwoInputs,
    UNet,
    seeded,
)  # fmt: skip


class ExportContract(BackendContract):
    kind: type[torch.nn.Module] = MLP
    dynamo = True

    @pytest.fixture
    def backend(self, export: Export) -> Backend:
        return open_onnx(export(self.kind, dynamo=self.dynamo), trust=False, custom_layers={})

    @pytest.fixture
    def batch(self) -> Arrays:
        return BATCHES[self.kind]

    def test_outputs_are_those_of_the_module(self, backend: Backend, batch: Arrays) -> None:
        with torch.no_grad():
            wanted = seeded(self.kind)(*(torch.tensor(values) for values in batch.values()))
        wanted = list(wanted.values()) if isinstance(wanted, dict) else [wanted]
        for got, one in zip(backend.predict(batch).values(), wanted, strict=True):
            assert relative_error(got, one.numpy()) <= 1e-5

    def test_input_gradients_are_those_of_the_module(self, backend: Backend, batch: Arrays) -> None:
        for name, values in batch.items():
            if values.dtype.kind != "f":
                continue
            tensors = {key: torch.tensor(one, requires_grad=key == name) for key, one in batch.items()}
            answer = seeded(self.kind)(*tensors.values())
            answer = next(iter(answer.values())) if isinstance(answer, dict) else answer
            classes = answer.reshape(*answer.shape[:2], -1).sum(2)
            (wanted,) = torch.autograd.grad(classes[:, 1].sum(), [tensors[name]])
            question = Question(backend.description.outputs[0].name, name, target=np.ones(len(values), np.int64))
            assert relative_error(backend.gradient(batch, question).gradient, wanted.numpy()) <= 1e-4

    def test_the_latent_layer_goes_into_the_head(self, backend: Backend) -> None:
        layers = [layer.name for layer in backend.description.layers]
        assert backend.description.latent_layer == layers[-2]


class TestMLPByDynamo(ExportContract):
    pass


class TestMLPByTheLegacyExporter(ExportContract):
    dynamo = False


@pytest.mark.slow
class TestCNNByDynamo(ExportContract):
    kind = CNN


class TestCNNByTheLegacyExporter(ExportContract):
    kind, dynamo = CNN, False


class TestRecurrentByTheLegacyExporter(ExportContract):
    kind, dynamo = Recurrent, False


class TestEncoderByTheLegacyExporter(ExportContract):
    kind, dynamo = Encoder, False

    def test_tokens_have_no_gradient_but_their_embedding_has(self, backend: Backend, batch: Arrays) -> None:
        output = backend.description.outputs[0].name
        with pytest.raises(GradientUnavailable, match="whole numbers") as caught:
            backend.gradient(batch, Question(output, "tokens"))
        embedding = next(layer for layer in backend.description.layers if layer.kind == "Gather")
        assert repr(embedding.name) in str(caught.value)
        gradient, activation = backend.gradient(batch, Question(output, embedding.name))
        weights = seeded(Encoder).embedding.weight.detach().numpy()
        assert relative_error(activation, weights[batch["tokens"]]) <= 1e-6
        assert np.abs(gradient).max() > 0


@pytest.mark.slow
class TestTwoInputsByDynamo(ExportContract):
    kind = TwoInputs


class TestTwoAnswersByTheLegacyExporter(ExportContract):
    kind, dynamo = TwoAnswers, False

    def test_the_latent_layer_goes_into_the_head(self, backend: Backend) -> None:
        layers = [layer.name for layer in backend.description.layers]
        assert backend.description.latent_layer in layers


class TestUNetByTheLegacyExporter(ExportContract):
    kind, dynamo = UNet, False

    def test_pixels_have_their_classes_on_axis_1(self, backend: Backend) -> None:
        (output,) = backend.description.outputs
        assert output.channel_axis == 1
        assert any("classes" in note for note in backend.description.notes)


class TestAFixedBatchSize(ExportContract):
    kind = CNN

    @pytest.fixture
    def backend(self, export: Export) -> Backend:
        return open_onnx(export(CNN, dynamo=False, rows=5), trust=False, custom_layers={})

    def test_it_is_declared(self, backend: Backend) -> None:
        assert backend.description.inputs[0].batch_size == 5


class TestALiveSession(ExportContract):
    kind = CNN

    @pytest.fixture
    def backend(self, export: Export) -> Backend:
        return wrap(onnxruntime.InferenceSession(str(export(CNN, dynamo=True))))


class TestALiveSessionOfBytes(ExportContract):
    kind, dynamo = CNN, False

    @pytest.fixture
    def backend(self, export: Export) -> Backend:
        return wrap(onnxruntime.InferenceSession(export(CNN, dynamo=False).read_bytes()))


def test_a_model_for_one_row_answers_any_number_of_them(export: Export) -> None:
    one = Model(open_onnx(export(CNN, dynamo=True, rows=1), trust=False, custom_layers={}))
    any_number = Model(open_onnx(export(CNN, dynamo=False), trust=False, custom_layers={}))
    batch = BATCHES[CNN]
    (got,), (wanted,) = one.predict(batch).values(), any_number.predict(batch).values()
    assert relative_error(got, wanted) <= 1e-5
    assert relative_error(one.latent(batch), any_number.latent(batch)) <= 1e-5
    assert relative_error(one.gradient(batch, target=2).gradient, any_number.gradient(batch, target=2).gradient) <= 1e-5


def test_a_session_whose_file_is_gone_still_predicts_and_says_what_it_cannot(export: Export, tmp_path: Any) -> None:
    path = tmp_path / "gone.onnx"
    path.write_bytes(export(CNN, dynamo=False).read_bytes())
    session = onnxruntime.InferenceSession(str(path))
    path.unlink()
    backend = wrap(session)
    (got,) = backend.predict(BATCHES[CNN]).values()
    assert got.shape == (5, 5)
    assert "gone.onnx" in backend.description.differentiable
    with pytest.raises(GradientUnavailable):
        backend.gradient(BATCHES[CNN], Question(backend.description.outputs[0].name, "image"))
