"""Tensors and the layers that they belong to."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cutaway.studio.wire.base import Number, Severity, Wire
from cutaway.studio.wire.life import FindingRow

__all__ = ["Histogram", "LayerRow", "TensorDetail", "TensorRow"]


class TensorRow(Wire):
    """A tensor of a run and how it was at its last step with statistics."""

    name: str
    layer: str = Field(description="The part of the name that says where in the model it is.")
    kind: Literal["weight", "bias", "gradient", "output", "input", "loss", "other"]
    collections: list[str]
    size: int | None
    first_step: int | None
    last_step: int | None
    saved_steps: int = Field(description="At how many steps it was saved in full.")
    nonfinite: int
    zeros: Number = Field(description="The share of zeros.")
    mean: Number
    std: Number
    l2: Number
    change: Number
    findings: int
    severity: Severity | None = Field(description="The worst of its findings.")


class TensorDetail(Wire):
    """A tensor with the steps at which it was saved in full."""

    tensor: TensorRow
    shape: list[int] | None
    dtype: str | None
    saved: list[int] = Field(description="The steps of its full values, at most the newest 10,000.")
    findings: list[FindingRow]


class Histogram(Wire):
    """The values of a saved tensor, counted. `edges` are one more than `counts`."""

    step: int
    shape: list[int]
    dtype: str
    size: int
    edges: list[float]
    counts: list[int]
    nan: int
    positive_infinity: int
    negative_infinity: int
    zeros: int
    min: Number
    max: Number
    mean: Number
    std: Number


class LayerRow(Wire):
    """A layer of the model as its tensors tell: where it is, how large, and how it does."""

    name: str
    depth: int
    parent: str | None
    parameters: int
    tensors: list[str]
    weight: Number = Field(description="The l2 norm of its weights at the last step.")
    gradient: Number
    update_ratio: Number = Field(description="The norm of the last change of its weights over that of the weights.")
    zeros: Number = Field(description="The largest share of zeros among its outputs.")
    nonfinite: int
    findings: int
    severity: Severity | None
