"""Says why a label is suspected, and what all of them come to. Computes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from cutaway.analysis.labels.calibrating import Calibrated
from cutaway.analysis.labels.evidence import Evidence

__all__ = ["HOOK", "reason_of", "words_of"]

# From this score on a candidate is called very likely; pairs are counted from the second on.
VERY_LIKELY, LIKELY = 0.95, 0.5
# So many pairs of labels are told.
MOST_PAIRS = 5

HOOK = (
    "The training was not watched, so that only the latent vectors{held_out} speak. To find more, train with "
    "`hook = cutaway.torch.Hook(folder); hook.register_module(model); hook.register_loss(criterion)`, tell it "
    "`hook.set_samples(ids)` of each batch, and evaluate into that run."
)
"""How to get evidence from a training that nobody watched."""


def reason_of(row: int, evidence: Evidence, names: Sequence[str]) -> str:
    """Return in a line what speaks for or against the label of a sample."""
    said = []
    votes, visits = evidence.votes, evidence.visits
    asked, other = int(votes.asked[row]), int(votes.other[row])
    if asked:
        own = int(votes.own[row])
        said.append(
            f"{int(votes.others[row])} of its {asked} nearest are {names[other]!r}, {own} have its label"
            if other >= 0
            else f"all of its {asked} nearest have its label"
        )
    if visits is not None and visits.count[row]:
        count, wrong = int(visits.count[row]), int(visits.wrong[row])
        said.append(
            f"in {wrong} of {count} visits the model preferred another class"
            if wrong
            else f"the model preferred its label in all of {count} visits"
        )
    if evidence.ridge[row] == evidence.ridge[row]:
        verdict = "against" if evidence.ridge[row] < 0 else "for"
        said.append(f"a linear fit without it is {verdict} its label by {abs(evidence.ridge[row]):.2f}")
    if evidence.held_out[row] == evidence.held_out[row]:
        verdict = "against" if evidence.held_out[row] < 0 else "for"
        said.append(f"held out, the model is {verdict} its label by {abs(evidence.held_out[row]):.2f}")
    return "; ".join(said)


def words_of(table: pa.Table, whole: Calibrated) -> tuple[str, ...]:
    """Return how many labels are expected to be wrong, how many candidates are sure, and which pairs are frequent."""
    scores = np.asarray(table["score"].to_numpy(), np.float64)
    sure, likely = int((scores >= VERY_LIKELY).sum()), int((scores >= LIKELY).sum())
    lines = [
        f"About {scores.sum():,.0f} of {len(scores):,} labels are expected to be wrong "
        f"({whole.rate:.2%}, likely {whole.low:.2%} to {whole.high:.2%}).",
        f"{likely:,} are more likely wrong than right, {sure:,} of them with a score of at least {VERY_LIKELY}.",
    ]
    rows = np.flatnonzero(scores >= LIKELY)
    some = table.take(pa.array(rows))
    pairs = Counter(zip(some["label"].to_pylist(), some["suggested"].to_pylist(), strict=True))
    told = [f"{label!r} should be {other!r}: {count:,}" for (label, other), count in pairs.most_common(MOST_PAIRS)]
    if told:
        lines.append(f"Most frequent: {'; '.join(told)}.")
    return tuple(lines)
