"""Tries a model with a file that somebody sent: the worker decodes it and asks, here its answer becomes rows.

The bytes are looked at in the worker alone.
"""

from __future__ import annotations

import numpy as np

from cutaway.studio.answers.errors import Refusal, presentable
from cutaway.studio.populations import Loaded
from cutaway.studio.previews import SamplePreviews
from cutaway.studio.samples.asking import heat_map_row, visual_row
from cutaway.studio.samples.classes import class_rows
from cutaway.studio.samples.similar import similar_rows
from cutaway.studio.wire.models import Tried
from cutaway.studio.workers.pool import Workers

__all__ = ["try_file"]


def try_file(
    workers: Workers, loaded: Loaded, previews: SamplePreviews, *, run_id: str, body: bytes, name: str, target: str
) -> Tried:
    """Return what the model of an evaluation says to a file."""
    if not body:
        raise Refusal(400, "no-file", "There is no file in the body.", "Send a PNG, a JPEG or a `.npy` array.")
    found = workers.ask(run_id, loaded.number, "try", {"body": body, "name": name, "target": target}).value
    likely = np.array(found["scores"], np.float64) if found["scores"] else None
    heat = found["heat_map"]
    return Tried(
        prediction=found["prediction"],
        classes=class_rows(tuple(found["classes"]), likely, None, target or None),
        outputs=found["outputs"],
        input=visual_row(found["input"]),
        heat_map=None if heat is None else heat_map_row(heat),
        similar=[] if found["similar"] is None else similar_rows(loaded, previews, found["similar"]),
        notes=[presentable(one) for one in found["notes"]],
    )
