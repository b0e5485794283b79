"""What a model says of itself: its inputs and outputs, its layers, and what it was compiled with. Values only.

Also what became of the attempt to keep a copy of a live one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["KeptModel", "Layer", "ModelDescription", "SavedTraining", "TensorSpec"]

Shape = tuple[int | None, ...]


@dataclass(frozen=True)
class TensorSpec:
    """A named input or output. `shape` begins with the batch axis; None is an axis of any size.

    `channel_axis` is the axis of colours or classes as the model's own format has it: 1 for torch and ONNX, -1 for
    Keras. None where the tensor has no such axis, or nothing says which one it is.

    A live torch module declares nothing before it saw a batch: then `shape` is () and `dtype` is empty, and any batch
    is taken as it comes.
    """

    name: str
    shape: Shape
    dtype: str = "float32"
    channel_axis: int | None = None

    @property
    def batch_size(self) -> int | None:
        """The only batch size that is taken, or None where any is."""
        return self.shape[0] if self.shape else None


@dataclass(frozen=True)
class Layer:
    """A layer whose output can be asked for; `kind` is the class or operator in the format's own word.

    `shape` begins with the batch axis, None where it is not known before a batch went through. `channel_axis` is the
    axis of its channels or features: 1 behind a convolution of torch or ONNX, -1 behind dense, recurrent and attention
    layers and everywhere in Keras.
    """

    name: str
    kind: str
    shape: Shape | None = None
    channel_axis: int = -1


@dataclass(frozen=True)
class SavedTraining:
    """What a model file carried of its training, as text and plain values for people; empty where it carried none."""

    loss: Any = None
    optimizer: Any = None
    metrics: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelDescription:
    """A model as one value. `format` is how it came: keras, h5, saved_model, onnx, pt2, torch, ...

    `latent_layer` is the layer whose output goes into the head, where the format tells; None lets `Model` choose.
    `differentiable` is empty where `gradient` works, and otherwise says why it does not.
    """

    format: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    layers: tuple[Layer, ...] = ()
    latent_layer: str | None = None
    training: SavedTraining = field(default_factory=SavedTraining)
    differentiable: str = ""
    notes: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class KeptModel:
    """The file that holds the copy and its format, or `reason`: why there is none.

    `notes` say what the copy cannot do that the live model can.
    """

    path: Path | None
    format: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()
