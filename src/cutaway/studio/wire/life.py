"""The life of a run: its curves, steps, samples, findings, and what was asked of it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from cutaway.studio.wire.base import Number, Severity, Wire

__all__ = [
    "Action",
    "FindingDetail",
    "FindingRow",
    "LeftRequest",
    "NewRequest",
    "RequestRow",
    "ScalarRow",
    "SeenSample",
    "StepRow",
]

Action = Literal["stop", "pause", "resume", "checkpoint", "dump", "set"]


class ScalarRow(Wire):
    """A series of numbers of one mode. `derived` ones (throughput, seconds of each phase) come from the steps."""

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
    sees: str = Field(description="What the rule looks at.")
    why: str
    try_this: str
    where: dict[str, Any]
    evidence: dict[str, Any]
    first_step: int | None = Field(description="The window of steps that it is about.")
    last_step: int | None
    samples_known: bool
    tensors: list[str] = Field(description="Tensors of this run that it names.")
    actions: list[RequestRow] = Field(description="What was asked of the training because of it.")


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
    """A sample in the batch of a step, what was saved of it there, and what the last evaluation says of it."""

    sample: str
    step: int
    values: dict[str, Number]
    label: str | None
    prediction: str | None
    preview: bool


class RequestRow(Wire):
    """Something that was asked of a running training, and what became of it."""

    id: str
    action: str
    arguments: dict[str, Any]
    who: str
    why: str
    time: Number
    state: Literal["waiting", "done", "refused"]
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
