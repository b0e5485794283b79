"""What is systematically wrong, and the tests that keep it from coming back."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cutaway.studio.wire.base import Number, Page, Wire

__all__ = [
    "InsightRow",
    "InsightsAnswer",
    "NewTest",
    "SuggestionRow",
    "Suggestions",
    "TestRow",
    "TestsOfRun",
    "TestsTable",
]


class InsightRow(Wire):
    """One thing that is systematically wrong, with figures, samples that show it, and what to do about it."""

    id: str
    kind: str
    words: str
    severity: Number
    count: int
    share: Number = Field(description="Which part it is of the samples of `subset` that could be meant.")
    subset: str
    where: list[str]
    measure: str
    is_share: bool = Field(description="Whether `inside` and `outside` are shares of samples.")
    sides: Annotated[list[str], Field(min_length=2, max_length=2, description="What `inside` and `outside` are of.")]
    inside: Number
    outside: Number
    low: Number
    high: Number
    p: Number
    action: str
    buys: str
    samples: list[str] = Field(description="At most 12, those that show it best first.")
    previews: bool
    test: str | None = Field(description="The line of a test that would keep it from coming back; null where none can.")


class InsightsAnswer(Wire):
    """The insights of an evaluation, the gravest first. `made` is false where they were not looked for yet."""

    evaluation: int
    made: bool
    insights: list[InsightRow]
    notes: list[str]


class SuggestionRow(Wire):
    """A sample whose label is likely wrong."""

    sample: str
    row: int
    subset: str
    label: str | None
    suggested: str | None
    score: Number
    reason: str
    preview: bool
    decision: Literal["accepted", "rejected"] | None
    decided_label: str | None


class Suggestions(Page[SuggestionRow]):
    """Suggestions of an evaluation; without any, `analyzed` tells labels that are fine from labels never looked at."""

    analyzed: bool


class NewTest(Wire):
    """A test to add: its line, such as `accuracy where label = 4 at least 0.95`, or conditions to make one of."""

    line: str = Field(default="", max_length=2000)
    where: list[Annotated[str, Field(max_length=2000)]] = Field(default_factory=list, max_length=50)
    name: str = Field(default="", max_length=200)
    why: str = Field(default="", max_length=2000)
    insight: bool = False


class TestRow(Wire):
    """A test and what became of it on one run. `value` is what the slice reaches, with its 95 % interval."""

    __test__ = False

    name: str
    line: str
    why: str
    insight: bool
    verdict: Literal["passed", "failed", "not judged"]
    reason: str
    value: Number
    low: Number
    high: Number
    samples: int


class TestsOfRun(Wire):
    """The tests of a run on one of its evaluations."""

    __test__ = False

    run: str
    name: str
    evaluation: int | None
    tests: list[TestRow]
    error: str = Field(description="Why they could not be run on this run; empty where they could.")


class TestsTable(Wire):
    """The same tests on several runs, those of the first run's file."""

    __test__ = False

    runs: list[TestsOfRun]
