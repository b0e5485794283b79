"""The life of a run: its curves, steps, samples, findings, tensors and layers, and what was asked of it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from cutaway.studio.wire.base import Number, Severity, Wire

__all__ = [
    "Action",
    "FindingDetail",
    "FindingRow",
    "Histogram",
    "LayerRow",
    "LeftRequest",
    "NewRequest",
    "RequestRow",
    "ScalarRow",
    "SeenSample",
    "StepRow",
    "TensorDetail",
    "TensorRow",
]

Action = Literal["stop", "pause", "resume", "checkpoint", "dump", "set"]


class ScalarRow(Wire):
    """A series of numbers of one mode, and what all of them come to, also where its curve is thinned.

    `derived` ones (throughput, seconds of each phase) come from the steps.
    """

    series: str = Field(description="How to ask for it: `<name>@<mode>`.")
    name: str
    mode: str
    group: Literal["loss", "metric", "rate", "throughput", "other"]
    derived: bool
    count: int
    first: Number
    last: Number
    min: Number
    max: Number
    last_step: int
    nonfinite: int


class FindingRow(Wire):
    """Something that was concluded about a run."""

    id: str
    code: str
    severity: Severity
    message: str
    source: str
    time: Number
    step: int | None
    attempt: int | None
    tensor: str | None
    replaced: bool = Field(description="Whether a later attempt replaced the steps that it is about.")


class FindingDetail(Wire):
    """A finding with its evidence, what it means and what to try, and where to look further."""

    finding: FindingRow
    rule_missing: bool = Field(description="Whether a rule found it that is not installed here.")
    sees: str = Field(description="What the rule looks at.")
    why: str
    try_this: str
    where: dict[str, Any]
    evidence: dict[str, Any]
    first_step: int | None = Field(description="The window of steps that it is about.")
    last_step: int | None
    samples_known: bool
    tensors: list[str] = Field(description="Tensors of this run that it names.")
    actions: list[RequestRow] = Field(description="Requests made to the training because of it.")


class StepRow(Wire):
    """A recorded step."""

    step: int
    mode: str
    mode_step: int
    epoch: int | None
    time: Number
    data: Number
    forward: Number
    backward: Number
    optimizer: Number
    samples: int | None = Field(description="How many samples it was fed; null where none are known.")
    statistics: bool
    thinned: int


class SeenSample(Wire):
    """A sample in the batch of a step, what was saved of it there, and what the last finished evaluation says of it."""

    sample: str
    step: int
    values: dict[str, Number]
    label: str | None
    prediction: str | None
    evaluation: int | None = Field(
        description="Which evaluation label and prediction are of: not of the step. None where they are not known."
    )
    preview: bool


class RequestRow(Wire):
    """Something that was asked of a running training, and what became of it."""

    id: str
    action: str
    arguments: dict[str, Any]
    who: str
    why: str
    time: Number
    state: Literal["waiting", "delivered", "done", "refused"] = Field(
        description="`delivered`: the training knows of it, and its loop has not acted on it yet."
    )
    reason: str
    step: int | None
    answered: Number


class NewRequest(Wire):
    """A request to a running training. `set` takes one of `lr` and `lr_factor`; the others take no arguments."""

    action: Action
    arguments: dict[str, float] = Field(default_factory=dict, max_length=2)
    why: str = Field(default="", max_length=1000)
    id: str | None = Field(
        default=None, pattern=r"^[0-9a-f]{32}$", description="Asked twice, an id is carried out once."
    )


class LeftRequest(Wire):
    """A request as it was left for the training."""

    request: RequestRow
    new: bool = Field(description="False where a request of that id had been left before.")


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
