"""The last steps of a training, held in memory: what rules inside a hook read. Reads and writes no files."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import accumulate, groupby

import numpy as np

from cutaway.arrays import Array, BoolArray, Int64Array
from cutaway.errors import (
    ConfigurationError,
    StepUnavailable,
    TensorUnavailable,
    TensorUnavailableForStep,
    did_you_mean,
)
from cutaway.tensors.collection import Collection as TensorCollection
from cutaway.tensors.collections import PARAMETERS, Collections
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.statistics_blocks import Chunks, StatisticsBlock, StatisticsChunk, columns_of_one
from cutaway.tensors.value_statistics import change_between, chunks_of_values, statistics_of_value

__all__ = ["HeldStep", "RecentSteps", "TensorRows"]


PHASES = ("data", "forward", "backward", "optimizer")


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

    def joined(self, more: HeldStep) -> HeldStep:
        """Return the step with what came later of it."""
        return replace(
            self,
            seconds={**self.seconds, **more.seconds},
            samples=self.samples if more.samples is None else more.samples,
            statistics=[*self.statistics, *more.statistics],
            scalars=[*self.scalars, *more.scalars],
            values={**self.values, **more.values},
        )


class RecentSteps:
    """A `TensorReader` over the last `most` steps; older ones are let go of together, when a quarter more are held.

    >>> recent = RecentSteps(most=100)
    >>> recent.add(HeldStep(0, ModeKeys.TRAIN, scalars=[("loss", 2.3)]))
    >>> recent.newest_step(), recent.scalar_window("loss", 0, 1)["value"].tolist()
    (0, [2.3])
    """

    def __init__(self, most: int, collections: Collections | None = None) -> None:
        self._most = most
        self._collections = collections or Collections()
        self._steps: dict[int, HeldStep] = {}
        self._scalars: dict[str, list[tuple[int, float, ModeKeys]]] = {}
        self._chunks = Chunks()
        # Statistics that nobody has read yet: steps that come together are read as one chunk.
        self._unread: list[tuple[int, Sequence[TensorRows]]] = []
        self._unread_values: list[HeldStep] = []
        self._known: set[tuple[str, ...]] = set()
        self._named: dict[tuple[str | None, str | None], list[str]] = {}

    def add(self, held: HeldStep) -> None:
        """Take in a step, the newest so far, or more of one that is held already."""
        earlier = self._steps.get(held.step)
        self._steps[held.step] = held if earlier is None else earlier.joined(held)
        rows = [one for one in held.statistics if one.names]
        if rows:
            self._unread.append((held.step, rows))
        if held.values:
            self._unread_values.append(held)
        for names in [*(one.names for one in rows), tuple(held.values)]:
            if names not in self._known:
                self._known.add(names)
                self._named.clear()
        self.add_scalars(held.step, held.mode, held.scalars)
        if len(self._steps) > self._most + self._most // 4:
            self._let_go()

    def add_scalars(self, step: int, mode: ModeKeys, scalars: Iterable[tuple[str, float]]) -> None:
        """Take in numbers of a step, which need not be held."""
        for name, value in scalars:
            self._scalars.setdefault(name, []).append((step, value, mode))

    def tensor_names(self, *, regex: str | None = None, collection: str | None = None) -> list[str]:
        """Return the names of the tensors of the held steps, sorted."""
        found = self._named.get((regex, collection))
        if found is None:
            names: Iterable[str] = {name for names in self._known for name in names}
            if regex is not None:
                names = [name for name in names if re.search(regex, name)]
            if collection is not None:
                wanted = self._collection(collection)
                names = [name for name in names if wanted.matches(name)]
            found = self._named[regex, collection] = sorted(names)
        return found.copy()

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
        if not self._has_statistics(tensor):
            raise TensorUnavailable(tensor, known=self.tensor_names())
        return columns_of_one(self.statistics_blocks([tensor], start, stop))

    def statistics_blocks(
        self, tensors: Collection[str], start: int, stop: int, *, before: int = 0, mode: ModeKeys = ModeKeys.GLOBAL
    ) -> list[StatisticsBlock]:
        """Return the statistics of many tensors for `start <= step < stop` as dense matrices."""
        self._read()
        return self._chunks.blocks(tensors, start, stop, before, self._in_mode(mode))

    def scalar_names(self) -> list[str]:
        """Return the names of the scalars of the held steps, sorted."""
        return sorted(self._scalars)

    def scalar_window(self, name: str, start: int, stop: int, mode: ModeKeys = ModeKeys.GLOBAL) -> dict[str, Array]:
        """Return the columns `step` and `value` of a scalar for `start <= step < stop`."""
        rows = [
            (step, value)
            for step, value, own in self._scalars.get(name, ())
            if start <= step < stop and mode in (ModeKeys.GLOBAL, own)
        ]
        # Stable: two values of one step stay in the order of their coming, and late ones find their place.
        rows.sort(key=lambda row: row[0])
        steps, values = [step for step, _ in rows], [value for _, value in rows]
        return {"step": np.array(steps, np.int64), "value": np.array(values, np.float64)}

    def value(self, tensor: str, step: int) -> Array:
        """Return the tensor itself, where it is held."""
        found = self._held(step).values.get(tensor)
        if found is None:
            raise TensorUnavailableForStep(tensor, step, has_reductions=self._has_statistics(tensor))
        return found.copy()

    def samples(self, step: int) -> Sequence[str | None] | None:
        """Return the ids of the samples in a held step's batch."""
        return self._held(step).samples

    def samples_window(self, start: int, stop: int) -> list[Sequence[str | None] | None]:
        """Return the ids of the samples of each held step with `start <= step < stop`."""
        return [held.samples for held in self._within(start, stop)]

    def _held(self, step: int) -> HeldStep:
        if step not in self._steps:
            raise StepUnavailable(step)
        return self._steps[step]

    def _within(self, start: int, stop: int) -> list[HeldStep]:
        return [self._steps[step] for step in sorted(step for step in self._steps if start <= step < stop)]

    def _has_statistics(self, tensor: str) -> bool:
        self._read()
        return tensor in self._chunks.names()

    def _collection(self, name: str) -> TensorCollection:
        if name not in self._collections:
            # Asking for one must not make it: the hook writes down what it has.
            raise ConfigurationError(
                f"There is no collection {name!r}.", hint=did_you_mean(name, self._collections.names)
            )
        return self._collections.get(name)

    def _read(self) -> None:
        """Make chunks of what has come since the last reading: one of all consecutive steps with the same tensors."""
        unread, self._unread = self._unread, []
        for _, group in groupby(unread, key=lambda step_rows: [rows.names for rows in step_rows[1]]):
            self._chunks.add(_chunk(list(group)))
        self._compute()

    def _compute(self) -> None:
        """Make chunks of the statistics of tensors that were held in full without any."""
        unread, self._unread_values = self._unread_values, []
        for held in unread:
            recorded = {name for rows in self._steps[held.step].statistics for name in rows.names}
            missing = {name: value for name, value in held.values.items() if name not in recorded}
            found = {name: own for name, value in missing.items() if (own := statistics_of_value(value)) is not None}
            for chunk in chunks_of_values([(held.step, found)], partial(self._change_since_held, missing)):
                self._chunks.add(chunk)

    def _change_since_held(self, values: Mapping[str, Array], name: str, step: int) -> float:
        if not any(self._collections.get(one).matches(name) for one in PARAMETERS if one in self._collections):
            return math.nan
        before = max((other for other, held in self._steps.items() if other < step and name in held.values), default=-1)
        return math.nan if before < 0 else change_between(values[name], self._steps[before].values[name])

    def _let_go(self) -> None:
        """Forget the oldest steps; a chunk goes with the last of its steps."""
        self._read()
        kept = list(self._steps.items())[-self._most :]
        first = kept[0][0]
        self._steps = dict(kept)
        self._chunks.drop_before(first)
        scalars = {name: [row for row in rows if row[0] >= first] for name, rows in self._scalars.items()}
        self._scalars = {name: rows for name, rows in scalars.items() if rows}
        self._known = {tuple(self._chunks.names()), *(tuple(held.values) for _, held in kept)}
        self._named.clear()

    def _in_mode(self, mode: ModeKeys) -> Callable[[Int64Array], BoolArray] | None:
        if mode is ModeKeys.GLOBAL:
            return None
        steps = self._steps
        return lambda asked: np.array([one in steps and steps[one].mode is mode for one in asked.tolist()], bool)


def _chunk(group: Sequence[tuple[int, Sequence[TensorRows]]]) -> StatisticsChunk:
    """Make one chunk of steps whose rows are of the same tensors; a column is put together when it is asked for."""
    firsts = group[0][1]
    names = tuple(name for rows in firsts for name in rows.names)
    ends = list(accumulate(len(rows.names) for rows in firsts))

    @cache
    def column(name: str) -> Array:
        parts = [np.array([rows[i].columns[name] for _, rows in group], np.float64) for i in range(len(firsts))]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def active(place: int) -> list[Sequence[float] | None]:
        part = bisect_right(ends, place)
        own = place - (ends[part - 1] if part else 0)
        return [None if (found := rows[part].active) is None else found[own] for _, rows in group]

    return StatisticsChunk(names, np.array([step for step, _ in group], np.int64), column, active)
