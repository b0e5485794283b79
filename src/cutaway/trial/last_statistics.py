"""How each tensor of a run was at its last step with statistics, kept up to date as the run grows."""

from __future__ import annotations

from dataclasses import dataclass

from cutaway.run.schemas import STATISTIC_COLUMNS
from cutaway.run.tables import Attempt
from cutaway.tensors.statistics_blocks import StatisticsBlock
from cutaway.trial.follower import Follower

__all__ = ["LastStatistics", "TensorState"]


@dataclass(frozen=True)
class TensorState:
    """One tensor: the first and last step that have statistics of it, and those of the last."""

    name: str
    first_step: int
    last_step: int
    size: int
    values: dict[str, float]


class LastStatistics:
    """The state of every tensor, in the order in which the run first named them: that of the model."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._start_over()

    def all(self) -> dict[str, TensorState]:
        """Return the state of every tensor that has statistics."""
        if self._attempts != tuple(self._follower.attempts):
            self._start_over()
        statistics, last = self._follower.statistics(), max(self._follower.steps.steps, default=-1)
        names = statistics.names()
        if self._next <= last:
            for block in statistics.blocks(names, self._next, last + 1):
                at = int(block.steps[-1])
                for end in statistics.blocks(block.names, at, at + 1):
                    # Only the columns of one step are computed, not those of the whole block.
                    self._take(end, int(block.steps[0]))
            self._next = last + 1
        return self._states

    def _start_over(self) -> None:
        self._attempts: tuple[Attempt, ...] = tuple(self._follower.attempts)
        self._states: dict[str, TensorState] = {}
        self._next = 0

    def _take(self, block: StatisticsBlock, first: int) -> None:
        step = int(block.steps[-1])
        columns = {name: block[name][:, -1].tolist() for name in ("size", *STATISTIC_COLUMNS)}
        for place, name in enumerate(block.names):
            known = self._states.get(name)
            self._states[name] = TensorState(
                name,
                first if known is None else known.first_step,
                step,
                int(columns["size"][place]),
                {column: columns[column][place] for column in STATISTIC_COLUMNS},
            )
