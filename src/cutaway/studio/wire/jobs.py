"""Work that takes longer than a click: what can be started, how far it is, and what it wrote."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from cutaway.studio.wire.base import Number, Wire

__all__ = ["JobKind", "JobLog", "JobRow", "JobState", "NewJob"]

JobKind = Literal["analyze", "evaluate", "compare"]
JobState = Literal["waiting", "running", "finished", "failed", "cancelled", "lost"]


class NewJob(Wire):
    """Work to start on a run. `evaluate` asks the model of an earlier evaluation about its data set once more."""

    kind: JobKind
    run: str = Field(max_length=200)
    evaluation: int | None = Field(default=None, ge=0, description="The last finished one by default.")
    what: str = Field(default="", max_length=100, description="For analyze: one analysis; all that apply where empty.")
    other: str = Field(default="", max_length=200, description="For compare: the run that it is compared with.")


class JobRow(Wire):
    """A job: what it does, how far it is, and how it ended."""

    id: str
    kind: JobKind
    run: str
    run_name: str
    what: str
    evaluation: int | None = Field(default=None, description="Which evaluation was asked for; null for the last one.")
    other: str = Field(default="", description="For compare: the run that it is compared with.")
    state: JobState
    stage: str
    done: int
    total: int | None
    unit: str
    rate: Number = Field(description="How many a second.")
    eta: Number = Field(description="Seconds that are left at this rate.")
    created: Number
    ended: Number
    error: str
    hint: str
    command: str = Field(description="The command that does the same in a terminal.")


class JobLog(Wire):
    """What a job wrote: lines from `offset` on; `next` is where to go on."""

    lines: list[str]
    next: int
    ended: bool
