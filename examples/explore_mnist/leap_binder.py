"""Binds MNIST: 60,000 images of handwritten digits for training, and 10,000 others, here for validation.

The data are one file, `mnist.npz`, laid out as Keras has it: `CUTAWAY_MNIST` says where, and otherwise it is looked for
where Keras puts it.
"""

import os
from pathlib import Path

import numpy as np

from cutaway.dataset import (
    DatasetMetadataType,
    DataStateType,
    PreprocessResponse,
    leap_binder,
    tensorleap_gt_encoder,
    tensorleap_input_encoder,
    tensorleap_metadata,
    tensorleap_preprocess,
)

LABELS = [str(digit) for digit in range(10)]


def mnist_file() -> Path:
    """Return where the data lie, whether they are there or not."""
    return Path(os.environ.get("CUTAWAY_MNIST") or Path.home() / ".keras" / "datasets" / "mnist.npz")


def read_mnist() -> dict[str, np.ndarray]:
    """Return `x_train`, `y_train`, `x_test` and `y_test`; pixels are whole numbers from 0 to 255."""
    with np.load(mnist_file(), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in ("x_train", "y_train", "x_test", "y_test")}


@tensorleap_preprocess()
def preprocess() -> list[PreprocessResponse]:
    """Load everything once, with the mean image of each digit in training."""
    mnist = read_mnist()
    images, digits = mnist["x_train"], mnist["y_train"]
    leap_binder.cache_container["class_means"] = [images[digits == digit].mean(axis=0) / 255 for digit in range(10)]
    return [
        PreprocessResponse(length=len(digits), data=(images, digits), state=DataStateType.training),
        PreprocessResponse(
            length=len(mnist["y_test"]), data=(mnist["x_test"], mnist["y_test"]), state=DataStateType.validation
        ),
    ]


@tensorleap_input_encoder("image", channel_dim=1)
def image(index: int, subset: PreprocessResponse) -> np.ndarray:
    """The image as the model gets it: one channel, rows, columns, from 0 to 1."""
    return (subset.data[0][index][None] / 255).astype(np.float32)


@tensorleap_gt_encoder("digit")
def digit(index: int, subset: PreprocessResponse) -> np.ndarray:
    """The right answer, one-hot."""
    return np.eye(len(LABELS), dtype=np.float32)[subset.data[1][index]]


@tensorleap_metadata("distance_to_class_mean", DatasetMetadataType.float)
def distance_to_class_mean(index: int, subset: PreprocessResponse) -> float:
    """How far the image lies from the mean training image of its digit: Euclidean, pixels from 0 to 1."""
    mean = leap_binder.cache_container["class_means"][subset.data[1][index]]
    return float(np.linalg.norm(subset.data[0][index] / 255 - mean))


@tensorleap_metadata("ink", DatasetMetadataType.float)
def ink(index: int, subset: PreprocessResponse) -> float:
    """The mean of all pixels, from 0 to 1."""
    return float(subset.data[0][index].mean() / 255)


leap_binder.add_prediction("prediction", LABELS)
