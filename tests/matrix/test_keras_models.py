"""Networks of Keras, in every format that Keras and TensorFlow write: the same answers, layers, latents, gradients."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.models.backend import Backend
from cutaway.registry import load
from tests.matrix.matrix import Matrix, Source, cells, measure

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "tensorflow":
    pytest.skip("SavedModel and tf2onnx need Keras on TensorFlow", allow_module_level=True)
from tests.matrix import keras_architectures as networks  # noqa: E402

FORMATS = ("live", ".keras", ".h5", "SavedModel", ".onnx (tf2onnx)")
MATRIX = Matrix("Keras", FORMATS)


@pytest.fixture(scope="module")
def network(request: pytest.FixtureRequest) -> tuple[str, keras.Model, Source]:
    name = request.param
    model, batch = networks.make(name)
    return name, model, Source(batch, lambda b: networks.answers(model, b), lambda b: networks.input_gradient(model, b))


def saved(model: keras.Model, kind: str, folder: Path) -> Backend:
    if kind == "live":
        return load("model_objects", "keras")(model)
    if kind == "SavedModel":
        model.export(folder / "saved", verbose=False)
        return load("model_formats", "saved_model")(folder / "saved", trust=False, custom_layers={})
    if kind == ".onnx (tf2onnx)":
        tf2onnx = pytest.importorskip("tf2onnx")
        specs = [tf.TensorSpec((None, *tensor.shape[1:]), tf.float32, name=tensor.name) for tensor in model.inputs]
        function = tf.function(lambda *given: model(given if len(given) > 1 else given[0], training=False))
        path = folder / "model.onnx"
        tf2onnx.convert.from_function(function, input_signature=specs, opset=17, output_path=str(path))
        return load("model_formats", "onnx")(path, trust=False, custom_layers={})
    path = folder / f"model{kind}"
    model.save(path)
    return load("model_formats", kind[1:])(path, trust=False, custom_layers={})


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("network", "kind"), cells(networks.ARCHITECTURES, FORMATS, whole="CNN"), indirect=["network"], scope="module"
)
def test_a_network_is_the_same_in_every_format(
    network: tuple[str, keras.Model, Source], kind: str, tmp_path: Path
) -> None:
    name, model, source = network
    backend = saved(model, kind, tmp_path)
    MATRIX.check_cell(name, kind, measure(backend, source).mark)
    backend.close()


@pytest.mark.slow
def test_the_page_says_what_was_found() -> None:
    if len(MATRIX.cells) < len(FORMATS) * len(networks.ARCHITECTURES):
        pytest.skip("not every cell was tried in this session")
    MATRIX.check_page()
