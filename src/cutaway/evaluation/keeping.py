"""Keeps a copy of a live model beside the samples that it was evaluated on, and says where that cannot be done."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from cutaway import registry
from cutaway.dataset.subset import Array
from cutaway.evaluation.subject import Subject
from cutaway.run.evaluations import Evaluation

__all__ = ["keep_model"]

log = logging.getLogger("cutaway.evaluation")

COST = "Heat maps and other questions to the model will need it to be given again."


def keep_model(subject: Subject, evaluation: Evaluation, example: Mapping[str, Array]) -> dict[str, Any]:
    """Return what `source.json` says of the copy of a live model: where it lies, or why there is none."""
    if subject.live is None:
        return {}
    return {"kept": None, "not_kept": f"no way to export it is known. {COST}"}
