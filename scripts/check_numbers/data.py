"""The data of a session: some images of an npz in Keras' layout, with faults planted that the analyses must count."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

__all__ = ["DataError", "Prepared", "prepare", "read_npz"]

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Texts = npt.NDArray[np.str_]

ARRAYS = ("x_train", "y_train", "x_test", "y_test")
# Of the training labels so many are made wrong; of the images so many are dim, in training hardly any.
WRONG, DIM, DIM_IN_TRAINING = 0.05, 0.12, 0.01
# So many images of validation are in training, too, and so many of training are there twice.
LEAKED, DOUBLED = 7, 9


class DataError(Exception):
    """A file that is not what this needs; the message says what it is instead."""


@dataclass(frozen=True)
class Prepared:
    """Both subsets as a session uses them. `truth` are the labels before some of those of training were made wrong."""

    images: Bytes
    labels: Ints
    truth: Ints
    subset: Texts
    ids: Texts
    scanner: Texts
    ink: Floats
    rows_inked: Ints

    def rows(self, subset: str) -> npt.NDArray[np.intp]:
        """Return where the samples of a subset are."""
        return np.flatnonzero(self.subset == subset)

    @property
    def planted(self) -> npt.NDArray[np.bool_]:
        """Which labels were made wrong."""
        return np.asarray(self.labels != self.truth)

    def save(self, path: Path) -> None:
        """Write everything into one npz."""
        np.savez(path, **{one.name: getattr(self, one.name) for one in fields(self)})

    @classmethod
    def load(cls, path: Path) -> Prepared:
        """Read what `save` wrote."""
        with np.load(path) as held:
            return cls(**{one.name: held[one.name] for one in fields(cls)})


def read_npz(path: Path) -> dict[str, npt.NDArray[np.generic]]:
    """Return the four arrays of Keras' mnist.npz. Raises `DataError` for any other file."""
    try:
        with np.load(path, allow_pickle=False) as held:
            missing = [name for name in ARRAYS if name not in held.files]
            if missing:
                raise DataError(f"{path} has no {', '.join(missing)}; it has {', '.join(held.files) or 'nothing'}.")
            found = {name: held[name] for name in ARRAYS}
    except FileNotFoundError:
        raise DataError(f"There is no {path}.") from None
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} is no npz of plain arrays: {error}.") from None
    for part in ("train", "test"):
        _check(path, part, found[f"x_{part}"], found[f"y_{part}"])
    return found


def _check(path: Path, part: str, images: npt.NDArray[np.generic], labels: npt.NDArray[np.generic]) -> None:
    if images.ndim != 3 or images.dtype != np.uint8:
        raise DataError(f"x_{part} of {path} must be images of bytes, (count, height, width), but is {_said(images)}.")
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or len(labels) != len(images):
        raise DataError(f"y_{part} of {path} must be a number for each of {len(images)} images; it is {_said(labels)}.")
    if not 0 <= int(labels.min()) <= int(labels.max()) <= 9:
        raise DataError(f"y_{part} of {path} must be digits, but goes from {labels.min()} to {labels.max()}.")


def _said(array: npt.NDArray[np.generic]) -> str:
    return f"{array.dtype} of shape {array.shape}"


def prepare(held: dict[str, npt.NDArray[np.generic]], samples: int, seed: int) -> Prepared:
    """Take so many images for training and a sixth as many for validation, and plant the faults."""
    rng = np.random.default_rng(seed)
    training = min(samples, len(held["x_train"]))
    validation = min(max(samples // 6, 1), len(held["x_test"]))
    chosen = {"train": rng.permutation(len(held["x_train"]))[:training],
              "test": rng.permutation(len(held["x_test"]))[:validation]}  # fmt: skip
    images = np.concatenate([np.asarray(held[f"x_{part}"], np.uint8)[rows] for part, rows in chosen.items()])
    truth = np.concatenate([np.asarray(held[f"y_{part}"], np.int64)[rows] for part, rows in chosen.items()])
    subset = np.array(["training"] * training + ["validation"] * validation)
    images, scanner = _dimmed(images, subset, rng)
    _double(images, truth, scanner, training, rng)
    labels = truth.copy()
    wrong = rng.choice(training, round(WRONG * training), replace=False)
    labels[wrong] = (labels[wrong] + rng.integers(1, 10, len(wrong))) % 10
    places = np.concatenate([np.arange(training), np.arange(validation)])
    ids = np.array([f"{part}/{place}" for part, place in zip(subset, places, strict=True)])
    ink, inked = images.mean(axis=(1, 2)) / 255.0, (images > 64).any(axis=2).sum(axis=1).astype(np.int64)
    return Prepared(images, labels, truth, subset, ids, scanner, ink, inked)


def _dimmed(images: Bytes, subset: Texts, rng: np.random.Generator) -> tuple[Bytes, Texts]:
    """Dim some images and add noise, most of them in validation: a slice that does worse, and a gap between subsets."""
    chance = np.where(subset == "training", DIM_IN_TRAINING, DIM)
    dim = rng.random(len(images)) < chance
    noisy = 0.25 * images[dim] + rng.normal(0, 35, images[dim].shape)
    images[dim] = np.clip(np.round(noisy), 0, 255).astype(np.uint8)
    return images, np.where(dim, "old", "new")


def _double(images: Bytes, truth: Ints, scanner: Texts, training: int, rng: np.random.Generator) -> None:
    """Put some images of training into validation, and some into training a second time."""
    sources = rng.choice(training // 2, LEAKED + DOUBLED, replace=False)
    leaks = training + rng.choice(len(images) - training, LEAKED, replace=False)
    doubles = training // 2 + rng.choice(training - training // 2, DOUBLED, replace=False)
    places = np.concatenate([leaks, doubles])
    for array in (images, truth, scanner):
        array[places] = array[sources]
