"""Capture that a NaN triggers: which collections are saved when a tensor stops being finite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from cutaway.capture.statistics_batch import Part
from cutaway.tensors.save_config import SaveConfig

__all__ = ["NanWatch"]


class NanWatch:
    """The collections with `save_when_nan`, and the tensors that each of them looks at. False where there are none."""

    def __init__(self, by_config: Mapping[SaveConfig, set[str]]) -> None:
        self._watching = [(config, names) for config, names in by_config.items() if config.when_nan]
        self._by_tensor: dict[str, frozenset[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._watching)

    def due(self, tensor: str) -> frozenset[str]:
        """Return the collections that are saved when this tensor is not finite."""
        found = self._by_tensor.get(tensor)
        if found is None:
            found = frozenset().union(*(names for config, names in self._watching if config.watches(tensor)))
            self._by_tensor[tensor] = found
        return found

    def due_after(self, parts: Iterable[Part]) -> frozenset[str]:
        """Return the collections that are saved because of what these statistics count as not finite."""
        sick = (part.names[int(i)].as_py() for part in parts for i in np.flatnonzero(part.columns["nonfinite"]))
        return frozenset().union(*map(self.due, sick))
