"""What travels between the studio and whoever asks it: every answer of the HTTP API as a typed value.

The page's TypeScript types are generated from these. Holds no logic and reads no run. Every list that can be long is a
`Page`; bulk columns travel as Arrow and have no type here. A time is in seconds since 1970, a duration in seconds. A
number that is not finite travels as null, and where that matters a count beside it says so.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

__all__ = [
    "About",
    "Action",
    "Annotations",
    "AnnotationsChange",
    "Answered",
    "Attempt",
    "CollectionRow",
    "Column",
    "Comparison",
    "ConfigDifference",
    "DamageRow",
    "Data",
    "ErrorAnswer",
    "Event",
    "Events",
    "FindingDetail",
    "FindingRow",
    "HealthRow",
    "Histogram",
    "Indexing",
    "LayerRow",
    "Login",
    "NewRequest",
    "Page",
    "RequestRow",
    "RunDetail",
    "RunRow",
    "ScalarRow",
    "SeenSample",
    "Sparkline",
    "State",
    "StepRow",
    "StepsFacts",
    "TellingRow",
    "TensorDetail",
    "TensorRow",
    "What",
]

T = TypeVar("T")
State = Literal["running", "paused", "finished", "failed", "ended", "lost", "crashed", "unknown"]
Verdict = Literal["healthy", "warnings", "sick", "not watched"]
Severity = Literal["info", "warning", "error"]
Action = Literal["stop", "pause", "resume", "checkpoint", "dump", "set"]
What = Literal["listed", "state", "steps", "scalars", "findings", "requests", "annotations", "indexing"]


def _finite(value: float | None) -> float | None:
    # JSON has no NaN; whether there was one is said by a count or a finding, never by a number that cannot be read.
    return value if value is not None and value - value == 0 else None


Number = Annotated[float | None, AfterValidator(_finite)]


class Wire(BaseModel):
    """A value on the wire: frozen, with no fields but its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# -- the envelope ------------------------------------------------------------------------------------------------------


class Data(Wire, Generic[T]):
    """The one shape of an answer."""

    ok: Literal[True] = True
    data: T


class Page(Wire, Generic[T]):
    """The one shape of an answer with many rows: `total` are there, these are `limit` of them from `offset` on."""

    ok: Literal[True] = True
    data: list[T]
    total: int
    offset: int
    limit: int


class ErrorAnswer(Wire):
    """The one shape of what went wrong: what happened, a word for programs, and what to do next."""

    ok: Literal[False] = False
    error: str
    code: str
    hint: str
    status: int
    request: str = Field(description="The id of this request, which the server's log has too.")


# -- the studio --------------------------------------------------------------------------------------------------------


class Indexing(Wire):
    """How far the first look at all runs of the folder is; `done` equals `total` once every run is listed."""

    done: int
    total: int


class About(Wire):
    """What this studio is and looks at."""

    version: str
    folder: str = Field(description="The folder's name, as a person wrote it.")
    runs: int
    indexing: Indexing
    token: bool = Field(description="Whether this studio asks for a token.")


class Login(Wire):
    """A token, given once by the page in exchange for a cookie."""

    token: str = Field(max_length=1024)


# -- runs --------------------------------------------------------------------------------------------------------------


class HealthRow(Wire):
    """What the findings of a run come to."""

    verdict: Verdict
    sentence: str
    since: int | None
    warnings: int
    errors: int


class Sparkline(Wire):
    """A glance at a run's loss: at most 48 values over its whole length, null where one is not finite."""

    name: str
    last: Number
    best: Number
    values: list[Number]


class RunRow(Wire):
    """A run in the table of runs. `cells` has the columns that were asked for by name, see `Column`."""

    id: str = Field(description="Names the run in every route; stays the same while the folder does.")
    name: str
    folder: str = Field(description="Where it lies under the studio's folder; the name, for one directly in it.")
    project: str
    kind: str = Field(description="'training', or 'evaluation' for a run of evaluations only.")
    state: State
    created: Number
    updated: Number = Field(description="When anything of it was written last.")
    seconds: Number = Field(description="How long its training took, or has taken so far.")
    steps: int
    epochs: int | None
    framework: str
    attempts: int
    evaluations: int
    findings: int
    health: HealthRow
    loss: Sparkline | None
    tags: list[str]
    note: str
    baseline: bool
    cells: dict[str, str | bool | int | Number]


class Column(Wire):
    """A column that the table of runs can show, sort by, filter by, and draw as an axis.

    Built-in ones have their plain names (`name`, `state`, `loss`, ...); `config.<key>` is a value of config.yaml,
    `scalar.<name>.<mode>.last`, `.min` or `.max` a number of the run, `identity.<key>` something of run.json.
    """

    name: str
    title: str
    group: Literal["run", "config", "scalar", "identity"]
    kind: Literal["number", "text", "time", "flag"]
    runs: int = Field(description="How many runs have a value.")
    min: Number
    max: Number
    different: int = Field(description="How many different values there are, counted up to 100.")


class Attempt(Wire):
    """One go at a run: the first, or a resumption that took over from a step."""

    attempt: int
    from_step: int
    last_step: int | None
    state: State
    host: str
    pid: int | None


class StepsFacts(Wire):
    """The steps of a run in numbers."""

    recorded: int
    first: int | None
    last: int | None
    by_mode: dict[str, int]
    epochs: int | None
    with_statistics: int
    thinned: int
    workers: list[str]
    samples_known: bool = Field(description="Whether steps say which samples they were fed.")


class TellingRow(Wire):
    """One of the findings that tell most, in plain words, and what to try."""

    code: str
    severity: Severity
    step: int | None
    message: str
    try_this: str


class DamageRow(Wire):
    """Something of the run that cannot be read; the rest can."""

    path: str = Field(description="The file inside the run folder.")
    step: int | None
    reason: str


class CollectionRow(Wire):
    """A collection and how many tensors of this run are in it."""

    name: str
    tensors: int


class RunDetail(Wire):
    """Everything about one run that fits on one screen."""

    row: RunRow
    meaning: str = Field(description="What its state means, in words.")
    next: str = Field(description="The command or line that comes next.")
    command: str = Field(description="How to name this run in a command.")
    stopped_by: str
    identity: dict[str, Any]
    config: dict[str, Any]
    attempts: list[Attempt]
    steps: StepsFacts
    collections: list[CollectionRow]
    telling: list[TellingRow]
    damage: list[DamageRow]
    overlay: str = Field(description="The overlay that corrected its labels, or nothing.")
    previews: bool = Field(description="Whether there are pictures of its samples.")
    statistics: list[str] = Field(description="Which statistics its tensors have.")


class Annotations(Wire):
    """What people wrote about a run."""

    tags: list[str]
    note: str
    baseline: bool


class AnnotationsChange(Wire):
    """What to change of a run's annotations; what is left out stays. A new baseline takes the place of the last."""

    tags: list[Annotated[str, Field(max_length=100)]] | None = Field(default=None, max_length=100)
    note: str | None = Field(default=None, max_length=100_000)
    baseline: bool | None = None


class ConfigDifference(Wire):
    """A key of the configuration and its value in each of the compared runs; null where a run has none."""

    key: str
    values: list[str | None]
    differs: bool


class Comparison(Wire):
    """Several runs side by side; their curves come as Arrow."""

    runs: list[RunRow]
    config: list[ConfigDifference]
    scalars: list[ScalarRow]


# -- the life of a run -------------------------------------------------------------------------------------------------


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


class Answered(Wire):
    """A request as it was left for the training."""

    request: RequestRow
    new: bool = Field(description="False where a request of that id had been left before.")


# -- tensors -----------------------------------------------------------------------------------------------------------


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


# -- what is live ------------------------------------------------------------------------------------------------------


class Event(Wire):
    """That something has changed; whoever cares asks for it."""

    topic: str = Field(description="`runs`, or `run:<id>`.")
    what: What
    run: str | None = None
    step: int | None = None
    state: State | None = None
    indexing: Indexing | None = None


class Events(Wire):
    """The events since a token, for those who poll, and the token for the next time."""

    events: list[Event]
    since: str


Comparison.model_rebuild()
FindingDetail.model_rebuild()
