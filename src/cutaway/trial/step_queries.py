"""The questions about a run's state, steps and modes that a trial answers, and whether it looks for what is new."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from enum import Enum
from typing import Protocol, TypeVar

from cutaway.errors import NoMoreData, StepNotYetAvailable, StepUnavailable, TrialError
from cutaway.run.leases import RunState
from cutaway.run.tables import Damage
from cutaway.tensors.modes import ModeKeys
from cutaway.trial.follower import Follower

__all__ = ["Mode", "StepQueries", "StepState", "no_refresh", "refresh"]

Mode = ModeKeys | str

POLL_SECONDS = 0.02
MOST_POLL_SECONDS = 0.5


class StepQueries:
    """The half of a `Trial` that needs no tensors' names."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower

    # -- how it stands ---------------------------------------------------------------------------------------------

    @property
    def dynamic_refresh(self) -> bool:
        """Whether queries look for what is new; `no_refresh` and `refresh` set it for a while."""
        return self._follower.dynamic

    @dynamic_refresh.setter
    def dynamic_refresh(self, value: bool) -> None:
        self._follower.dynamic = value

    @property
    def damage(self) -> list[Damage]:
        """What of this run was found damaged so far; each was logged once. `run.verify()` checks every byte."""
        return self._follower.damage

    @property
    def loaded_all_steps(self) -> bool:
        """Whether the training has ended and everything that it wrote has been read."""
        self._follower.maybe_refresh()
        return self._follower.loaded_all

    def job_finished(self) -> bool:
        """Whether the training has ended, however it did; `state()` says how."""
        return self.loaded_all_steps

    def state(self) -> RunState:
        """Say what became of the training: starting, running, finished, failed, ended, lost or crashed."""
        return self._follower.state()

    def workers(self) -> list[str]:
        """Return the workers that write to the run, sorted by name."""
        self._follower.maybe_refresh()
        return sorted(self._follower.workers())

    # -- steps and modes -------------------------------------------------------------------------------------------

    def steps(self, mode: Mode = ModeKeys.GLOBAL, show_incomplete_steps: bool = False) -> list[int]:  # noqa: FBT001, FBT002 - upstream's signature
        """Return the steps at which tensors were saved, in order.

        With several workers a step counts once all of them have written it, the training has ended, or a later step
        counts; `show_incomplete_steps` lists the others too.
        """
        self._follower.maybe_refresh()
        return self._shown(self._follower.tensors().steps, mode, incomplete=show_incomplete_steps)

    def recorded_steps(self, mode: Mode = ModeKeys.GLOBAL, show_incomplete_steps: bool = False) -> list[int]:  # noqa: FBT001, FBT002
        """Return the steps that left a record: statistics, scalars or times, with or without saved tensors."""
        self._follower.maybe_refresh()
        return self._shown(self._follower.steps.steps, mode, incomplete=show_incomplete_steps)

    def modes(self) -> list[ModeKeys]:
        """Return the modes that the run has steps of. Steps of no mode are GLOBAL, which is not listed."""
        self._follower.maybe_refresh()
        return self._follower.steps.modes()

    def mode(self, global_step: int) -> ModeKeys:
        """Return the mode of a global step. Raises what `why_unavailable` says where it is not recorded."""
        return self._mode(global_step)[0]

    def mode_step(self, global_step: int) -> int:
        """Return the number of a global step in its own mode. Raises where it is not recorded."""
        return self._mode(global_step)[1]

    def global_step(self, mode: Mode, mode_step: int) -> int:
        """Return the global step of a mode's own step. Raises where it is not recorded."""
        self._follower.maybe_refresh()
        found = self._follower.steps.global_step(ModeKeys.parse(mode), mode_step)
        if found is None:
            raise self.why_unavailable(mode_step, mode) or StepUnavailable(mode_step, ModeKeys.parse(mode).name)
        return found

    def has_passed_step(self, step: int, mode: Mode = ModeKeys.GLOBAL) -> StepState:
        """Say whether a step was saved, was passed without being saved, or may still come."""
        self._follower.maybe_refresh()
        index, parsed = self._follower.steps, ModeKeys.parse(mode)
        recorded = index.global_step(parsed, step)
        if recorded is not None and recorded in self._follower.tensors().steps:
            return StepState.AVAILABLE if index.is_complete(recorded) else StepState.NOT_YET_AVAILABLE
        passed = step < index.last_complete(parsed) or (recorded is not None and index.is_complete(recorded))
        never = parsed is ModeKeys.GLOBAL and step not in index.within
        over = self._follower.loaded_all or index.past_end
        return StepState.UNAVAILABLE if passed or never or over else StepState.NOT_YET_AVAILABLE

    def wait_for_steps(self, required_steps: Iterable[int], mode: Mode = ModeKeys.GLOBAL) -> None:
        """Wait until the steps can be read, as long as the training lives.

        Raises `StepUnavailable` for a step that was passed without being saved, `NoMoreData` when the run ended first.
        """
        with refresh(self):
            for step in required_steps:
                pause = POLL_SECONDS
                while isinstance(why := self.why_unavailable(step, mode), StepNotYetAvailable):
                    time.sleep(pause)
                    pause = min(pause * 1.5, MOST_POLL_SECONDS)
                if why is not None:
                    raise why

    def why_unavailable(self, step: int, mode: Mode = ModeKeys.GLOBAL) -> TrialError | None:
        """Return the error that says why a step cannot be read, or None where it can."""
        parsed, state = ModeKeys.parse(mode), self.has_passed_step(step, mode)
        if state is StepState.AVAILABLE:
            return None
        if state is StepState.NOT_YET_AVAILABLE:
            return StepNotYetAvailable(step, parsed.name)
        last = max(self._shown(self._follower.steps.steps, parsed, incomplete=True), default=-1)
        over = self._follower.loaded_all or self._follower.steps.past_end
        return NoMoreData(step, parsed.name, last) if over and step > last else StepUnavailable(step, parsed.name)

    def _shown(self, steps: Set[int], mode: Mode, *, incomplete: bool) -> list[int]:
        return self._follower.steps.shown(steps, ModeKeys.parse(mode), incomplete=incomplete)

    def _mode(self, global_step: int) -> tuple[ModeKeys, int]:
        self._follower.maybe_refresh()
        found = self._follower.steps.mode(global_step)
        if found is None:
            raise self.why_unavailable(global_step) or StepUnavailable(global_step)
        return found

    def _steps_meant(self, step: int | None, mode: ModeKeys) -> set[int] | None:
        """Return the global steps that a step and a mode ask for; None for all."""
        index = self._follower.steps
        if step is not None:
            found = index.global_step(mode, step)
            return set() if found is None else {found}
        if mode is ModeKeys.GLOBAL:
            return None
        return {one for one in (index.global_step(mode, own) for own in index.recorded(mode)) if one is not None}


class StepState(Enum):
    """Whether a step can be read."""

    UNAVAILABLE = 0  # it was not saved, and will not be
    AVAILABLE = 1
    NOT_YET_AVAILABLE = 2


class Refreshable(Protocol):
    """A trial, as far as these functions know it."""

    dynamic_refresh: bool


Trials = TypeVar("Trials", bound=Refreshable | Iterable[Refreshable])


@contextmanager
def no_refresh(trials: Trials) -> Iterator[Trials]:
    """Within this block the trials show what they know already, so that several queries speak of one moment.

    >>> with no_refresh(trial):                               # doctest: +SKIP
    ...     last = trial.steps()[-1]
    ...     names = trial.tensor_names(step=last)
    """
    with _set(trials, dynamic=False):
        yield trials


@contextmanager
def refresh(trials: Trials) -> Iterator[Trials]:
    """Within this block the trials look for what is new, also inside `no_refresh`."""
    with _set(trials, dynamic=True):
        yield trials


@contextmanager
def _set(trials: Refreshable | Iterable[Refreshable], *, dynamic: bool) -> Iterator[None]:
    listed = list(trials) if isinstance(trials, Iterable) else [trials]
    before = [trial.dynamic_refresh for trial in listed]
    for trial in listed:
        trial.dynamic_refresh = dynamic
    try:
        yield
    finally:
        # What was, not always True: blocks may be nested.
        for trial, was in zip(listed, before, strict=True):
            trial.dynamic_refresh = was
