"""Ranks samples by how likely their label is wrong, from what one ordinary training and its evaluation left behind.

Trains nothing and validates nothing crosswise. Gathers the evidence, has it calibrated, and makes the table of it.
`accepted` says which corrections are safe to make.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cutaway.analysis.labels.calibrating import Calibrated, calibrate
from cutaway.analysis.labels.evidence import HELD_OUT, Evidence, gather
from cutaway.analysis.labels.ridge import WIDEST
from cutaway.analysis.labels.words import HOOK, reason_of, words_of
from cutaway.analysis.neighbours.nearest import Nearest
from cutaway.analysis.samples import LABEL, PREDICTION, SAMPLE, SUBSET, Samples
from cutaway.analysis.samples.coding import Coded, coded, left_out
from cutaway.analysis.samples.ranked import Ranked
from cutaway.arrays import BoolArray, Float64Array, IndexArray
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.evaluation.progress import Listener

__all__ = ["PRECISION", "accepted", "find_mislabeled"]

NAME = "mislabeled samples"
# Where more labels than this share are contradicted, of so many at least, the model is no judge of them.
MOST_AGAINST, FEWEST = 0.5, 20
PRECISION = 0.9
"""How likely right a correction has to be. Of all that are, more than 95 % were right where that could be checked."""


def find_mislabeled(samples: Samples, nearest: Nearest, *, seed: int = 0, progress: Listener | None = None) -> Ranked:
    """Return every sample with a label, the one that is most likely wrong first.

    `score` is the probability that the label is wrong, `suggested` the most likely right one, and `suggested_score` the
    probability that it is. Sum the scores of some samples to know how many of them are expected to be wrong. Where the
    training does not tell how many labels are wrong, both are null, the first line of the words says why, and the
    order is all there is. What speaks for it follows: margins of the label by signal (below 0 speaks against it) and
    what the visits of the training say.
    """
    labels = _labels(samples)
    evidence = gather(samples, nearest, labels, seed=seed, progress=progress)
    margins = evidence.margins
    known = (labels.codes >= 0) & np.isfinite(margins).any(axis=1)
    if not known.any():
        raise AnalysisUnavailable(
            NAME, "no labelled sample has neighbours, a latent vector, recorded visits or held-out probabilities."
        )
    total = np.nansum(margins, axis=1)
    _refuse_no_judge(total[known])
    rows = np.flatnonzero(known)
    whole = _calibrated(samples, evidence, rows, len(labels.names), seed)
    order = rows[np.lexsort((total[rows], -whole.doubt[rows]))]
    table = _table(samples, labels, evidence, whole, order)
    return Ranked(table, words_of(table, whole), _notes(samples, labels, evidence, known))


def _labels(samples: Samples) -> Coded:
    if not samples.has(LABEL):
        raise AnalysisUnavailable(NAME, "these samples have no labels.")
    labels = coded(LABEL, samples.column(LABEL), samples.classes)
    present = np.unique(labels.codes[labels.codes >= 0])
    if len(present) < 2:
        raise AnalysisUnavailable(NAME, f"all labels are {labels.names[present[0]]!r}, and it takes two classes.")
    return labels


def _refuse_no_judge(total: Float64Array) -> None:
    """Refuse where most labels are contradicted: what cannot tell the classes apart is no judge of single labels."""
    against = int((total < 0).sum())
    if len(total) >= FEWEST and against > MOST_AGAINST * len(total):
        raise AnalysisUnavailable(
            NAME,
            f"what the model made of the samples speaks against {against:,} of {len(total):,} labels: it does not tell "
            "these classes apart, so that its doubts about single labels say nothing.",
            hint="Train for longer, or take another latent space with `--layer`.",
        )


def _calibrated(samples: Samples, evidence: Evidence, rows: IndexArray, classes: int, seed: int) -> Calibrated:
    seen = np.full(len(samples), np.nan) if evidence.visits is None else evidence.visits.score_margin
    held_out = np.isin(samples.table[SUBSET].to_numpy(zero_copy_only=False), HELD_OUT)
    found = calibrate(evidence.classwise.take(rows), seen[rows], held_out[rows], classes, seed=seed)
    return found.among(rows, len(samples))


def _table(samples: Samples, labels: Coded, evidence: Evidence, whole: Calibrated, order: IndexArray) -> pa.Table:
    names = labels.names
    margins = evidence.margins[order]
    taken = pa.array(order)
    columns = {
        "sample": samples.table[SAMPLE].take(taken),
        "score": pa.array(whole.scores[order], from_pandas=True),
        "reason": pa.array(
            [reason_of(row, names[labels.codes[row]], evidence, names) for row in order.tolist()], pa.string()
        ),
        "subset": samples.table[SUBSET].take(taken),
        "label": pa.array([names[code] for code in labels.codes[order]], pa.string()),
        "suggested": pa.array(
            [names[code] if code >= 0 else None for code in whole.suggested[order].tolist()], pa.string()
        ),
        "suggested_score": pa.array(whole.suggested_scores[order], from_pandas=True),
        "prediction": samples.table[PREDICTION].take(taken)
        if PREDICTION in samples.table.column_names
        else pa.nulls(len(order), pa.string()),
    }
    for place, name in enumerate(("probability_margin", "neighbour_margin", "ridge_margin", "held_out")):
        columns[name] = pa.array(margins[:, place], from_pandas=True)
    if evidence.visits is not None:
        columns["visits"] = pa.array(evidence.visits.count[order])
        columns["visits_wrong"] = pa.array(evidence.visits.wrong[order])
        columns["forgotten"] = pa.array(evidence.visits.forgotten[order])
    return pa.table(columns)


def _notes(samples: Samples, labels: Coded, evidence: Evidence, known: BoolArray) -> tuple[str, ...]:
    unlabeled = int((labels.codes < 0).sum())
    reasons = {"without a label": unlabeled, "about whose label nothing speaks": int((~known).sum()) - unlabeled}
    notes = list(left_out(len(samples), reasons))
    held_out = bool(np.isfinite(evidence.held_out).any())
    if evidence.visits is None:
        notes.append(HOOK.format(held_out=" and held-out probabilities" if held_out else ""))
    elif not evidence.visits.plain:
        notes.append(
            "The recorded losses are not plain cross-entropy (weighted, smoothed, or another loss), so that "
            "probabilities are taken from the margins alone."
        )
    if samples.latents.shape[1] > WIDEST:
        notes.append(
            f"The linear fit is on {WIDEST:,} random projections of the {samples.latents.shape[1]:,} latent units."
        )
    return tuple(notes)


def accepted(table: pa.Table, precision: float = PRECISION, *, by: str = "score") -> BoolArray:
    """Return which rows of a table of mislabeled candidates to accept: those that are at least so sure.

    How sure is said by a column of probabilities: `score`, that the label is wrong, or `suggested_score`, that the
    suggested one is right.

    >>> accepted(pa.table({"score": [0.99, 0.9, 0.85, 0.2]})).tolist()
    [True, True, False, False]
    """
    if not 0 < precision <= 1:
        raise ConfigurationError(f"`0 < precision <= 1` must hold, but got precision={precision}.")
    # NaN is never accepted.
    return np.asarray(table[by].to_numpy(), np.float64) >= precision
