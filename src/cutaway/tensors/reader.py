"""How code that looks at tensors reads them, whether the run is on disk or still in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from cutaway.tensors.modes import ModeKeys

__all__ = ["TensorReader"]


@runtime_checkable
class TensorReader(Protocol):
    """What a trial and a live hook both offer, so that one rule serves during training and afterwards.

    Steps are global steps unless a mode is named. A reader may know less than the run: a live hook answers for the
    last steps that it still holds, a trial for all that were written. What it lists it can read; what it does not
    list it refuses with the errors of `cutaway.errors`, never with a guess. Calls may come from any one thread at a
    time; arrays that come back belong to the caller. While a run grows, the same call may later list more, never
    less, except for what a live hook let go of.
    """

    def tensor_names(self, *, regex: str | None = None, collection: str | None = None) -> Sequence[str]:
        """Return the names of all tensors, or of those that a regex or a collection selects, sorted."""

    def steps(self, mode: ModeKeys = ModeKeys.GLOBAL) -> Sequence[int]:
        """Return the steps of a mode, ascending; in GLOBAL the global steps of all modes."""

    def mode(self, global_step: int) -> ModeKeys:
        """Return the mode that a step was taken in."""

    def statistics_window(self, tensor: str, start: int, stop: int) -> Mapping[str, NDArray[Any]]:
        """Return the columns of a tensor's statistics for `start <= step < stop`, ascending in `step`.

        The columns are `step` and those of the run's statistics table: size, nonfinite, zeros, min, max, mean, std,
        l1, l2, abs_min and change (NaN where there is none). Steps without statistics are absent.
        """

    def value(self, tensor: str, step: int) -> NDArray[Any]:
        """Return the tensor itself, where it was saved at that step; else `TensorUnavailableForStep`."""

    def samples(self, step: int) -> Sequence[str | None] | None:
        """Return the ids of the samples in the step's batch, None for unknown ones, or None where none are known."""
