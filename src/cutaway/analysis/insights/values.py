"""`Insight`: one thing that is systematically wrong, in words and figures. Computes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cutaway.arrays import BoolArray

__all__ = ["ALARMS", "INFORMS", "KINDS", "Insight", "Insights"]

KINDS = (
    "low-performance",
    "overfitting",
    "mislabeled-samples",
    "data-leakage",
    "domain-gap",
    "out-of-distribution",
    "duplication",
    "ambiguous",
    "metadata-explains-loss",
)
"""Every kind of insight."""
INFORMS = frozenset({"ambiguous", "metadata-explains-loss"})
"""Kinds that explain and do not accuse: a data set without any fault may have them."""
ALARMS = 0.005
"""Of data without any fault, each kind of insight is found in at most this share."""


@dataclass(frozen=True)
class Insight:
    """One thing that is systematically wrong with a model or its data.

    `words` say it, `action` says what to do about it, and `buys` how much that would buy at most. `where` are
    conditions that `parse_filter` reads back; they are empty where no condition says which samples are meant, and
    `rows` always do. `count` is how many these are. `subset` names the subsets that they are in, and `share` is their
    part of the samples of these subsets that could be meant: for low performance, overfitting and metadata that
    explains loss those with an outcome, for mislabeled samples those with a label, for all other kinds every one.

    `severity` ranks from 0 to 1; what only explains comes last. For kinds about performance it is the share of all
    error or loss of the judged samples that would be gone if these did as well as others of the same classes, and a
    twentieth of that for what names no cause: a class, a cluster, a prediction, overfitting as a whole. For
    `domain-gap` it is what the other subset's mix would save, but at least a twentieth of the distance between the
    subsets, or all of it where nothing is judged. For other kinds about data it is five times the share of samples
    concerned (once for `ambiguous`; of wrong labels so many as are expected).

    `inside` and `outside` are `measure` on the two `sides`, a share of samples where `is_share`; `low` and `high` hold
    `inside` less `outside` with 95 % certainty, before one knows that it was chosen for being large. `p` is corrected
    for all that was looked at; of a slice it is the larger one of the search and of the halves of the samples that did
    not choose it. NaN stands for what a kind does not have. `also` names what was found in other ways and says the
    same.

    | kind | `measure` | `inside` | `outside` |
    |---|---|---|---|
    | low-performance | error, or mean loss | judged samples of the slice | all other judged samples |
    | overfitting | the same | held-out samples (of the region) | training samples (of the region) |
    | metadata-explains-loss | the same | the end of the column that does worse | the other end |
    | domain-gap | what differs most | the subset | the subset that it is held against |
    | domain-gap of a slice | error, or mean loss | judged samples of the slice | all other judged samples |
    | mislabeled-samples | wrong labels | expected wrong ones, of all labels | none |
    """

    kind: str
    words: str
    rows: BoolArray = field(compare=False, repr=False)
    sample: str = ""
    severity: float = 0.0
    where: tuple[str, ...] = ()
    subset: str = ""
    share: float = float("nan")
    measure: str = ""
    inside: float = float("nan")
    outside: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    p: float = float("nan")
    action: str = ""
    buys: str = ""
    also: tuple[str, ...] = ()
    sides: tuple[str, str] = ("these", "elsewhere")
    is_share: bool = False
    evidence: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def count(self) -> int:
        """How many samples it is about."""
        return int(self.rows.sum())

    @property
    def effect(self) -> float:
        """How much larger `measure` is inside than outside; NaN where it has only one of the two."""
        return self.inside - self.outside


@dataclass(frozen=True)
class Insights:
    """Insights, the gravest first; `notes` say which kinds were not looked for and why, and what was left out."""

    insights: tuple[Insight, ...] = ()
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Insight]:
        return iter(self.insights)

    def __len__(self) -> int:
        return len(self.insights)

    def __getitem__(self, place: int) -> Insight:
        return self.insights[place]

    def of(self, kind: str) -> tuple[Insight, ...]:
        """Return those of one kind."""
        return tuple(one for one in self.insights if one.kind == kind)
