"""Keeps a copy of a live model beside the samples that it was evaluated on, and says where that cannot be done."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from cutaway import registry
from cutaway.arrays import Array
from cutaway.errors import CutawayError
from cutaway.evaluation.subject import Subject
from cutaway.run.evaluations import Evaluation

__all__ = ["keep_model"]

log = logging.getLogger("cutaway.evaluation")

COST = "Heat maps and other questions to the model will need it to be given again."


def keep_model(subject: Subject, evaluation: Evaluation, batch: Mapping[str, Array]) -> dict[str, Any]:
    """Return what `source.json` says of the copy of a live model: where it lies, or why there is none.

    `batch` is one that the model takes, by the names of its inputs.
    """
    if subject.live is None:
        return {}
    package = _package_of(subject.live)
    if package is None:
        return _not_kept(f"nobody knows how to export a {type(subject.live).__name__}.")
    try:
        kept = registry.load("model_keepers", package)(subject.live, dict(batch), evaluation.path)
    except (CutawayError, OSError) as error:
        return _not_kept(str(error))
    if kept.path is None:
        return _not_kept(kept.reason)
    return {"kept": kept.path.name, "kept_format": kept.format, "kept_notes": list(kept.notes)}


def _not_kept(reason: str) -> dict[str, Any]:
    log.warning("No copy of the model was kept: %s %s", reason, COST)
    return {"kept": None, "not_kept": f"{reason} {COST}"}


def _package_of(live: object) -> str | None:
    """The package of the nearest class of an object whose models can be kept."""
    known = registry.names("model_keepers")
    packages = (kind.__module__.partition(".")[0] for kind in type(live).__mro__)
    return next((package for package in packages if package in known), None)
