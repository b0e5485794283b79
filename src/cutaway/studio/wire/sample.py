"""One sample: what it is, what the model made of it, where it looked, and what is like it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from cutaway.studio.wire.base import Number, Wire

__all__ = [
    "ClassScore",
    "DecisionRow",
    "Fact",
    "HeatMapAnswer",
    "HeatMapRow",
    "NewDecision",
    "SampleDetail",
    "SampleVisits",
    "SanityRow",
    "SimilarAnswer",
    "SimilarRow",
    "Suggestion",
    "TwinRow",
    "UnitRow",
    "VisualRow",
]


class ClassScore(Wire):
    """A class as a sample sees it: the model's probability, and how far its centre is."""

    name: str
    probability: Number
    distance: Number


class Fact(Wire):
    """A column's value for one sample, and where that lies among all: the share of samples with a smaller one."""

    name: str
    value: str | float | bool | None
    rank: Number


class SampleVisits(Wire):
    """What the training saw of a sample each time: its loss, and what else was saved of it."""

    steps: list[int]
    epochs: list[int | None]
    losses: list[Number]
    mode: list[str]


class TwinRow(Wire):
    """Another sample that is the same, or nearly."""

    sample: str
    subset: str
    label: str | None
    kind: Literal["duplicate", "leakage"]
    score: Number
    reason: str
    preview: bool


class Suggestion(Wire):
    """What the analysis of labels says of a sample, and what was decided about it."""

    label: str | None
    suggested: str | None
    score: Number
    reason: str
    decision: Literal["accepted", "rejected"] | None
    decided_label: str | None = Field(description="The label in the overlay, where one was accepted.")
    overlay: str | None


class SampleDetail(Wire):
    """A sample of an evaluation. A part that was not analysed is null or empty, and `notes` say what to run."""

    sample: str
    row: int
    subset: str
    evaluation: int
    label: str | None
    prediction: str | None
    correct: bool | None
    loss: Number
    loss_rank: Number = Field(description="The share of samples with a smaller loss.")
    failed: str = Field(description="Why the evaluation of this sample failed; empty where it did not.")
    classes: list[ClassScore] = Field(description="The likeliest and the nearest first, at most 50, label included.")
    class_count: int
    metadata: list[Fact]
    metrics: list[Fact]
    visits: SampleVisits | None
    twins: list[TwinRow]
    suggestion: Suggestion | None
    cluster: int | None
    cluster_words: str
    x: Number
    y: Number
    preview: bool
    previous: str | None = Field(description="The sample before it in the evaluation.")
    next: str | None
    notes: list[str]


class VisualRow(Wire):
    """What a visualizer of the binding made of a sample, as data: `type` and the fields that such a type has."""

    name: str
    type: str
    data: dict[str, Any]
    printed: str = Field(description="What the user's own code printed meanwhile.")
    error: str = Field(description="Why it could not be drawn; empty where it was.")


class SanityRow(Wire):
    """How far a heat map can be trusted: what taking away what it points at does, beside maps that know nothing."""

    deletion: Number
    random_best: Number
    random_median: Number
    magnitude: Number
    random_weights: Number
    verdict: Literal["better", "no different", "worse", "unknown"] = Field(description="Beside random maps.")
    sentence: str
    notes: list[str]


class HeatMapRow(Wire):
    """Where the model looked in a sample: `values` is an array as visualizers have them (dtype, shape, base64)."""

    target: str | None
    layer: str | None
    method: str
    input: str
    score: Number
    signed: bool
    values: dict[str, Any]
    visuals: list[VisualRow] = Field(description="The same through the binding's own heat-map visualizers.")
    sanity: SanityRow | None
    completeness: Number
    notes: list[str]


class HeatMapAnswer(Wire):
    """Heat maps, and what else can be asked for: methods that apply, classes and layers."""

    maps: list[HeatMapRow]
    methods: dict[str, str] = Field(description="Every method; the text says why it does not apply, empty if it does.")
    layers: list[str]
    classes: list[str]
    seconds: float


class SimilarRow(Wire):
    """A sample that is like the one that was asked about."""

    sample: str
    row: int
    distance: Number
    subset: str
    label: str | None
    prediction: str | None
    correct: bool | None
    loss: Number
    preview: bool


class UnitRow(Wire):
    """A latent unit behind a similarity."""

    unit: int
    share: Number
    active: bool


class SimilarAnswer(Wire):
    """The nearest samples, how many of them have each label, and the latent units that make them similar."""

    similar: list[SimilarRow]
    labels: dict[str, int]
    units: list[UnitRow]
    notes: list[str]


class NewDecision(Wire):
    """What a person decided about the label of a sample. `undo` takes an earlier decision back."""

    sample: str = Field(max_length=2000)
    decision: Literal["accept", "reject", "undo"]
    label: str | None = Field(default=None, max_length=2000, description="For accept: another than the suggested one.")
    evaluation: int | None = Field(default=None, ge=0)


class DecisionRow(Wire):
    """A decision as it was kept, and the overlay that carries it out."""

    sample: str
    decision: Literal["accepted", "rejected", "undone"]
    label: str | None
    overlay: str | None
    corrections: int = Field(description="How many corrections that overlay has now.")
