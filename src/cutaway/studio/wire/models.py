"""The model of an evaluation: what it takes and gives, its layers, and what it says to an input."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cutaway.studio.wire.base import Number, Wire
from cutaway.studio.wire.sample import ClassScore, HeatMapRow, SimilarRow, VisualRow

__all__ = ["ModelDetail", "ModelFile", "ModelLayer", "ModelState", "ModelTensor", "Tried"]


class ModelState(Wire):
    """Whether the model can be asked: it is opened in a process of its own, when somebody looks at a sample."""

    state: Literal["off", "starting", "ready", "unavailable"]
    reason: str
    seconds: Number = Field(description="How long opening it took.")


class ModelTensor(Wire):
    """An input or output of a model; an axis of any length is null."""

    name: str
    shape: list[int | None]
    dtype: str


class ModelLayer(Wire):
    """A layer whose values can be asked for."""

    name: str
    kind: str
    shape: list[int | None]
    parameters: int | None
    latent: bool = Field(description="Whether the latent space is made of it.")


class ModelFile(Wire):
    """A file of the model that the run keeps or names: its name alone, its format and size."""

    name: str
    format: str
    bytes: int | None
    kept: bool = Field(description="Whether the run folder has a copy.")
    digest: str


class ModelDetail(Wire):
    """The model of an evaluation."""

    evaluation: int
    format: str
    inputs: list[ModelTensor]
    outputs: list[ModelTensor]
    layers: list[ModelLayer]
    files: list[ModelFile]
    differentiable: str = Field(description="Why gradients cannot be had; empty where they can.")
    limits: list[str] = Field(description="What its process may not do.")
    training: dict[str, str]
    uploads: list[str] = Field(description="What can be tried with it: kinds of files; empty where only samples can.")
    notes: list[str]


class Tried(Wire):
    """What the model says to an input that somebody brought, where it looked, and which samples are like it."""

    prediction: str | None
    classes: list[ClassScore]
    outputs: dict[str, list[Number]] = Field(description="The first 1,000 values of each output.")
    input: VisualRow
    heat_map: HeatMapRow | None
    similar: list[SimilarRow]
    notes: list[str]
