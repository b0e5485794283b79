"""How code that looks at tensors reads them, whether the run is on disk or still in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, runtime_checkable

from cutaway.arrays import Array
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.statistics_blocks import StatisticsBlock

__all__ = ["TensorReader"]


@runtime_checkable
class TensorReader(Protocol):
    """What a trial and a live hook both offer, so that one rule serves during training and afterwards.

    Steps are global steps unless a mode is named. A reader may know less than the run: a live hook answers for the
    last steps that it still holds, a trial for all that were written. What it lists it can read; what it does not
    list it refuses with the errors of `cutaway.errors`, never with a guess. Calls may come from any one thread at a
    time; arrays that come back belong to the caller, those of a block to all who asked for it. While a run grows, the
    same call may later list more, never less, except for what a live hook let go of.
    """

    def tensor_names(self, *, regex: str | None = None, collection: str | None = None) -> Sequence[str]:
        """Return the names of all tensors, or of those that a regex or a collection selects, sorted."""

    def newest_step(self) -> int:
        """Return the last step that is complete, or -1."""

    def steps(self, mode: ModeKeys = ModeKeys.GLOBAL) -> Sequence[int]:
        """Return the steps of a mode at which tensors were saved, ascending; GLOBAL means the steps of all modes."""

    def mode(self, global_step: int) -> ModeKeys:
        """Return the mode that a step was taken in."""

    def step_window(self, start: int, stop: int) -> Mapping[str, Array]:
        """Return one entry per recorded step with `start <= step < stop`, ascending.

        The columns are `step`, `mode` (its name), `mode_step`, `epoch` (-1 where unknown), `time` (seconds since 1970)
        and the seconds of the phases `data`, `forward`, `backward` and `optimizer` (NaN where unknown).
        """

    def statistics_window(self, tensor: str, start: int, stop: int) -> Mapping[str, Array]:
        """Return the columns of a tensor's statistics for `start <= step < stop`, ascending in `step`.

        The columns are `step` and those of the run's statistics table: size, nonfinite, zeros, min, max, mean, std,
        l1, l2, abs_min and change (since the step before; NaN where it is not known). Where a step recorded none but
        the tensor was saved in full, they are computed from its values; steps that have neither are absent.
        """

    def statistics_blocks(
        self, tensors: Collection[str], start: int, stop: int, *, before: int = 0, mode: ModeKeys = ModeKeys.GLOBAL
    ) -> Sequence[StatisticsBlock]:
        """Return what `statistics_window` says of many tensors for `start <= step < stop` as dense matrices, each
        tensor in one.

        `before` adds up to so many earlier steps of each tensor in front, `mode` leaves the steps of other modes out.
        """

    def scalar_names(self) -> Sequence[str]:
        """Return the names of what was saved as single numbers, sorted."""

    def scalar_window(self, name: str, start: int, stop: int, mode: ModeKeys = ModeKeys.GLOBAL) -> Mapping[str, Array]:
        """Return the columns `step` and `value` of a scalar for `start <= step < stop`, ascending in `step`."""

    def value(self, tensor: str, step: int) -> Array:
        """Return the tensor itself, where it was saved at that step; else `TensorUnavailableForStep`."""

    def samples(self, step: int) -> Sequence[str | None] | None:
        """Return the ids of the samples in the step's batch, None for unknown ones, or None where none are known."""

    def samples_window(self, start: int, stop: int) -> Sequence[Sequence[str | None] | None]:
        """Return what `samples` says of each step of `step_window(start, stop)`, in one go."""
