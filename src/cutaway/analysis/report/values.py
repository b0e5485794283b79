"""What a report is made of: plain values that somebody gathered. Reads nothing and draws nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from cutaway.analysis.population.result import AnalysisResult
from cutaway.run.findings import Finding

__all__ = ["Drawn", "Fix", "Head", "ReportContent", "ReportSeries", "ReportTest", "Score"]


@dataclass(frozen=True)
class Head:
    """What stands at the top: the name of the run, a word for its state, and facts in the order of their interest.

    `health` is a sentence about the training; `errors` and `warnings` are how many findings it counts.
    """

    name: str
    state: str = ""
    facts: Sequence[tuple[str, str]] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    health: str = ""
    verdict: str = ""
    errors: int = 0
    warnings: int = 0


@dataclass(frozen=True)
class Score:
    """How one subset did: its share of right answers, or mean loss, with a 95 % interval (NaN where there is none)."""

    subset: str
    samples: int
    failed: int
    what: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Drawn:
    """A figure as PNG; `part` is the analysis that it belongs to. `reason` where it could not be drawn."""

    part: str
    title: str
    caption: str
    png: bytes = b""
    reason: str = ""


@dataclass(frozen=True)
class ReportSeries:
    """A number of the training over its steps; None where nothing was recorded."""

    name: str
    mode: str
    values: Sequence[float | None]
    first: float
    last: float
    step: int


@dataclass(frozen=True)
class ReportTest:
    """One test on a slice and how it went: `outcome` is passed, failed, or a word for what came between."""

    test: str
    outcome: str
    words: str


@dataclass(frozen=True)
class Fix:
    """One overlay of the run: what was corrected, in words and by kind."""

    name: str
    words: str
    rows: Sequence[tuple[str, str, str]] = ()


@dataclass(frozen=True)
class ReportContent:
    """All that a report may tell. What is empty is left out; `missing` says of what else is not there, why.

    `previews` are pictures of samples by id, PNG from anybody: each is checked before it is shown.
    """

    head: Head
    scores: Sequence[Score] = ()
    findings: Sequence[Finding] = ()
    parts: Sequence[AnalysisResult] = ()
    previews: Mapping[str, bytes] = field(default_factory=dict)
    figures: Sequence[Drawn] = ()
    series: Sequence[ReportSeries] = ()
    tests: Sequence[ReportTest] = ()
    fixes: Sequence[Fix] = ()
    damage: Sequence[str] = ()
    missing: Sequence[tuple[str, str]] = ()
    limits: Sequence[str] = ()

    def part(self, analysis: str) -> AnalysisResult | None:
        """Return the part of one analysis, where it applies and has something to say."""
        found = next((one for one in self.parts if one.analysis == analysis), None)
        return None if found is None or found.reason else found

    def table(self, analysis: str) -> pa.Table | None:
        """Return the first table of that part; None where it has none."""
        part = self.part(analysis)
        return None if part is None else next(iter(part.tables.values()), None)
