"""Which candidates are corrected, and how: only as many as the calibrated scores vouch for. Pure; writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cutaway.errors import ConfigurationError, did_you_mean

__all__ = ["ACTIONS", "PRECISION", "Choice", "Decision", "choose", "count_accepted"]

ACTIONS = ("relabel", "drop", "reweight")
PRECISION = 0.95
"""Of the accepted corrections at least this share is expected to be right."""


@dataclass(frozen=True)
class Decision:
    """What is done about one sample: `relabel` it as `label`, `drop` it, or `reweight` it to `weight`.

    `score` is the probability that its label is wrong; None where a person decided.
    """

    sample: str
    action: str
    label: str | None = None
    weight: float | None = None
    score: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Choice:
    """Decisions, out of how many candidates, and how many of them are expected to be wrong."""

    decisions: tuple[Decision, ...]
    candidates: int
    expected_wrong: float = 0.0
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.decisions)


def count_accepted(scores: npt.ArrayLike, precision: float = PRECISION) -> int:
    """Return how many of the scores, from the highest on, have a mean of at least `precision`.

    Scores are probabilities, so that their mean is the share that is expected to be right. It falls with every further
    one, so that the last that keeps it is the only place to stop.

    >>> count_accepted([0.5, 0.99, 0.95]), count_accepted([0.9, 0.2]), count_accepted([])
    (2, 0, 0)
    """
    ordered = np.sort(np.asarray(scores, np.float64))[::-1]
    ordered = ordered[np.isfinite(ordered)]
    if not ordered.size:
        return 0
    running = np.cumsum(ordered) / np.arange(1, ordered.size + 1)
    # A mean that is the bound itself must not fail by the last digit of a sum.
    return int((running >= precision - 1e-12).sum())


def choose(
    table: pa.Table, *, subsets: Sequence[str] = ("training",), precision: float = PRECISION, action: str = "relabel"
) -> Choice:
    """Return the decisions about a table of mislabeled candidates (sample, score, reason, subset, label, suggested).

    Of the samples of `subsets`, those with the highest scores are taken as long as the mean of the scores is at least
    `precision`. `relabel` takes the suggested label, `drop` leaves the sample out, `reweight` makes it count as much
    as its label is likely to be right.
    """
    if action not in ACTIONS:
        raise ConfigurationError(
            f"There is no action {action!r}.{did_you_mean(action, ACTIONS)} There are {', '.join(ACTIONS)}."
        )
    if not 0.5 <= precision <= 1:
        raise ConfigurationError(f"`0.5 <= precision <= 1` must hold, but got {precision=}.")
    rows = [row for row in table.to_pylist() if row["subset"] in subsets]
    if action == "relabel":
        rows = [row for row in rows if row["suggested"] not in (None, row["label"])]
    rows = sorted(
        (row for row in rows if row["score"] is not None and np.isfinite(row["score"])), key=lambda row: -row["score"]
    )
    taken = rows[: count_accepted([row["score"] for row in rows], precision)]
    decisions = tuple(
        Decision(
            row["sample"],
            action,
            row["suggested"] if action == "relabel" else None,
            round(1 - row["score"], 4) if action == "reweight" else None,
            float(row["score"]),
            row["reason"] or "",
        )
        for row in taken
    )
    wrong = float(sum(1 - row["score"] for row in taken))
    others = sorted({str(row["subset"]) for row in table.select(["subset"]).to_pylist()} - set(subsets))
    notes = (f"Labels of {', '.join(others)} are left alone: they are what is measured with.",) if others else ()
    return Choice(decisions, len(rows), wrong, notes)
