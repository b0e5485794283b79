"""Which candidates are corrected, and how: only as many as the calibrated scores vouch for. Pure; writes nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.fixing.expecting import Expected, expected_gain
from cutaway.analysis.labels import PRECISION, accepted
from cutaway.errors import AnalysisUnavailable, ConfigurationError, refuse_unknown
from cutaway.wording import counted

__all__ = ["ACTIONS", "DOUBTFUL", "PRECISION", "Choice", "Decision", "choose"]

ACTIONS = ("relabel", "drop", "reweight")
# Of a subset at most this share is corrected.
MOST_SHARE = 0.5
HELD_OUT = ("validation", "test")
# Where labels are corrected, what is dropped may be wrong so many times less often.
DROPPED_SURER = 4
DOUBTFUL = 0.15
"""From this score on a label is in doubt, and worth a look."""
UNSCORED = (
    "No label has a score: how many are wrong cannot be told from this training. `cutaway analyze RUN mislabeled` says "
    "why, and lists first what is worth a look."
)


@dataclass(frozen=True)
class Decision:
    """What is done about one sample: `relabel` it as `label`, `drop` it, or `reweight` it to `weight`.

    `score` is the probability that this is right; None where a person decided.
    """

    sample: str
    action: str
    label: str | None = None
    weight: float | None = None
    score: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Choice:
    """Decisions out of how many candidates, and what is expected of them; None where a person decided.

    Where no gain is expected nothing is decided: `expected` then says of what.
    """

    decisions: tuple[Decision, ...]
    candidates: int
    expected: Expected | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.decisions)


def choose(
    table: pa.Table,
    *,
    subsets: Sequence[str] = ("training",),
    precision: float = PRECISION,
    action: str = "relabel",
    samples: int | None = None,
    decided: Collection[str] = (),
) -> Choice:
    """Return the decisions about a table of mislabeled candidates, as `Population.mislabeled` returns it.

    Of the samples of `subsets`, those are taken whose label is wrong with a probability of at least `precision`.
    `relabel` takes the suggested label where that is as sure to be right, and leaves a sample out where only its
    label's being wrong is, and even surer; `drop` leaves all of them out, `reweight` makes each count as much as its
    label is likely to be right. Samples that a person `decided` on are left as they are. Nothing is changed at all
    where no gain is to be expected of it. Of `samples`, how many those subsets have, at most half are changed: where
    more labels seem wrong, labels and model do not belong together, and the scores are not to be believed.
    """
    refuse_unknown("action", action, ACTIONS)
    if not 0.5 <= precision <= 1:
        raise ConfigurationError(f"`0.5 <= precision <= 1` must hold, but got {precision=}.")
    asked = np.isin(table["subset"].to_pylist(), list(subsets))
    stands = np.isin(table["sample"].to_pylist(), list(decided))
    candidates = table.filter(pa.array(asked & ~stands))
    relabelled = _sure_suggestions(candidates, precision) if action == "relabel" else candidates.slice(0, 0)
    left = candidates.filter(pc.invert(pc.is_in(candidates["sample"], relabelled["sample"].combine_chunks())))
    # What is left when sure suggestions are taken is the less certain part, and a dropped sample is lost.
    surely = 1 - (1 - precision) / DROPPED_SURER if action == "relabel" else precision
    left_out = left.filter(pa.array(accepted(left, surely)))
    _refuse_too_many(relabelled.num_rows + left_out.num_rows, samples, subsets)
    decisions = [
        *(
            Decision(row["sample"], "relabel", row["suggested"], None, row["suggested_score"], row["reason"] or "")
            for row in _ranked(relabelled, "suggested_score")
        ),
        *(_without(row, "drop" if action == "relabel" else action) for row in _ranked(left_out, "score")),
    ]
    expected = expected_gain(pa.concat_tables([relabelled, left_out]), decisions, samples or candidates.num_rows)
    notes = _notes(subsets, [one for one in HELD_OUT if one in table["subset"].to_pylist()])
    if candidates.num_rows and candidates["score"].null_count == candidates.num_rows:
        notes = (UNSCORED, *notes)
    spared = int((asked & stands).sum())
    if spared:
        stay = "stays" if spared == 1 else "stay"
        notes = (f"{counted(spared, 'sample')} that people decided on {stay} as decided.", *notes)
    return Choice(tuple(decisions) if expected.is_gain else (), candidates.num_rows, expected, notes)


def _sure_suggestions(candidates: pa.Table, precision: float) -> pa.Table:
    """Return the candidates that another label than their own is surely right for."""
    # A null is unequal to nothing, and is left out.
    others = candidates.filter(pc.not_equal(candidates["suggested"], candidates["label"]))
    return others.filter(pa.array(accepted(others, precision, by="suggested_score")))


def _ranked(table: pa.Table, by: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.sort_by([(by, "descending")]).to_pylist()
    return rows


def _without(row: dict[str, Any], action: str) -> Decision:
    score = float(row["score"])
    weight = round(1 - score, 4) if action == "reweight" else None
    return Decision(row["sample"], action, None, weight, score, row["reason"] or "")


def _refuse_too_many(count: int, samples: int | None, subsets: Sequence[str]) -> None:
    if samples is None or count <= MOST_SHARE * samples:
        return
    raise AnalysisUnavailable(
        "fix",
        f"{count:,} of {samples:,} labels of {' and '.join(subsets)} seem wrong.",
        hint=(
            "A model that disagrees with so many is no judge of them: look at `cutaway analyze RUN mislabeled`, "
            "and decide with `--from`."
        ),
    )


def _notes(subsets: Sequence[str], held_out: Sequence[str]) -> tuple[str, ...]:
    changed = [one for one in held_out if one in subsets]
    left = [one for one in held_out if one not in subsets]
    notes = [f"Labels of {' and '.join(left)} are left alone: they are what is measured with."] if left else []
    if changed:
        notes.append(f"Labels of {' and '.join(changed)} are corrected too: what is measured with changes.")
    return tuple(notes)
