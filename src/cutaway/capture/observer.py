"""What a rule that looks on from inside a hook must be able to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from cutaway.tensors.reader import TensorReader

if TYPE_CHECKING:
    from cutaway.run.findings import Finding
    from cutaway.run.identity import Run

__all__ = ["ActingObserver", "Observer"]


@runtime_checkable
class Observer(Protocol):
    """Looks at the steps of a training and says what it concludes; it never acts.

    `observe` is called after the statistics of some steps have become readable, with the newest of them: what has come
    since the last call is new to the observer. Steps only ascend. It is called on the thread that writes, or on the
    one that flushes or closes the hook, never on two at once. It must not keep the reader, nor wait for later steps.
    What it raises ends its own observing and is recorded; it never reaches the training.
    """

    def observe(self, reader: TensorReader, step: int) -> Iterable[Finding]:
        """Return the findings of the steps since the last call, up to and with `step`; none for healthy ones."""


@runtime_checkable
class ActingObserver(Observer, Protocol):
    """An observer whose findings ask for something: a stop, a checkpoint, a message to somebody."""

    def act(self, run: Run, finding: Finding) -> None:
        """Ask for what is to be done about one of its findings, once however often it is called."""
