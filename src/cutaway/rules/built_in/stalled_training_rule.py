"""StalledTrainingRule: no new step for a long time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cutaway.arrays import Float64Array, Int64Array
from cutaway.rules.arguments import Flag, Number
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import Rule
from cutaway.run.control import history
from cutaway.run.leases import RunState
from cutaway.tensors.reader import TensorReader
from cutaway.trial import Trial

__all__ = ["StalledTrainingRule"]


@dataclass(eq=False, repr=False, kw_only=True)
class StalledTrainingRule(Rule):
    """The training makes no more steps, although it has not ended.

    What it sees:
        More than `threshold` seconds lie between a recorded step and the next. While a training runs, the rule does not
        wait for that next step: it fires as soon as the last one is so long ago. A run that was stopped and
        resumed later has not stalled in between.

    Why it matters:
        A loader that waits for a disk or a lock, a worker that hangs, a machine that lost its network: the job costs as
        much as one that learns, and nobody notices.

    What to try:
        See where it hangs: `py-spy dump --pid PID` shows the Python stack of the training process. Look at the disk
        and the network that the data comes from, at the loader's workers (try `num_workers=0`), and in distributed
        training at the ranks that wait for each other.

    Needs:
        The times of the steps, which every run has. That a step does not come is seen by `cutaway watch --follow`
        only; inside the training process nothing runs while it hangs.

    Parameters:
        threshold: after how many seconds without a step it fires.
        stop_training_on_fire: whether the training is asked to stop.
        training_job_name_prefix: how the name of the run to stop begins; by default the run itself is meant.
    """

    rest = 1  # each stall is one of its own
    watches_clock = True

    threshold: Number = Number(1800, above=0)
    stop_training_on_fire: Flag = Flag(default=False)
    training_job_name_prefix: str | None = None

    def __post_init__(self) -> None:
        self.training_job_name_prefix = prefix = self.training_job_name_prefix or None
        if self.stop_training_on_fire and not self.action_str:
            named = {"name": "stoptraining", "training_job_prefix": prefix}
            self.action_str = "stop" if prefix is None else json.dumps(named)
        super().__post_init__()

    def reset(self) -> None:
        """Forget the last step."""
        self._last: tuple[int, float] | None = None

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Look at the time between each step and the next, and at the time since the last."""
        rows = reader.step_window(start, stop)
        steps, times = rows["step"], np.asarray(rows["time"], np.float64)
        if self._last is not None:
            steps, times = np.concatenate([[self._last[0]], steps]), np.concatenate([[self._last[1]], times])
        if not len(steps):
            return
        self._last = int(steps[-1]), float(times[-1])
        if len(steps) > 1:
            yield self._gaps(reader, steps, times)
        if stop > reader.newest_step():
            yield from self._silence(reader, *self._last)

    def _gaps(self, reader: TensorReader, steps: Int64Array, times: Float64Array) -> Judgement:
        seconds = np.diff(times)
        began = [attempt.from_step for attempt in reader.run.attempts()] if isinstance(reader, Trial) else []
        for first in began:
            seconds[(steps[:-1] < first) & (steps[1:] >= first)] = 0.0  # nobody trained in between

        def message(i: int) -> str:
            return (
                f"The training stalled after step {steps[i]}: step {steps[i + 1]} came {seconds[i]:,.1f} seconds "
                f"later, more than {self.threshold:g}."
            )

        def evidence(i: int) -> dict[str, int]:
            return {"next_step": int(steps[i + 1])}

        fires = seconds > self.threshold
        if fires.any():
            fires &= ~np.isin(steps[:-1], _paused_after(reader))
        return Judgement.of_one("", steps[:-1], fires, seconds, self.threshold, message, evidence)

    def _silence(self, reader: TensorReader, step: int, time: float) -> Iterator[Judgement]:
        """Look whether a training that still runs makes no steps any more."""
        seconds = self.clock() - time
        if seconds <= self.threshold or not isinstance(reader, Trial) or reader.state() is not RunState.RUNNING:
            return
        if step not in _paused_after(reader):
            yield Judgement.of_one(
                "",
                [step],
                [True],
                [seconds],
                self.threshold,
                lambda _: (
                    f"The training has stalled: its last step, {step}, began {seconds:,.1f} seconds ago, more than "
                    f"{self.threshold:g}, and it still runs."
                ),
            )


def _paused_after(reader: TensorReader) -> list[int]:
    """Return the steps after which the training was told to wait: it did not stall there."""
    if not isinstance(reader, Trial):
        return []
    asked = [(request, reply) for request, reply in history(reader.run.storage) if request.action == "pause"]
    return [reply.step for _, reply in asked if reply is not None and reply.state == "done"]
