"""Keeps a copy of a live Keras model that can be asked later: a `.keras` file, or the reason why there is none.

The copy is opened by our own reader and asked for a prediction before it counts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cutaway.frameworks.keras.files import open_keras
from cutaway.frameworks.keras.model import wrap
from cutaway.models.backend import Arrays
from cutaway.models.description import KeptModel

__all__ = ["keep"]

# What compiled and plain arithmetic may differ by, beside the largest value.
_CLOSE = 1e-4


def keep(model: Any, batch: Arrays, folder: Path) -> KeptModel:
    """Write a copy of a model into a folder. `batch` is by name, as the model's inputs are.

    Never raises for a model that cannot be saved: `reason` then says why.
    """
    folder.mkdir(parents=True, exist_ok=True)
    draft, path = folder / "unproven.keras", folder / "model.keras"
    try:
        model.save(draft)
        wanted = wrap(model).predict(batch)
        copy = open_keras(draft, trust=False, custom_layers={})
        try:
            got = copy.predict(batch)
        finally:
            copy.close()
    except Exception as error:  # noqa: BLE001 - a model's own code may raise anything, and must not end anything
        lines = str(error).strip().splitlines() or ["no message"]
        reason = f"{type(model).__name__} cannot be saved and read again. {type(error).__name__}: {lines[0][:300]}"
        return KeptModel(None, reason=reason)
    else:
        wrong = [name for name, values in wanted.items() if not _same(got.get(name), values)]
        if wrong:
            return KeptModel(None, reason=f"The saved copy answers {wrong[0]!r} otherwise than the model does.")
        return KeptModel(draft.replace(path), "keras")
    finally:
        draft.unlink(missing_ok=True)


def _same(got: Any, wanted: Any) -> bool:
    if got is None or got.shape != wanted.shape:
        return False
    largest = max(float(np.abs(wanted).max(initial=0)), 1e-30)
    return bool(np.abs(got.astype(np.float64) - wanted).max(initial=0) <= _CLOSE * largest)
