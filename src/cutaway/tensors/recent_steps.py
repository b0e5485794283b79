"""The last steps of a training, held in memory: what rules inside a hook read. Reads and writes no files."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cutaway.errors import StepUnavailable, TensorUnavailable, TensorUnavailableForStep
from cutaway.tensors.collections import Collections
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.statistics_blocks import Chunks, StatisticsBlock, StatisticsChunk

__all__ = ["HeldStep", "RecentSteps", "TensorRows"]

Array = npt.NDArray[Any]

PHASES = ("data", "forward", "backward", "optimizer")
STATISTICS = ("size", "nonfinite", "zeros", "min", "max", "mean", "std", "l1", "l2", "abs_min", "change")


@dataclass(frozen=True)
class TensorRows:
    """Statistics of some tensors at one step: an entry of every column, and the channels' activity, for each name."""

    names: tuple[str, ...]
    columns: Mapping[str, Array]
    active: Sequence[Sequence[float] | None] | None = None


@dataclass(frozen=True)
class HeldStep:
    """What is held of one step."""

    step: int
    mode: ModeKeys = ModeKeys.GLOBAL
    mode_step: int = 0
    epoch: int | None = None
    time: float = 0.0
    seconds: Mapping[str, float] = field(default_factory=dict)
    samples: Sequence[str | None] | None = None
    statistics: Sequence[TensorRows] = ()
    scalars: Sequence[tuple[str, float]] = ()
    values: Mapping[str, Array] = field(default_factory=dict)


class RecentSteps:
    """A `TensorReader` over the last `most` steps; what is older is let go of, together, when twice as many are held.

    >>> recent = RecentSteps(most=100)
    >>> recent.add(HeldStep(0, ModeKeys.TRAIN, scalars=[("loss", 2.3)]))
    >>> recent.newest_step(), recent.scalar_window("loss", 0, 1)["value"].tolist()
    (0, [2.3])
    """

    def __init__(self, most: int, collections: Collections | None = None) -> None:
        self._most = most
        self._collections = collections or Collections()
        self._steps: dict[int, HeldStep] = {}
        self._chunks = Chunks()

    def add(self, held: HeldStep) -> None:
        """Take in a step, the newest so far, or more of one that is held already."""
        earlier = self._steps.get(held.step)
        self._steps[held.step] = held if earlier is None else _joined(earlier, held)
        for rows in held.statistics:
            if rows.names:
                self._chunks.add(_chunk(held.step, rows))
        if len(self._steps) >= 2 * self._most:
            kept = list(self._steps.items())[-self._most :]
            self._steps = dict(kept)
            self._chunks.drop_before(kept[0][0])

    def tensor_names(self, *, regex: str | None = None, collection: str | None = None) -> list[str]:
        """Return the names of the tensors of the held steps, sorted."""
        saved = {name for step in self._steps.values() for name in step.values}
        names = self._chunks.names() | saved
        if regex is not None:
            names = {name for name in names if re.search(regex, name)}
        if collection is not None:
            names = {name for name in names if self._collections.get(collection).matches(name)}
        return sorted(names)

    def newest_step(self) -> int:
        """Return the last step, or -1."""
        return max(self._steps, default=-1)

    def steps(self, mode: ModeKeys = ModeKeys.GLOBAL) -> list[int]:
        """Return the held steps at which tensors were kept; in a mode its own numbers."""
        held = [step for step in self._steps.values() if step.values]
        if mode is ModeKeys.GLOBAL:
            return sorted(step.step for step in held)
        return sorted(step.mode_step for step in held if step.mode is mode)

    def mode(self, global_step: int) -> ModeKeys:
        """Return the mode of a held step."""
        return self._held(global_step).mode

    def step_window(self, start: int, stop: int) -> dict[str, Array]:
        """Return one entry per held step with `start <= step < stop`."""
        held = self._within(start, stop)
        columns: dict[str, Array] = {
            "step": np.array([one.step for one in held], np.int64),
            "mode": np.array([one.mode.name for one in held], object),
            "mode_step": np.array([one.mode_step for one in held], np.int64),
            "epoch": np.array([-1 if one.epoch is None else one.epoch for one in held], np.int64),
            "time": np.array([one.time for one in held], np.float64),
        }
        for phase in PHASES:
            columns[phase] = np.array([one.seconds.get(phase, np.nan) for one in held], np.float64)
        return columns

    def statistics_window(self, tensor: str, start: int, stop: int) -> dict[str, Array]:
        """Return the columns of one tensor's statistics for `start <= step < stop`."""
        if tensor not in self._chunks.names():
            raise TensorUnavailable(tensor, known=self.tensor_names())
        blocks = self.statistics_blocks([tensor], start, stop)
        if not blocks:
            return {"step": np.empty(0, np.int64), **{name: np.empty(0) for name in STATISTICS}}
        return {"step": blocks[0].steps.copy(), **{name: blocks[0][name][0].copy() for name in STATISTICS}}

    def statistics_blocks(
        self, tensors: Collection[str], start: int, stop: int, *, before: int = 0, mode: ModeKeys = ModeKeys.GLOBAL
    ) -> list[StatisticsBlock]:
        """Return the statistics of many tensors for `start <= step < stop` as dense matrices."""
        return self._chunks.blocks(tensors, start, stop, before, self._in_mode(mode))

    def scalar_names(self) -> list[str]:
        """Return the names of the scalars of the held steps, sorted."""
        return sorted({name for step in self._steps.values() for name, _ in step.scalars})

    def scalar_window(self, name: str, start: int, stop: int, mode: ModeKeys = ModeKeys.GLOBAL) -> dict[str, Array]:
        """Return the columns `step` and `value` of a scalar for `start <= step < stop`."""
        rows = [
            (one.step, value)
            for one in self._within(start, stop)
            if mode in (ModeKeys.GLOBAL, one.mode)
            for found, value in one.scalars
            if found == name
        ]
        steps, values = [step for step, _ in rows], [value for _, value in rows]
        return {"step": np.array(steps, np.int64), "value": np.array(values, np.float64)}

    def value(self, tensor: str, step: int) -> Array:
        """Return the tensor itself, where it is held."""
        found = self._held(step).values.get(tensor)
        if found is None:
            raise TensorUnavailableForStep(tensor, step, has_reductions=tensor in self._chunks.names())
        return found.copy()

    def samples(self, step: int) -> Sequence[str | None] | None:
        """Return the ids of the samples in a held step's batch."""
        return self._held(step).samples

    def _held(self, step: int) -> HeldStep:
        if step not in self._steps:
            raise StepUnavailable(step)
        return self._steps[step]

    def _within(self, start: int, stop: int) -> list[HeldStep]:
        return [self._steps[step] for step in sorted(self._steps) if start <= step < stop]

    def _in_mode(self, mode: ModeKeys) -> Callable[[npt.NDArray[np.int64]], npt.NDArray[np.bool_]] | None:
        if mode is ModeKeys.GLOBAL:
            return None
        steps = self._steps
        return lambda asked: np.array([one in steps and steps[one].mode is mode for one in asked.tolist()], bool)


def _joined(earlier: HeldStep, held: HeldStep) -> HeldStep:
    return HeldStep(
        earlier.step,
        earlier.mode,
        earlier.mode_step,
        earlier.epoch,
        earlier.time,
        {**earlier.seconds, **held.seconds},
        earlier.samples if held.samples is None else held.samples,
        [*earlier.statistics, *held.statistics],
        [*earlier.scalars, *held.scalars],
        {**earlier.values, **held.values},
    )


def _chunk(step: int, rows: TensorRows) -> StatisticsChunk:
    def column(name: str) -> Array:
        return np.asarray(rows.columns[name], np.float64)[None, :]

    def active(place: int) -> list[Sequence[float] | None]:
        return [None if rows.active is None else rows.active[place]]

    return StatisticsChunk(rows.names, np.array([step], np.int64), column, active)
