"""The model of an evaluation: what it says of itself, else what the run says of it, and what it says to a file.

The bytes of a file that somebody sent are looked at in the worker alone; here its answer becomes rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cutaway.errors import CutawayError
from cutaway.run.evaluations import LATENT
from cutaway.run.sources import ModelSource, SpaceSource
from cutaway.studio.answers.errors import Refusal, presentable
from cutaway.studio.populations import Loaded
from cutaway.studio.previews import SamplePreviews
from cutaway.studio.samples.asking import heat_map_row, visual_row
from cutaway.studio.samples.classes import class_rows
from cutaway.studio.samples.similar import similar_rows
from cutaway.studio.wire.models import ModelDetail, ModelFile, ModelLayer, ModelState, ModelTensor, Tried
from cutaway.studio.workers.pool import State, Workers

__all__ = ["model_detail", "model_state", "try_file"]

# A run may name anything; a page shows this much of it.
_LONGEST_NAME = 200


def model_state(state: State) -> ModelState:
    """Return how the worker of a model is, as it travels."""
    return ModelState(state=state.state, reason=presentable(state.reason), seconds=state.seconds)


def model_detail(workers: Workers, loaded: Loaded, run_id: str) -> ModelDetail:
    """Return the model of an evaluation; where it cannot be opened, `notes` say why."""
    source = loaded.evaluation.source
    about = source.model
    try:
        found = workers.ask(run_id, loaded.number, "model", {}).value
    except (CutawayError, Refusal) as error:
        if isinstance(error, Refusal) and error.code not in ("read-only", "worker-ended", "too-slow"):
            raise
        why = f"{error.error} {error.hint}" if isinstance(error, Refusal) else str(error)
        found = {"notes": [f"The model is not opened, so its layers are not known. {why}".strip()]}
    latent = source.spaces.get(LATENT, SpaceSource()).layer
    upload_note = found.get("upload_note")
    notes = [*found.get("notes", []), *found.get("binding_notes", []), *([upload_note] if upload_note else [])]
    return ModelDetail(
        evaluation=loaded.number,
        format=str(found.get("format") or about.kept_format or about.format),
        inputs=[ModelTensor(**one) for one in found.get("inputs", [])],
        outputs=[ModelTensor(**one) for one in found.get("outputs", [])],
        layers=[ModelLayer(**one, parameters=None, latent=one["name"] == latent) for one in found.get("layers", [])],
        files=_files(loaded, about),
        differentiable=str(found.get("differentiable", "")),
        limits=found.get("limits", []),
        training={**_noted_facts(about.about), **found.get("training", {})},
        uploads=found.get("uploads", []),
        notes=[presentable(one) for one in notes],
    )


def _files(loaded: Loaded, about: ModelSource) -> list[ModelFile]:
    """Return the model's files, by name alone: where one lies on the server is nobody's business."""
    found = []
    digest = about.sha256
    path = loaded.evaluation.kept_model
    if path is not None:
        name, kind = path.name[:_LONGEST_NAME], about.kept_format or about.format
        found.append(ModelFile(name=name, format=kind, bytes=_bytes(path), kept=path.exists(), digest=digest))
    if about.file:
        name = Path(about.file).name[:_LONGEST_NAME]
        found.append(ModelFile(name=name, format=about.format, bytes=None, kept=False, digest=digest))
    return found


def _bytes(path: Path) -> int | None:
    try:
        if path.is_dir():
            return sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
        return path.stat().st_size
    except OSError:
        return None


def _noted_facts(about: Mapping[str, Any]) -> dict[str, str]:
    """Return what the evaluation noted of the model beside its file."""
    left_out = {"file", "sha256", "kept", "kept_format", "kept_notes", "format"}
    return {
        name: str(value)[:2000]
        for name, value in about.items()
        if name not in left_out and isinstance(value, str | int | float)
    }


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
