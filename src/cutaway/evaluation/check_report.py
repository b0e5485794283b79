"""What a check of a binding found: one row for each function, and every conclusion as a `Finding`. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from cutaway.run.findings import Finding

__all__ = ["CAUSES", "CheckReport", "CheckRow", "CheckStatus"]

# Causes before what follows from them: the first of these is what to repair first.
CAUSES = (
    "binding-entry",
    "binding-preprocess",
    "binding-subset-missing",
    "binding-subset-empty",
    "binding-no-input",
    "binding-declared",
    "binding-no-ground-truth",
    "binding-raises",
    "binding-timeout",
    "binding-shape",
    "binding-dtype",
    "binding-nan",
    "binding-infinite",
    "binding-constant",
    "binding-range",
    "binding-range-differs",
    "binding-random",
    "binding-order",
    "binding-label-width",
    "binding-label-range",
    "binding-label-values",
    "binding-one-class",
    "binding-class-absent",
    "binding-conflict",
    "binding-leak",
    "binding-imbalance",
    "binding-duplicates",
    "binding-missing-values",
    "binding-metadata-type",
    "binding-metadata-constant",
    "binding-slow",
    "model-none",
    "model-missing",
    "model-unreadable",
    "model-unsafe",
    "model-input",
    "model-output",
    "model-predict",
    "model-not-finite",
    "model-labels",
    "model-logits",
    "function-wiring",
    "function-raises",
    "function-timeout",
    "function-shape",
    "function-not-finite",
    "function-logits",
    "model-guesses",
)
# Of a finding, to a program: neither when it was found nor by whom.
TOLD = ("code", "severity", "message", "where", "evidence")


class CheckStatus(StrEnum):
    """How a function came out of the check. What could not be tried because of something else is skipped."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"


@dataclass(frozen=True)
class CheckRow:
    """One bound function, or one part of the binding, and how it came out.

    `seconds` is the time of one sample; `note` says in a few words what was seen, or why it was skipped.
    """

    name: str
    kind: str
    status: CheckStatus = CheckStatus.PASS
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    seconds: float | None = None
    note: str = ""


@dataclass(frozen=True)
class CheckReport:
    """What a check found.

    `findings` have the causes before what follows from them, errors first. `subsets` says how many samples each has,
    `looked_at` how many of them every function was called on, `compared` how many were compared with each other.
    `prints` is what the binding printed, cut where it was too much. `sample_seconds` is how long all encoders and
    metadata of one sample take. Of the `seconds` in all, `import_seconds` went into executing the entry file and
    `model_seconds` into loading the model, framework and all.
    """

    rows: tuple[CheckRow, ...]
    findings: tuple[Finding, ...]
    subsets: Mapping[str, int] = field(default_factory=dict)
    looked_at: Mapping[str, int] = field(default_factory=dict)
    compared: Mapping[str, int] = field(default_factory=dict)
    classes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    prints: str = ""
    entry: str = ""
    model: str = ""
    notes: tuple[str, ...] = ()
    sample_seconds: float = 0.0
    import_seconds: float = 0.0
    model_seconds: float = 0.0
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether nothing failed; warnings are no failure."""
        return all(one.severity != "error" for one in self.findings)

    @property
    def first(self) -> Finding | None:
        """The diagnosis to begin with: the first cause among the worst findings. None where there is nothing."""
        return self.findings[0] if self.findings else None

    def count(self, status: CheckStatus) -> int:
        """How many rows came out so."""
        return sum(row.status is status for row in self.rows)

    def of(self, severity: str) -> list[Finding]:
        """Return the findings of a severity, causes first."""
        return [one for one in self.findings if one.severity == severity]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for `--json`."""
        return {
            "valid": self.ok,
            "entry": self.entry,
            "model": self.model,
            "subsets": dict(self.subsets),
            "looked_at": dict(self.looked_at),
            "compared": dict(self.compared),
            "classes": {name: dict(counts) for name, counts in self.classes.items()},
            "functions": [
                {**vars(row), "status": str(row.status), "shape": None if row.shape is None else list(row.shape)}
                for row in self.rows
            ],
            "findings": [{name: getattr(one, name) for name in TOLD} for one in self.findings],
            "notes": list(self.notes),
            "prints": self.prints,
            "sample_seconds": self.sample_seconds,
            "import_seconds": self.import_seconds,
            "model_seconds": self.model_seconds,
            "seconds": self.seconds,
        }
