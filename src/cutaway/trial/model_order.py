"""The order of a model: that in which its forward calls the layers, where a forward has been seen.

Tensors stay in blocks as a step records them: parameters, gradients, and what layers receive and return. Within each
they go by their layers. Where no forward was seen, all stays in the order in which it was recorded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from cutaway.errors import RunDamaged, RunFormatError
from cutaway.run.identity import Run
from cutaway.run.layout import MODEL_ORDER_FILE
from cutaway.trial.tensor_kinds import GRADIENT, is_passed, layer_of, model_prefix

__all__ = ["ModelOrder", "place_of"]


class ModelOrder:
    """Where the layers of a run's model stand."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._places: dict[str, int] = {}

    def places(self) -> Mapping[str, int]:
        """Return the place of each layer that the forward called; nothing where no forward was seen."""
        if not self._places:
            try:
                listed = (self._run.document(MODEL_ORDER_FILE) or {}).get("forward")
            except (OSError, RunDamaged, RunFormatError):
                listed = None
            names = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
            self._places = {name: place for place, name in enumerate(dict.fromkeys(names))}
        return self._places

    def sorted(self, names: Sequence[str]) -> list[str]:
        """Return the names of tensors in the order of the model."""
        places = self.places()
        if not places:
            return list(names)
        prefix = model_prefix(names)
        return sorted(names, key=lambda name: (_block(name), place_of(layer_of(name, prefix), places)))


def place_of(layer: str, places: Mapping[str, int]) -> float:
    """Return where a layer stands; one that the forward did not call by itself stands with what it lies in.

    >>> place_of("attention.out", {"embedding": 0, "attention": 1}), place_of("unused", {"embedding": 0})
    (1, inf)
    """
    around = [layer[: found.start()] for found in re.finditer(r"[./]", layer)]
    return next((places[name] for name in (layer, *reversed(around)) if name in places), math.inf)


def _block(name: str) -> int:
    return 1 if name.startswith(GRADIENT) else 2 if is_passed(name) else 0
