"""What a model says of itself, as values, and which files can be tried with it."""

from __future__ import annotations

from typing import Any

from cutaway.arrays import Array
from cutaway.dataset.enums import DatasetInputType
from cutaway.dataset.functions import Field
from cutaway.evaluation.reopening import Reopened
from cutaway.evaluation.wiring import first_sample
from cutaway.models import Model, TensorSpec

__all__ = ["described", "image_axes", "uploads_of"]

# A page lists layers, it does not scroll through a hundred thousand.
_MOST_LAYERS = 5_000
_LONGEST = 2_000


def described(model: Model) -> dict[str, Any]:
    """Return the description of a model as values."""
    about = model.description
    training = {"loss": about.training.loss, "optimizer": about.training.optimizer}
    said = {name: str(value)[:_LONGEST] for name, value in training.items() if value}
    if about.training.metrics:
        said["metrics"] = ", ".join(about.training.metrics)[:_LONGEST]
    notes = list(about.notes)
    if len(about.layers) > _MOST_LAYERS:
        notes.append(f"The first {_MOST_LAYERS:,} of {len(about.layers):,} layers are listed.")
    return {
        "format": about.format,
        "inputs": [_spec(one) for one in about.inputs],
        "outputs": [_spec(one) for one in about.outputs],
        "layers": [
            {"name": one.name, "kind": one.kind, "shape": list(one.shape or ())} for one in about.layers[:_MOST_LAYERS]
        ],
        "differentiable": about.differentiable,
        "limits": list(model.limits),
        "training": said,
        "notes": notes,
    }


def uploads_of(reopened: Reopened) -> dict[str, Any]:
    """Return which kinds of files can be tried, and where none can, why."""
    inputs = reopened.dataset.inputs
    if len(inputs) != 1:
        return {"uploads": [], "upload_note": f"The model takes {len(inputs)} inputs at once, and a file is one."}
    values = first_sample(reopened.dataset).inputs[inputs[0].name]
    if inputs[0].type == DatasetInputType.Text or values.dtype.kind not in "fiub" or _is_tokens(values):
        return {"uploads": [], "upload_note": "The model takes numbers of words, which only its binding can make."}
    uploads = ["npy"] if image_axes(inputs[0], values) is None else ["image", "npy"]
    return {"uploads": uploads, "upload_note": ""}


def image_axes(field: Field, values: Array) -> tuple[int, int, int | None] | None:
    """Return the axes of rows, columns and colours of an encoded image; None where it is none.

    >>> import numpy as np
    >>> image_axes(Field("image"), np.zeros((8, 9, 3))), image_axes(Field("image", channel_dim=1), np.zeros((1, 8, 8)))
    ((0, 1, 2), (1, 2, 0))
    """
    if values.ndim == 2:
        return (0, 1, None) if min(values.shape) > 3 else None
    if values.ndim != 3:
        return None
    # `channel_dim` counts with the batch axis; -1 is the last either way.
    order = ((1, 2, 0), (0, 1, 2)) if field.channel_dim in (0, 1) else ((0, 1, 2), (1, 2, 0))
    for rows, columns, colours in order:
        if values.shape[colours] in (1, 3) and min(values.shape[rows], values.shape[columns]) > 1:
            return rows, columns, colours
    return None


def _is_tokens(values: Array) -> bool:
    return values.ndim == 1 and values.dtype.kind in "iu"


def _spec(spec: TensorSpec) -> dict[str, Any]:
    return {"name": spec.name, "shape": list(spec.shape), "dtype": spec.dtype}
