"""What the evaluations of a run come to: how each subset did, and the samples with the largest loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pyarrow as pa

from cutaway.errors import EvaluationError
from cutaway.run.evaluations import Evaluation, evaluations
from cutaway.run.identity import Run
from cutaway.run.sources import SubsetSource

__all__ = ["EvaluationFacts", "HardSample", "evaluation_facts"]

HARDEST = 5
LOSS, TRUTH, PREDICTION = "loss", "ground_truth.", "prediction."


class HardSample(NamedTuple):
    """A sample with a large loss: what it is, and what it was taken for, where classes have names."""

    id: str | None
    loss: float
    truth: str | None
    prediction: str | None


@dataclass(frozen=True)
class EvaluationFacts:
    """One evaluation in a few values. Only of the newest finished one `hardest` is known, or why it is not."""

    number: int
    epoch: int | None
    state: str
    subsets: Mapping[str, SubsetSource]
    hardest: tuple[HardSample, ...] | None = None
    unreadable: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as JSON values."""
        return {
            "evaluation": self.number,
            "epoch": self.epoch,
            "state": self.state,
            "subsets": {
                name: {"samples": one.samples or 0, "failed": one.failed, "means": dict(one.means)}
                for name, one in self.subsets.items()
            },
            **({} if self.hardest is None else {"hardest": [one._asdict() for one in self.hardest]}),
            **({"unreadable": self.unreadable} if self.unreadable else {}),
        }


def evaluation_facts(run: Run) -> list[EvaluationFacts]:
    """Return each evaluation in a few values; of the newest one also its hardest samples."""
    found = evaluations(run)
    facts = [_facts_of(one) for one in found]
    newest = next((i for i in reversed(range(len(found))) if found[i].finished), None)
    if newest is not None:
        try:
            facts[newest] = replace(facts[newest], hardest=_hardest_samples(found[newest]))
        except EvaluationError as error:
            # What is left of the run is told all the same.
            facts[newest] = replace(facts[newest], unreadable=str(error))
    return facts


def _facts_of(evaluation: Evaluation) -> EvaluationFacts:
    source = evaluation.source
    return EvaluationFacts(evaluation.number, source.epoch, source.state or "damaged", source.subsets)


def _hardest_samples(evaluation: Evaluation) -> tuple[HardSample, ...]:
    """The largest losses of all subsets, with what the sample is and what it was taken for where classes have names."""
    import pyarrow.compute as pc  # few runs are evaluated

    found: list[HardSample] = []
    for subset in evaluation.subsets:
        for piece in evaluation.pieces(subset, ("id", LOSS, TRUTH, PREDICTION)):
            if LOSS not in piece.column_names:
                continue
            if not (pa.types.is_floating(piece[LOSS].type) and pa.types.is_string(piece["id"].type)):
                # A run may come from anybody.
                raise EvaluationError(
                    f"The table of {subset!r} is not as Cutaway writes it: id holds {piece['id'].type} and loss "
                    f"{piece[LOSS].type}.",
                    hint="Evaluate again.",
                )
            finite = piece.filter(pc.is_finite(piece[LOSS]))
            top = finite.take(pc.select_k_unstable(finite, HARDEST, sort_keys=[(LOSS, "descending")]))
            found += [_hard_sample(row) for row in top.select(_without_arrays(top.column_names)).to_pylist()]
        found = sorted(found, key=lambda one: -one.loss)[:HARDEST]
    return tuple(found)


def _without_arrays(names: Sequence[str]) -> list[str]:
    return [name for name in names if name in ("id", LOSS) or name.endswith(".label")]


def _hard_sample(row: dict[str, Any]) -> HardSample:
    def label(kind: str) -> str | None:
        return next((str(value) for name, value in row.items() if name.startswith(kind) and value is not None), None)

    return HardSample(row["id"], row[LOSS], label(TRUTH), label(PREDICTION))
