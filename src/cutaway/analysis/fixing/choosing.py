"""Which candidates are corrected, and how: only as many as the calibrated scores vouch for. Pure; writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.labels import accepted
from cutaway.errors import AnalysisUnavailable, ConfigurationError, refuse_unknown

__all__ = ["ACTIONS", "DOUBTFUL", "PRECISION", "Choice", "Decision", "choose"]

ACTIONS = ("relabel", "drop", "reweight")
# Of a subset at most this share is corrected.
MOST_SHARE = 0.5
HELD_OUT = ("validation", "test")
PRECISION = 0.95
"""Of the accepted corrections at least this share is expected to be right."""
DOUBTFUL = 0.15
"""From this score on a label that is not corrected is in doubt: a network learns less of it than it costs."""


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
    """Decisions, out of how many candidates, and of how many corrections are expected to be wrong."""

    decisions: tuple[Decision, ...]
    candidates: int
    expected_wrong: float = 0.0
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.decisions)


def choose(
    table: pa.Table,
    *,
    subsets: Sequence[str] = ("training",),
    precision: float = PRECISION,
    action: str = "relabel",
    doubtful: float = 1.0,
    samples: int | None = None,
) -> Choice:
    """Return the decisions about a table of mislabeled candidates (sample, score, reason, subset, label, suggested).

    Of the samples of `subsets`, those with the highest scores are taken as long as the mean of the scores is at least
    `precision`. `relabel` takes the suggested label, `drop` leaves the sample out, `reweight` makes it count as much
    as its label is likely to be right. Where labels are corrected, samples that are not sure enough for that and have a
    score of at least `doubtful` are dropped; 1 keeps them all. Of `samples`, how many those subsets have, at most half
    are corrected: where more labels seem wrong, labels and model do not belong together, and the scores are not to be
    believed.
    """
    refuse_unknown("action", action, ACTIONS)
    if not 0.5 <= precision <= 1:
        raise ConfigurationError(f"`0.5 <= precision <= 1` must hold, but got {precision=}.")
    if not 0 < doubtful <= 1:
        raise ConfigurationError(f"`0 < doubtful <= 1` must hold, but got {doubtful=}.")
    wanted = [
        row["subset"] in subsets and (action != "relabel" or row["suggested"] not in (None, row["label"]))
        for row in table.select(["subset", "label", "suggested"]).to_pylist()
    ]
    candidates = table.filter(pa.array(wanted, pa.bool_()))
    taken = candidates.filter(pa.array(accepted(candidates, precision))).sort_by([("score", "descending")])
    if samples is not None and len(taken) > MOST_SHARE * samples:
        raise AnalysisUnavailable(
            "fix",
            f"{len(taken):,} of {samples:,} labels of {' and '.join(subsets)} seem wrong.",
            hint=(
                "A model that disagrees with so many is no judge of them: look at `cutaway analyze RUN mislabeled`, "
                "and decide with `--from`."
            ),
        )
    decisions = tuple(_decision(row, action) for row in taken.to_pylist())
    expected = sum(1 - (one.score or 0.0) for one in decisions)
    if action == "relabel":
        decisions += _dropped(table, subsets, doubtful, {one.sample for one in decisions})
    notes = _notes(subsets, [one for one in HELD_OUT if one in table["subset"].to_pylist()])
    return Choice(decisions, candidates.num_rows, expected, notes)


def _dropped(table: pa.Table, subsets: Sequence[str], doubtful: float, taken: set[str]) -> tuple[Decision, ...]:
    """Return the samples that are too doubtful to learn from, and not sure enough to be corrected."""
    if doubtful == 1:
        return ()
    likely = table.filter(pc.greater_equal(table["score"], doubtful)).sort_by([("score", "descending")])
    rows = [row for row in likely.to_pylist() if row["subset"] in subsets and row["sample"] not in taken]
    return tuple(_decision(row, "drop") for row in rows)


def _notes(subsets: Sequence[str], held_out: Sequence[str]) -> tuple[str, ...]:
    changed = [one for one in held_out if one in subsets]
    left = [one for one in held_out if one not in subsets]
    notes = [f"Labels of {' and '.join(left)} are left alone: they are what is measured with."] if left else []
    if changed:
        notes.append(f"Labels of {' and '.join(changed)} are corrected too: what is measured with changes.")
    return tuple(notes)


def _decision(row: dict[str, Any], action: str) -> Decision:
    score = float(row["score"])
    label = row["suggested"] if action == "relabel" else None
    weight = round(1 - score, 4) if action == "reweight" else None
    return Decision(row["sample"], action, label, weight, score, row["reason"] or "")
