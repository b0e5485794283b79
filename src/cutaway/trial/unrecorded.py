"""Which saved tensors have no statistics: what must be computed from their values, by worker and step.

Reads names and steps, no values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cutaway.tensors.statistics_blocks import Chunks
from cutaway.trial.saved_tensors import SavedTensors, SavedTensorsPart

__all__ = ["Unrecorded"]


class Unrecorded:
    """What was saved in full at steps that recorded no statistics of it, and was not taken yet."""

    def __init__(self) -> None:
        self._seen = 0  # parts looked at
        self._by_worker: dict[str, dict[int, list[str]]] = {}

    def note(self, saved: SavedTensors, recorded: Mapping[str, Chunks]) -> None:
        """Look at what has been saved since the last time; the statistics of its steps must be there."""
        fresh = saved.parts(self._seen)
        self._seen += len(fresh)
        for part in fresh:
            self._note(part, recorded.get(part.worker, Chunks()))

    def take(self, names: Collection[str], stop: int) -> dict[str, dict[int, list[str]]]:
        """Return, once, those of some tensors at steps before `stop`: by worker and step, ascending."""
        wanted = frozenset(names)
        found: dict[str, dict[int, list[str]]] = {}
        for worker, steps in self._by_worker.items():
            for step in sorted(step for step in steps if step < stop):
                own = [name for name in steps[step] if name in wanted]
                if own:
                    found.setdefault(worker, {})[step] = own
                    steps[step] = [name for name in steps[step] if name not in wanted]
                    if not steps[step]:
                        del steps[step]
        return found

    def _note(self, part: SavedTensorsPart, recorded: Chunks) -> None:
        missing: dict[tuple[int, ...], list[str]] = {}  # of steps that saved and recorded alike
        for step, names in part.in_full():
            holding = recorded.holding(step)
            alike = (id(names), *map(id, holding))
            if alike not in missing:
                known = {name for chunk in holding for name in chunk.names}
                missing[alike] = [name for name in names if name not in known]
            if missing[alike]:
                steps = self._by_worker.setdefault(part.worker, {})
                steps[step] = [*steps.get(step, ()), *missing[alike]]
