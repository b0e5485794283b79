"""The same small network in each framework, and how the framework alone predicts with it, one thread each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["BATCH", "SUBJECTS", "Measured", "images"]

BATCH = 64
CLASSES = 10


@dataclass(frozen=True)
class Measured:
    """What is compared: `bare(images)` gives every prediction, `model()` what `evaluate` is given."""

    bare: Callable[[np.ndarray], np.ndarray]
    model: Callable[[], Any]
    channels_first: bool


def images(count: int, *, channels_first: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return pictures with some structure, as photographs have, and their classes."""
    chance = np.random.default_rng(0)
    coarse = chance.uniform(size=(count, 8, 8, 3)).astype(np.float32)
    fine = chance.uniform(-0.05, 0.05, size=(count, 32, 32, 3)).astype(np.float32)
    pictures = np.clip(np.repeat(np.repeat(coarse, 4, axis=1), 4, axis=2) + fine, 0, 1)
    shaped = np.moveaxis(pictures, -1, 1) if channels_first else pictures
    return np.ascontiguousarray(shaped), chance.integers(0, CLASSES, count)


def _torch_network() -> Any:
    import torch
    from torch import nn

    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1, stride=2),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, CLASSES),
    ).eval()


def torch_live(_: Path) -> Measured:
    """A live module, in this process."""
    import torch

    torch.set_num_threads(1)
    module = _torch_network()

    def bare(x: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            parts = [module(torch.from_numpy(x[i : i + BATCH])).numpy() for i in range(0, len(x), BATCH)]
        return np.concatenate(parts)

    return Measured(bare, lambda: module, channels_first=True)


def onnx_file(scratch: Path) -> Measured:
    """An `.onnx` file: ours in its limited child process, beside ONNX Runtime in this one."""
    import onnxruntime
    import torch

    from cutaway.models import Limits, load

    path = scratch / "model.onnx"
    torch.onnx.export(
        _torch_network(),
        (torch.zeros(2, 3, 32, 32),),
        str(path),
        input_names=["image"],
        output_names=["scores"],
        dynamic_axes={"image": {0: "batch"}, "scores": {0: "batch"}},
        dynamo=False,
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def bare(x: np.ndarray) -> np.ndarray:
        return np.concatenate([session.run(None, {"image": x[i : i + BATCH]})[0] for i in range(0, len(x), BATCH)])

    return Measured(bare, lambda: load(path, limits=Limits(threads=1)), channels_first=True)


def keras_file(scratch: Path) -> Measured:
    """A `.keras` file: ours in its limited child process, beside `predict` of Keras in this one."""
    import os

    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    import keras
    from keras import layers

    from cutaway.models import Limits, load

    keras.utils.set_random_seed(0)
    network = keras.Sequential(
        [
            keras.Input((32, 32, 3), name="image"),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.Conv2D(64, 3, padding="same", strides=2, activation="relu"),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(CLASSES),
        ]
    )
    path = scratch / "model.keras"
    network.save(path)

    def bare(x: np.ndarray) -> np.ndarray:
        return np.asarray(network.predict(x, batch_size=BATCH, verbose=0))

    return Measured(bare, lambda: load(path, limits=Limits(threads=1)), channels_first=False)


SUBJECTS: dict[str, Callable[[Path], Measured]] = {"torch": torch_live, "onnx": onnx_file, "keras": keras_file}
