"""Runs as rows of a table, one run, several side by side, and what flipped between two on the same samples."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from cutaway.studio.wire.base import Number, Severity, State, Verdict, Wire
from cutaway.studio.wire.life import ScalarRow

__all__ = [
    "AnnotationsChange",
    "AttemptRow",
    "CollectionRow",
    "ConfigDifference",
    "DamageRow",
    "DifferenceRow",
    "FlipRow",
    "FlipsAnswer",
    "HealthRow",
    "RegionRow",
    "RunAnnotations",
    "RunColumn",
    "RunComparison",
    "RunDetail",
    "RunRow",
    "SliceRow",
    "Sparkline",
    "StepsFacts",
    "TellingRow",
]


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
    """A run in the table of runs. `cells` has the columns that were asked for by name, see `RunColumn`."""

    id: str = Field(
        description="Names the run in every route: the id in its `run.json`, for one of several copies with a suffix."
    )
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


class RunColumn(Wire):
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


class AttemptRow(Wire):
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


class FailureRow(Wire):
    """The exception that ended a training."""

    type: str
    message: str
    traceback: str = Field(title="Stack", description="The calls that led there, as Python prints them.")


class RunDetail(Wire):
    """Everything about one run that fits on one screen."""

    row: RunRow
    meaning: str = Field(description="What its state means, in words.")
    next: str = Field(description="The command or line that comes next.")
    command: str = Field(description="How to name this run in a command.")
    stopped_by: str
    failure: FailureRow | None = Field(description="The exception that ended its last attempt, where one is known.")
    identity: dict[str, Any]
    config: dict[str, Any]
    attempts: list[AttemptRow]
    steps: StepsFacts
    collections: list[CollectionRow]
    telling: list[TellingRow]
    damage: list[DamageRow]
    overlay: str = Field(description="The overlay that corrected its labels, or nothing.")
    previews: bool = Field(description="Whether there are pictures of its samples.")
    statistics: list[str] = Field(description="Which statistics its tensors have.")


class RunAnnotations(Wire):
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


class RunComparison(Wire):
    """Several runs side by side; their curves come as Arrow."""

    runs: list[RunRow]
    commands: list[str] = Field(description="How to name each of the runs in a command.")
    config: list[ConfigDifference]
    scalars: list[ScalarRow]


class DifferenceRow(Wire):
    """A figure before and after: the change with a 95 % interval, and the p of a paired test."""

    before: Number
    after: Number
    change: Number
    low: Number
    high: Number
    p: Number


class FlipRow(Wire):
    """A sample on which two models differ."""

    sample: str
    row: int
    flip: str = Field(description="`worse` or `better`; without classes which way the loss went.")
    score: Number
    reason: str
    label: str | None
    before: str | None
    after: str | None
    loss_change: Number
    preview: bool


class SliceRow(Wire):
    """A slice and what became of it."""

    slice: str
    count: int
    worse: int
    better: int
    before: Number
    after: Number
    change: Number
    p: Number
    found: bool


class RegionRow(Wire):
    """A place on the map where flips lie more densely than elsewhere."""

    flip: str
    x: Number
    y: Number
    width: Number
    height: Number
    count: int
    flips: int
    expected: Number
    p: Number
    found: bool


class FlipsAnswer(Wire):
    """Two models on the same samples. `flips` has the first 500 of `total`, those that got worst first."""

    before: str
    after: str
    evaluation_before: int
    evaluation_after: int
    count: int
    subsets: list[str] = Field(description="What is compared: held-out subsets, unless there are none.")
    counts: dict[str, int] | None
    accuracy: DifferenceRow | None
    loss: DifferenceRow | None
    flips: list[FlipRow]
    total: int
    slices: list[SliceRow]
    regions: list[RegionRow] | None
    words: list[str]
    notes: list[str]
