"""The population of an evaluation: what can be drawn, its rows, its clusters, and selections of it.

Positions and columns themselves travel as Arrow, in the one order that `points.arrow` gives.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cutaway.studio.wire.base import Number, Wire

__all__ = [
    "AnalysisRow",
    "ClusterRow",
    "EvaluationRow",
    "LabelDecisions",
    "NewSelection",
    "Point",
    "PopulationColumn",
    "PopulationDetail",
    "PopulationRow",
    "Selected",
    "SelectionRow",
    "SubsetScore",
    "ThresholdDecisions",
]

Point = Annotated[list[float], Field(min_length=2, max_length=2)]


class SubsetScore(Wire):
    """How a model does on one subset: of the samples with a label and a prediction, and the mean of its losses."""

    subset: str
    samples: int
    accuracy: Number
    loss: Number


class EvaluationRow(Wire):
    """An evaluation of a run: a model on every sample of some subsets. No figure mixes training with others."""

    number: int
    created: Number
    finished: bool
    model: str = Field(description="The name of the model's file, or what it was.")
    samples: int
    subsets: dict[str, int]
    spaces: list[str]
    scores: list[SubsetScore]
    judged: str = Field(description="The subset that `accuracy` and `loss` are of: a held-out one, if any.")
    accuracy: Number
    loss: Number
    has_map: bool


class PopulationColumn(Wire):
    """A column that points can be coloured, sized, filtered and counted by."""

    name: str
    kind: Literal["number", "category", "yes-or-no", "text"]
    group: Literal["sample", "answer", "score", "metadata", "metric", "analysis"]
    values: int | None = Field(description="How many different values it has; null where that is not known.")
    missing: int
    min: Number
    max: Number
    strength: Number = Field(
        description="How closely the loss of held-out samples follows it, from 0 to 1, where that was analysed."
    )


class AnalysisRow(Wire):
    """An analysis of this population: whether it was made, whether it applies, and where not, why."""

    analysis: str
    made: bool
    applies: bool
    reason: str


class PopulationDetail(Wire):
    """Everything about the population of an evaluation but its points."""

    evaluation: int
    evaluations: list[EvaluationRow]
    samples: int
    failed: int
    subsets: dict[str, int]
    classes: list[str]
    confusion_metrics: list[str] = Field(description="Metrics whose decisions can be counted at a threshold.")
    space: str
    spaces: list[str]
    columns: list[PopulationColumn]
    looked_at: int = Field(
        description="How many samples told how many values columns have, how many lack one, and what the loss follows."
    )
    maps: list[str] = Field(description="The methods by which there is a map; the first is shown.")
    trustworthiness: Number
    map_notes: list[str]
    analyses: list[AnalysisRow]
    clusters: int | None = Field(description="How many clusters there are; null where none were looked for.")
    previews: bool
    notes: list[str] = Field(description="What could not be read, and what was left out.")


class PopulationRow(Wire):
    """A sample as a row of the table beside the map."""

    row: int
    sample: str
    subset: str
    label: str | None
    prediction: str | None
    correct: bool | None
    loss: Number
    preview: bool
    suspicion: Number = Field(description="The probability that its label is wrong, where that was analysed.")
    suggested: str | None
    decision: Literal["accepted", "rejected"] | None = Field(description="What was decided about the suggestion.")


class ClusterRow(Wire):
    """A cluster of the map and what distinguishes it, in words."""

    cluster: int
    count: int
    words: str
    x: Number = Field(description="Where on the map its name goes.")
    y: Number
    judged: int = Field(description="How many of its samples loss and accuracy are of: held-out ones, if any.")
    loss: Number
    accuracy: Number


class LabelDecisions(Wire):
    """What a model decided about one label at a threshold; shares of nothing are null, intervals are of 95 %."""

    label: str
    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int
    precision: Number
    precision_low: Number
    precision_high: Number
    recall: Number
    recall_low: Number
    recall_high: Number
    f1: Number


class ThresholdDecisions(Wire):
    """What a model decided at a threshold, by a metric of confusion elements."""

    metric: str
    threshold: float
    samples: int = Field(description="How many of the samples that were meant have a decision.")
    words: str
    labels: list[LabelDecisions]
    notes: list[str]


class Selected(Wire):
    """Which samples are meant: those for which all conditions hold, inside a lasso, and among those named."""

    where: list[Annotated[str, Field(max_length=2000)]] = Field(default_factory=list, max_length=50)
    lasso: list[Point] = Field(default_factory=list, max_length=200, description="Corners of a polygon on the map.")
    samples: list[Annotated[str, Field(max_length=2000)]] = Field(default_factory=list, max_length=10_000)


class NewSelection(Wire):
    """A selection under a name."""

    name: str = Field(min_length=1, max_length=100)
    evaluation: int | None = Field(default=None, ge=0)
    selected: Selected
    note: str = Field(default="", max_length=10_000)


class SelectionRow(Wire):
    """A selection that was kept in the run."""

    name: str
    evaluation: int
    selected: Selected
    note: str
    count: int | None = Field(description="How many samples it is now; null where it no longer fits the evaluation.")
    created: Number
