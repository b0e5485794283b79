"""Every code block of the Tensorleap guide runs, with the lines changed that `docs/seeds/changes.md` lists."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutaway.models
from cutaway.dataset import Entry, load_entry
from cutaway.dataset.enums import Role
from tests.seeds import guide

Write = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def tensorflow() -> Any:
    return pytest.importorskip("tensorflow")


@pytest.fixture(scope="module")
def keras_model(tensorflow: Any) -> Any:
    keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((6,)), layers.Dense(5, activation="relu"), layers.Dense(3)])
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    return model


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(block: str, names: dict[str, Any]) -> dict[str, Any]:
    """Execute a block where these names are there already."""
    exec(compile(block, "guide.py", "exec"), names)
    return names


def predicts_as(loaded: cutaway.models.Model, batch: Any, expected: Any) -> None:
    with loaded:
        (output,) = loaded.predict(batch).values()
    assert np.abs(output - expected).max() <= 1e-5 * np.abs(expected).max()


class TestModelImport:
    batch = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)

    @pytest.mark.slow
    def test_a_keras_model_as_a_saved_model(self, folder: Path, keras_model: Any) -> None:
        block = guide.changed(guide.SAVED_MODEL, "Save a Keras model as a SavedModel")
        run(block, {"model": keras_model})
        expected = keras_model.predict(self.batch, verbose=0)
        predicts_as(cutaway.models.load(folder / "path/to/location"), self.batch, expected)

    @pytest.mark.slow
    def test_a_keras_model_as_h5(self, folder: Path, keras_model: Any) -> None:
        run(guide.changed(guide.H5, "Save a Keras model as H5"), {"model": keras_model})
        expected = keras_model.predict(self.batch, verbose=0)
        loaded = cutaway.models.load(folder / "my_h5_model.h5")
        assert loaded.training.loss is not None
        assert loaded.training.optimizer is not None
        predicts_as(loaded, self.batch, expected)

    @pytest.mark.filterwarnings("ignore")  # the older exporter of torch warns about itself
    def test_a_torch_model_as_onnx(self, folder: Path) -> None:
        torch = pytest.importorskip("torch")
        pytest.importorskip("onnxruntime")
        torch.manual_seed(0)
        torch.set_num_threads(1)
        block = guide.changed(guide.ONNX, "Export a PyTorch model to ONNX")
        names = run(block, {"torch": torch, "alexnet": lambda: small_alexnet(torch)})
        batch = torch.randn(10, 3, 224, 224)
        with torch.no_grad():
            expected = names["model"].eval()(batch).numpy()
        loaded = cutaway.models.load(folder / "alexnet.onnx")
        assert [spec.name for spec in loaded.inputs] == ["actual_input_1"]
        assert [spec.name for spec in loaded.outputs] == ["output1"]
        predicts_as(loaded, batch.numpy(), expected)

    def test_leap_save_model(self, folder: Path, keras_model: Any) -> None:
        (folder / "src").mkdir()
        (folder / "src" / "model.py").write_text("def MyModel():\n    return kept\n", encoding="utf-8")
        block = guide.changed(guide.SAVE_MODEL, "Leap Save Model")
        path = folder / "model.py"
        path.write_text(block, encoding="utf-8")
        module = load_entry(path).module
        # The guide's class comes from the reader's own repository; here it is the model of these tests.
        module.MyModel.__globals__["kept"] = keras_model
        expected = keras_model.predict(self.batch, verbose=0)
        predicts_as(cutaway.models.load(module.leap_save_model), self.batch, expected)


def small_alexnet(torch: Any) -> Any:
    """The layers of AlexNet, with 16 tensors of weights, and few channels."""
    nn = torch.nn
    return nn.Sequential(
        *(nn.Conv2d(3, 4, 11, stride=4, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2)),
        *(nn.Conv2d(4, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2)),
        *(nn.Conv2d(6, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 6, 3, padding=1), nn.ReLU()),
        *(nn.Conv2d(6, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2), nn.AdaptiveAvgPool2d(6), nn.Flatten()),
        *(nn.Dropout(), nn.Linear(216, 32), nn.ReLU(), nn.Dropout(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 10)),
    )


class TestDatasetIntegration:
    @pytest.fixture
    def records(self, folder: Path, tensorflow: Any) -> Path:
        """Two record files of three and two pictures, where the guide reads them."""
        image = pytest.importorskip("PIL.Image")
        (folder / "Tensorleap").mkdir()
        for name, count in (("train", 3), ("validation", 2)):
            with tensorflow.io.TFRecordWriter(f"Tensorleap/{name}.tfrecord") as writer:
                for i in range(count):
                    picture = folder / f"{name}{i}.png"
                    image.fromarray(np.full((5, 4, 3), 10 * i, np.uint8)).save(picture)
                    writer.write(record(tensorflow, str(picture).encode(), i, b"red", b"round"))
        return folder

    @pytest.fixture
    def entry(self, records: Path) -> Entry:
        blocks = [
            guide.changed(guide.PREPROCESSING, "Preprocessing"),
            guide.changed(guide.INPUT_ENCODER, "Input encoder"),
            guide.changed(guide.GROUND_TRUTH_ENCODER, "Ground-truth encoder"),
            guide.changed(guide.METADATA, "Metadata"),
            guide.changed(guide.BINDING, "Binding"),
        ]
        path = records / "leap_binder.py"
        path.write_text("\n".join(blocks), encoding="utf-8")
        return load_entry(path)

    def test_the_functions_of_the_guide_are_bound(self, entry: Entry) -> None:
        dataset = entry.dataset()
        assert {name: len(subset) for name, subset in dataset.subsets.items()} == {"training": 3, "validation": 2}
        assert [(one.name, one.type) for one in dataset.inputs] == [("Image", "image")]
        assert [(one.name, one.type, one.labels) for one in dataset.ground_truths] == [
            ("ground_truth", "classes", ("Dog", "Cat", "Mouse"))
        ]
        training = dataset.subsets["training"]
        assert training.ids(0, 3) == ["0", "1", "2"]
        assert training.encode(Role.INPUT, "Image", 2).shape == (5, 4, 3)
        assert training.encode(Role.INPUT, "Image", 2).max() == 20
        assert training.encode(Role.GROUND_TRUTH, "ground_truth", 2) == 2
        assert training.metadata(1) == {"color": "red", "shape": "round"}

    def test_the_test_of_the_guide_prints_both_samples(self, entry: Entry, capsys: pytest.CaptureFixture[str]) -> None:
        names = run(guide.TEST, dict(vars(entry.module)))
        assert len(capsys.readouterr().out.splitlines()) == 4
        assert names["ground_truth_1"] == 0

    def test_the_additional_example(self, folder: Path, tensorflow: Any) -> None:
        (folder / "digits.py").write_text(DIGITS, encoding="utf-8")
        path = folder / "leap_binder.py"
        path.write_text(guide.changed(guide.ADDITIONAL_EXAMPLE, "Additional example"), encoding="utf-8")
        dataset = load_entry(path).dataset()
        assert {name: len(subset) for name, subset in dataset.subsets.items()} == {
            "training": 10000,
            "validation": 10000,
        }
        validation = dataset.subsets["validation"]
        assert validation.encode(Role.INPUT, "image", 9999).shape == (28, 28, 1)
        assert validation.encode(Role.GROUND_TRUTH, "num", 7).argmax() == 7
        # The guide declares text as int; a number comes out.
        assert validation.metadata(17) == {"label": 7}
        assert dataset.ground_truths[0].labels == tuple("0123456789")


def record(tensorflow: Any, path: bytes, target: int, color: bytes, shape: bytes) -> Any:
    train = tensorflow.train
    texts = {
        name: train.Feature(bytes_list=train.BytesList(value=[value]))
        for name, value in (("image_fpath", path), ("color", color), ("shape", shape))
    }
    number = train.Feature(int64_list=train.Int64List(value=[target]))
    return train.Example(features=train.Features(feature={**texts, "target": number})).SerializeToString()


DIGITS = '''"""Ten thousand pictures in the place of a download."""
import numpy as np


class mnist:
    @staticmethod
    def load_data():
        images, labels = np.zeros((10000, 28, 28), np.uint8), np.arange(10000) % 10
        return (images, labels), (images, labels)
'''
