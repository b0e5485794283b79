"""What a rule that looks on from inside a hook must be able to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from cutaway.tensors.reader import TensorReader

if TYPE_CHECKING:
    from cutaway.run.findings import Finding

__all__ = ["Observer"]


@runtime_checkable
class Observer(Protocol):
    """Looks at one step and says what it concludes; it never acts.

    `observe` is called once for every recorded step, in ascending order, on the thread that writes, after the step's
    statistics are readable. It must not keep the reader, nor wait for later steps. What it raises ends its own
    observing and is recorded; it never reaches the training.
    """

    def observe(self, reader: TensorReader, step: int) -> Iterable[Finding]:
        """Return the findings of this step, none for a healthy one."""
