"""Says why a label is suspected, and what all of them come to. Computes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from cutaway.analysis.figures.words import sentence
from cutaway.analysis.labels.calibrating import Calibrated
from cutaway.analysis.labels.evidence import Evidence, Votes
from cutaway.wording import counted

__all__ = ["HOOK", "SUSPICIOUS", "reason_of", "suspicion", "words_of"]

SUSPICIOUS = 0.5
"""From this score on a label is probably wrong, and called suspicious."""
# So many pairs of labels are told.
MOST_PAIRS = 5

HOOK = (
    "The training was not watched, so that only the latent vectors{held_out} speak. To find more, train with "
    "`hook = cutaway.torch.Hook(folder); hook.register_module(model); hook.register_loss(criterion)`, tell it "
    "`hook.set_samples(ids)` of each batch, and evaluate into that run."
)
"""How to get evidence from a training that nobody watched."""


def reason_of(row: int, label: str, evidence: Evidence, names: Sequence[str]) -> str:
    """Return in a line what speaks for or against the label of a sample."""
    said = [_votes(row, label, evidence.votes, names)]
    visits = evidence.visits
    if visits is not None and visits.count[row]:
        count, wrong = int(visits.count[row]), int(visits.wrong[row])
        said.append(
            f"in {wrong} of {count} visits the model preferred another class"
            if wrong
            else f"the model preferred its label in all of {count} visits"
        )
    margins = (
        (evidence.ridge[row], "a classifier trained without it"),
        (evidence.held_out[row], "held out, the model"),
    )
    for margin, who in margins:
        if np.isfinite(margin):
            verdict = "agrees" if margin >= 0 else "also disagrees" if any(said) else "disagrees"
            said.append(f"{who} {verdict} (margin {abs(margin):.2f})")
    return "; ".join(one for one in said if one)


def _votes(row: int, label: str, votes: Votes, names: Sequence[str]) -> str:
    asked, other, own = int(votes.asked[row]), int(votes.other[row]), int(votes.own[row])
    if not asked:
        return ""
    if other < 0:
        return f"all {asked} neighbours share its label, {label}"
    share = "none shares" if not own else "only 1 shares" if own == 1 else f"{own} share"
    return f"{int(votes.others[row])} of {asked} neighbours are labelled {names[other]}; {share} its label, {label}"


def suspicion(count: int, expected: float) -> str:
    """Say how many labels are suspicious, and how many of these are wrong by their scores.

    >>> suspicion(334, 277.6)
    '334 suspicious labels; expect about 278 to be wrong'
    """
    if not count:
        return "no suspicious label"
    return f"{counted(count, 'suspicious label')}; expect about {expected:,.0f} to be wrong"


def words_of(table: pa.Table, whole: Calibrated) -> tuple[str, ...]:
    """Return how many labels are suspicious and how many wrong, and which pairs are frequent; or why nobody knows."""
    if whole.reason:
        return (
            sentence(f"How many labels are wrong cannot be said: {whole.reason}"),
            "No label has a score. Those that the evidence speaks against most come first.",
        )
    scores = np.asarray(table["score"].to_numpy(), np.float64)
    suspicious = scores[scores >= SUSPICIOUS]
    lines = [
        sentence(suspicion(len(suspicious), suspicious.sum())),
        f"Of all {counted(len(scores), 'label')}, about {whole.rate * len(scores):,.0f} are expected to be wrong "
        f"({whole.rate:.2%}, likely {whole.low:.2%} to {whole.high:.2%}).",
    ]
    some = table.take(pa.array(np.flatnonzero(scores >= SUSPICIOUS)))
    pairs = Counter(zip(some["label"].to_pylist(), some["suggested"].to_pylist(), strict=True))
    told = [f"{label!r} should be {other!r}: {count:,}" for (label, other), count in pairs.most_common(MOST_PAIRS)]
    if told:
        lines.append(f"Most frequent: {'; '.join(told)}.")
    return tuple(lines)
