"""The images that the benchmark is about: real MNIST where it is found, else digits of scikit-learn, enlarged."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

__all__ = ["VARIABLE", "Images", "enlarged_digits", "find_mnist", "read_images"]

VARIABLE = "CUTAWAY_MNIST"
KERAS = Path("~/.keras/datasets/mnist.npz")
SIDE = 28
# How far the digits are shifted at most, and how much of the largest value their noise is.
SHIFT, NOISE = 4, 0.1
# Every sixth drawing is for testing: no test image is a shift of one that was trained on.
TEST_EVERY = 6

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Images:
    """Images between 0 and 1, (n, 1, 28, 28), with their classes; `real` says whether they are MNIST."""

    train: Floats
    train_labels: Ints
    test: Floats
    test_labels: Ints
    name: str
    real: bool


def find_mnist(given: Path | None) -> Path | None:
    """The `mnist.npz` that was given, that the variable names, or that Keras downloaded; None if there is none.

    One that was asked for by name and is not there is an error: the run would be about something else.
    """
    asked = given or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
    if asked is not None and not asked.is_file():
        message = (
            f"There is no file {asked}. Give the mnist.npz of Keras, or leave it out to use scikit-learn's digits."
        )
        raise FileNotFoundError(message)
    path = asked or KERAS.expanduser()
    return path if path.is_file() else None


def read_images(mnist: Path | None, train: int, test: int) -> Images:
    """The first images of each part; the same ones each time."""
    if mnist is None:
        return enlarged_digits(train, test)
    with np.load(mnist) as file:
        parts = [file[name] for name in ("x_train", "y_train", "x_test", "y_test")]
    digest = hashlib.sha256(mnist.read_bytes()).hexdigest()[:12]
    x, y, x_test, y_test = parts[0][:train], parts[1][:train], parts[2][:test], parts[3][:test]
    return Images(
        _scaled(x), y.astype(np.int64), _scaled(x_test), y_test.astype(np.int64), f"MNIST {digest}", real=True
    )


def enlarged_digits(train: int, test: int, seed: int = 0) -> Images:
    """Digits of scikit-learn in the size of MNIST's, as many as are asked for: each shifted anew, with a little noise.

    What is measured on them says whether the benchmark works, not how well Cutaway does on MNIST.
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    small = (digits.images / 16).astype(np.float32)
    large = np.repeat(np.repeat(small, 3, axis=1), 3, axis=2)
    tests = np.arange(len(large)) % TEST_EVERY == 0
    random = np.random.default_rng(seed)
    parts = []
    for chosen, count in ((~tests, train), (tests, test)):
        rows = np.flatnonzero(chosen)[np.arange(count) % int(chosen.sum())]
        parts += [_shifted(large[rows], random), digits.target[rows].astype(np.int64)]
    return Images(parts[0], parts[1], parts[2], parts[3], "digits of scikit-learn, shifted", real=False)


def _shifted(images: Floats, random: np.random.Generator) -> Floats:
    """Put each image somewhere near the middle of a larger one."""
    count, height, width = images.shape
    found = random.normal(0, NOISE, (count, 1, SIDE, SIDE)).astype(np.float32)
    offsets = random.integers(0, SHIFT + 1, (count, 2))
    for one, image, (top, left) in zip(found, images, offsets, strict=True):
        one[0, top : top + height, left : left + width] += image
    return np.clip(found, 0, 1)


def _scaled(pixels: npt.NDArray[np.uint8]) -> Floats:
    return np.asarray(pixels[:, None], np.float32) / np.float32(255)
