"""What a framework must bring so that its trainings can be watched: the contract between a hook and its adapter.

Everything that all frameworks share (steps, schedules, requests, the writer, the run folder) is in this package. What
is left to a framework is to say when steps begin and end, and to copy values out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from cutaway.capture.records import StepRecord
from cutaway.tensors.collections import Collections

if TYPE_CHECKING:
    from cutaway.capture.hook import AdaptedHook

__all__ = ["Adapter", "Worker"]


def _own_answer(answer: bool) -> bool:  # noqa: FBT001 - it is all that there is
    return answer


class Worker(NamedTuple):
    """A process of a training: its rank, what all processes of the launch have in common, and how many they are.

    `agree` takes this process's answer and returns the one that all of them go by.
    """

    rank: int = 0
    launch: str = ""
    workers: int = 1
    agree: Callable[[bool], bool] = _own_answer

    @property
    def name(self) -> str:
        """The name that files and tables use."""
        return f"worker_{self.rank}"


@runtime_checkable
class Adapter(Protocol):
    """Follows the loops of one framework for one hook. `cutaway.testing.adapters` has its tests.

    What it tells. With `hook.steps.begin(trains=...)` a step begins, and it returns the step's record; `steps.end()`
    ends it. While it runs, whatever `hook.selection.wants(name)` is appended to `record.offers` as an `Offer`: a copy,
    since the training goes on changing the original, and only where `record.wanted`. Weights are those that the step
    computes with; gradients are copied when the backward pass has ended and before anything clips them.

    What it is told, by the methods below. While `hook.steps.idle` nothing of a step is recorded: the adapter then calls
    `steps.pass_step()` at its end and touches no tensor. It asks `hook.active` before anything else: a hook that is off
    or has failed is left alone.

    All of this happens on the training's thread. Nothing that the adapter hangs on the training may change what that
    computes, or raise into it: an unexpected error goes to `hook.fail`. Errors of the user's own settings are raised.
    """

    framework: str
    """What `run.json` calls the framework."""
    versions: Mapping[str, str]
    """The versions that `run.json` lists, by package."""
    worker: Worker
    """Which process of the training this is."""

    def attach(self, hook: AdaptedHook) -> None:
        """Take the hook to feed: called once, before anything else. What users register may come later."""

    def resolve(self, collections: Collections) -> None:
        """Turn what waits in each collection's `pending` into names; called before the first step.

        Raises `ConfigurationError` for what belongs to nothing that is watched.
        """

    def complete(self, record: StepRecord) -> None:
        """Offer what is still missing of a step that is about to end."""

    def set_idle(self, steps: int) -> None:
        """Of so many steps nothing is recorded from now on, 0 where the next one is: taps may come down till then."""

    def set_learning_rate(self, arguments: Mapping[str, Any]) -> str:
        """Change the learning rate to `lr` or by `lr_factor`, and say from what to what.

        Raises `Refused` where that cannot be.
        """

    def detach(self) -> None:
        """Undo every registration and leave no trace; called once or more."""
