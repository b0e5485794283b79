"""Which method's heat maps hold up best for the model of an evaluation: asked once of a few samples, and kept."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import Any

import numpy as np

from cutaway.analysis.heat_maps.choosing import IN_TURN, MethodChoice, choose_method
from cutaway.analysis.population.asking_model import encoded_samples, loss_and_labels, output_of
from cutaway.analysis.samples import SUBSET, Samples
from cutaway.analysis.samples.held_out import judged_rows
from cutaway.analysis.samples.origin import Origin
from cutaway.errors import EvaluationError
from cutaway.evaluation.progress import Listener
from cutaway.evaluation.reopening import Sample
from cutaway.run.analyses import JOINT, AnalysisName, read_arrays, write_arrays

__all__ = ["choice_of", "kept_choice"]

# Counted up when the same question is answered otherwise.
VERSION = 1
COMPARED = 12


def choice_of(
    origin: Origin,
    samples: Samples,
    *,
    loss: bool = False,
    baseline: str | float | None = None,
    seed: int = 0,
    progress: Listener | None = None,
) -> MethodChoice:
    """Return the method that is taken where nobody names one; what was kept in the run at once."""
    kept = kept_choice(origin, loss=loss, baseline=baseline)
    if kept is not None:
        return kept
    reopened = origin.reopened()
    encoded = _encoded(origin, samples)
    named, labels = loss_and_labels(origin, encoded) if loss else (None, None)
    found = choose_method(
        reopened.model,
        reopened.batch(encoded),
        output=output_of(origin, reopened),
        loss=named,
        labels=labels,
        baseline=baseline,
        seed=seed,
        progress=progress,
    )
    key = _key(origin, loss=loss, baseline=baseline)
    write_arrays(origin.evaluation, _name(key), {}, {"key": key, "choice": asdict(found)})
    return found


def kept_choice(origin: Origin, *, loss: bool = False, baseline: str | float | None = None) -> MethodChoice | None:
    """Return what was chosen before; None where nothing was."""
    key = _key(origin, loss=loss, baseline=baseline)
    held = read_arrays(origin.evaluation, _name(key), key)
    return None if held is None else _choice(held[1].get("choice"))


def _choice(told: Any) -> MethodChoice | None:
    """Return a choice from its document; None for one that is damaged, which is made anew."""
    try:
        figures = {str(name): float(value) for name, value in dict(told["figures"]).items()}
        reasons = tuple(str(one) for one in told["reasons"])
        found = MethodChoice(str(told["method"]), int(told["samples"]), figures, reasons)
    except (KeyError, TypeError, ValueError):
        return None
    return found if found.method in IN_TURN and (not figures or found.method in figures) else None


def _encoded(origin: Origin, samples: Samples) -> list[Sample]:
    """Encode a few samples; one that cannot be had any more, or has changed, is left out."""
    found, rows = list[Sample](), _rows(samples)
    for row in rows:
        try:
            found += encoded_samples(origin, samples, [row])
        except EvaluationError:
            if row == rows[-1] and not found:
                raise
    return found


def _rows(samples: Samples) -> list[int]:
    """Return a few rows from all over the held-out samples; from all over everything where nothing is held out."""
    usable = samples.finite if samples.finite.any() else np.ones(len(samples), np.bool_)
    rows = np.flatnonzero(judged_rows(samples.table[SUBSET], usable))
    rows = rows if len(rows) else np.flatnonzero(usable)
    places = np.linspace(0, len(rows) - 1, min(COMPARED, len(rows))).round().astype(np.int64)
    return [int(row) for row in rows[places]]


def _name(key: str) -> AnalysisName:
    return AnalysisName(JOINT, f"heat_maps_choice_{key[:16]}")


def _key(origin: Origin, **asked: Any) -> str:
    whole = repr((VERSION, origin.evaluation.source.key, origin.answer.prediction, sorted(asked.items())))
    return hashlib.sha256(whole.encode()).hexdigest()
