"""Data sets of plain functions and a model of plain numpy, healthy unless a test makes them sick."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cutaway.dataset import Dataset
from cutaway.dataset.enums import Role
from cutaway.dataset.functions import Field, MetadataField
from cutaway.errors import LayerUnavailable
from cutaway.models import Model, ModelDescription, TensorSpec

CLASSES = 3
LABELS = ("cat", "dog", "owl")
Encode = Callable[[str, int], Any]


def image(subset: str, index: int) -> np.ndarray:
    """Noise that is the same for the same sample, brighter on the rows of its class."""
    seed = [{"training": 0, "validation": 1, "test": 2, "unlabeled": 3}[subset], index]
    values = np.random.default_rng(seed).random((6, 6, 1), dtype=np.float32) / 2
    values[2 * label(subset, index) : 2 * label(subset, index) + 2] += 0.5
    return values


def label(subset: str, index: int) -> int:
    return index % CLASSES


def one_hot(subset: str, index: int) -> np.ndarray:
    return np.eye(CLASSES, dtype=np.float32)[label(subset, index)]


class Samples:
    """A subset of functions of its name and a position."""

    def __init__(
        self,
        name: str,
        length: int,
        inputs: Mapping[str, Encode],
        truths: Mapping[str, Encode],
        metadata: Callable[[str, int], dict[str, Any]],
        ids: Sequence[str] | None = None,
    ) -> None:
        self.name = name
        self._length = length
        self._encoders = {Role.INPUT: inputs, Role.GROUND_TRUTH: truths}
        self._metadata = metadata
        self._ids = ids

    def __len__(self) -> int:
        return self._length

    def ids(self, start: int, stop: int) -> list[str]:
        if self._ids is not None:
            return list(self._ids[start:stop])
        return [str(i) for i in range(start, min(stop, self._length))]

    def encode(self, role: Role, name: str, index: int) -> np.ndarray:
        return self._encoders[role][name](self.name, index)

    def encode_many(self, role: Role, name: str, start: int, stop: int) -> None:
        return None

    def metadata(self, index: int) -> dict[str, Any]:
        return self._metadata(self.name, index)

    def response(self) -> None:
        return None


def animals(
    *,
    encode_image: Encode = image,
    encode_label: Encode = one_hot,
    metadata: Callable[[str, int], dict[str, Any]] = lambda subset, index: {"size": index, "source": f"file{index}"},
    lengths: Mapping[str, int] | None = None,
    ids: Mapping[str, Sequence[str]] | None = None,
    labels: Sequence[str] = LABELS,
    **bound: Any,
) -> Dataset:
    """A healthy data set of images, one-hot labels and metadata; each part can be given in a sick form."""
    sizes = {"training": 60, "validation": 30} if lengths is None else lengths
    subsets = {
        name: Samples(name, length, {"image": encode_image}, {"animal": encode_label}, metadata, (ids or {}).get(name))
        for name, length in sizes.items()
    }
    fields = {"inputs": (Field("image"),), "ground_truths": (Field("animal", tuple(labels)),), **bound}
    columns = tuple(MetadataField(name) for name in metadata("training", 0))
    return Dataset(subsets=subsets, metadata=columns, **fields)


class BrightRows:
    """Scores each class by how bright its two rows are: right on `image`."""

    def __init__(
        self,
        shape: tuple[int | None, ...] = (None, 6, 6, 1),
        classes: int = CLASSES,
        channel_axis: int = -1,
        answer: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        self._answer = answer
        self._classes, self._axis = classes, channel_axis
        self.closed = 0
        self.description = ModelDescription(
            "numpy",
            (TensorSpec("image", shape, channel_axis=channel_axis),),
            (TensorSpec("scores", (None, classes), channel_axis=-1),),
        )

    def predict(self, batch: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        values = np.moveaxis(batch["image"], self._axis, -1)
        if self._answer is not None:
            return {"scores": self._answer(values)}
        rows = values.reshape(len(values), 3, -1).mean(axis=2)
        scores = np.zeros((len(values), self._classes), np.float32)
        scores[:, : min(3, self._classes)] = rows[:, : self._classes]
        return {"scores": scores}

    def activations(self, batch: Any, layers: Sequence[str]) -> dict[str, np.ndarray]:
        raise LayerUnavailable(layers[0])

    def gradient(self, batch: Any, question: Any) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        self.closed += 1


def bright_rows(**about: Any) -> Model:
    return Model(BrightRows(**about))
