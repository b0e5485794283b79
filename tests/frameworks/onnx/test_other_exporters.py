"""Files that tf2onnx and skl2onnx wrote: channels last, recurrent layers, dictionaries of probabilities, labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.errors import GradientUnavailable
from cutaway.frameworks.onnx.files import open_onnx
from cutaway.models.backend import Arrays, Backend
from cutaway.models.model import Model
from cutaway.testing.models import BackendContract, relative_error

ROWS = 5


def _written_by_tf2onnx(model: Any, shape: tuple[int, ...], path: Path) -> None:
    tensorflow = pytest.importorskip("tensorflow")
    tf2onnx = pytest.importorskip("tf2onnx")
    function = tensorflow.function(lambda image: model(image, training=False))
    signature = [tensorflow.TensorSpec((None, *shape), tensorflow.float32, name="image")]
    tf2onnx.convert.from_function(function, input_signature=signature, opset=17, output_path=str(path))


class KerasContract(BackendContract):
    shape: tuple[int, ...] = ()

    @staticmethod
    def layers() -> list[Any]:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def made(cls, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
        pytest.importorskip("tensorflow")
        keras = pytest.importorskip("keras")
        if keras.backend.backend() != "tensorflow":
            pytest.skip("tf2onnx converts what runs on TensorFlow")
        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.Input(cls.shape), *cls.layers()])
        path = tmp_path_factory.mktemp("tf2onnx") / "model.onnx"
        _written_by_tf2onnx(model, cls.shape, path)
        return model, path

    @pytest.fixture
    def backend(self, made: tuple[Any, Path]) -> Backend:
        return open_onnx(made[1], trust=False, custom_layers={})

    @pytest.fixture
    def batch(self) -> Arrays:
        return {"image": np.random.default_rng(0).normal(size=(ROWS, *self.shape)).astype(np.float32)}

    def test_it_answers_and_differentiates_as_keras(
        self, made: tuple[Any, Path], backend: Backend, batch: Arrays
    ) -> None:
        import tensorflow as tf

        image = tf.constant(batch["image"])
        with tf.GradientTape() as tape:
            tape.watch(image)
            wanted = made[0](image, training=False)
            scores = wanted[..., 1]
        assert relative_error(next(iter(backend.predict(batch).values())), wanted.numpy()) <= 1e-5
        got = Model(backend).gradient(batch["image"], target=1).gradient
        assert relative_error(got, tape.gradient(scores, image).numpy()) <= 1e-4


class TestConvolutionsOfTf2onnx(KerasContract):
    shape = (10, 12, 3)

    @staticmethod
    def layers() -> list[Any]:
        from keras import layers

        return [
            layers.Conv2D(6, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.BatchNormalization(),
            layers.Conv2D(8, 3, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(5, activation="softmax"),
        ]

    def test_its_input_has_its_channels_last_and_its_convolutions_have_them_second(self, backend: Backend) -> None:
        (spec,) = backend.description.inputs
        assert (spec.shape, spec.channel_axis) == ((None, 10, 12, 3), -1)
        assert any("channels last" in note for note in backend.description.notes)
        assert {layer.channel_axis for layer in backend.description.layers if layer.kind == "Conv"} == {1}

    def test_images_with_channels_first_are_turned_where_that_is_declared(
        self, backend: Backend, batch: Arrays
    ) -> None:
        first = np.moveaxis(batch["image"], -1, 1)
        turned = Model(backend, channels_last=False)
        (got,), (wanted,) = turned.predict(first).values(), backend.predict(batch).values()
        assert np.array_equal(got, wanted)
        assert turned.gradient(first).gradient.shape == first.shape


class TestPixelsOfTf2onnx(KerasContract):
    """One channel, so that moving it is a reshape; and the classes of pixels last, as Keras has them."""

    shape = (8, 10, 1)

    @staticmethod
    def layers() -> list[Any]:
        from keras import layers

        return [
            layers.Conv2D(6, 3, padding="same", activation="relu"),
            layers.Conv2DTranspose(4, 3, strides=2, padding="same"),
            layers.Conv2D(3, 1),
        ]

    def test_channels_and_classes_are_last(self, backend: Backend) -> None:
        assert backend.description.inputs[0].channel_axis == -1
        assert backend.description.outputs[0].channel_axis == -1


class TestRecurrentOfTf2onnx(KerasContract):
    shape = (7, 4)

    @staticmethod
    def layers() -> list[Any]:
        from keras import layers

        return [layers.LSTM(6), layers.Dense(3)]


def _digits() -> tuple[Any, Any]:
    datasets = pytest.importorskip("sklearn.datasets")
    images, labels = datasets.load_digits(return_X_y=True)
    return images[:300].astype(np.float32) / 16, labels[:300]


def _written_by_skl2onnx(classifier: Any, images: Any, path: Path) -> Backend:
    skl2onnx = pytest.importorskip("skl2onnx")
    path.write_bytes(skl2onnx.to_onnx(classifier, images[:1]).SerializeToString())
    return open_onnx(path, trust=False, custom_layers={})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestDigitsOfSkl2onnx(BackendContract):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> Backend:
        from sklearn.neural_network import MLPClassifier

        images, labels = _digits()
        classifier = MLPClassifier((16,), max_iter=15, random_state=0).fit(images, labels)
        self.expected = classifier.predict_proba(images[:ROWS])
        return _written_by_skl2onnx(classifier, images, tmp_path / "digits.onnx")

    @pytest.fixture
    def batch(self) -> Arrays:
        return {"X": _digits()[0][:ROWS]}

    def test_probabilities_are_an_array_and_labels_come_after_them(self, backend: Backend, batch: Arrays) -> None:
        answer = backend.predict(batch)
        assert list(answer) == ["output_probability", "output_label"]
        assert relative_error(answer["output_probability"], self.expected) <= 1e-5
        assert np.array_equal(answer["output_label"], self.expected.argmax(1))
        assert backend.description.about["classes"] == {"output_probability": list("0123456789")}
        assert any("dictionaries" in note for note in backend.description.notes)
        with pytest.raises(GradientUnavailable, match="output_label"):
            Model(backend).gradient(dict(batch), output="output_label")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_labels_of_text_are_left_out_and_that_is_said(tmp_path: Path) -> None:
    from sklearn.neural_network import MLPClassifier

    images, labels = _digits()
    words = np.array(["even", "odd"])[labels % 2]
    classifier = MLPClassifier((8,), max_iter=5, random_state=0).fit(images, words)
    backend = _written_by_skl2onnx(classifier, images, tmp_path / "words.onnx")
    answer = backend.predict({"X": images[:ROWS]})
    assert list(answer) == ["output_probability"]
    assert relative_error(answer["output_probability"], classifier.predict_proba(images[:ROWS])) <= 1e-5
    assert backend.description.about["classes"] == {"output_probability": ["even", "odd"]}
    assert any("'output_label' is left out" in note for note in backend.description.notes)


def test_a_forest_predicts_and_says_that_it_has_no_gradients(tmp_path: Path) -> None:
    from sklearn.ensemble import RandomForestClassifier

    images, labels = _digits()
    classifier = RandomForestClassifier(5, max_depth=4, random_state=0).fit(images, labels)
    backend = _written_by_skl2onnx(classifier, images, tmp_path / "forest.onnx")
    answer = backend.predict({"X": images[:ROWS]})
    assert relative_error(answer["output_probability"], classifier.predict_proba(images[:ROWS])) <= 1e-5
    assert "TreeEnsembleClassifier" in backend.description.differentiable
