"""One life of a model's process: a supervised child with batches in shared memory. Never believes what it answers."""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path
from typing import Any

from cutaway.arrays import Array
from cutaway.engine.crossing_errors import error_from
from cutaway.engine.limits import Limits, limited_environment
from cutaway.engine.messages import BadMessage, Ended, Late
from cutaway.engine.scratch import remove_scratch
from cutaway.engine.supervised import SupervisedProcess
from cutaway.errors import CutawayError, ModelCrashed, ModelError, ModelTimeout
from cutaway.models.backend import Arrays
from cutaway.models.shared_arrays import BadArray, SharedFile

__all__ = ["ChildProcess"]

_SHOWN_LINES = 12
_SHOWN_CHARACTERS = 2_000
_MEMORY = re.compile(r"out of memory|bad_alloc|bad allocation|allocate|ResourceExhausted|\bOOM\b", re.IGNORECASE)


class ChildProcess:
    """A process that waits to be asked; gone with this object."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._batches, self._results = batches, results = SharedFile(), SharedFile()
        scratch = Path(tempfile.mkdtemp(prefix="cutaway-model-"))

        def let_go() -> None:
            batches.close()
            results.close()
            remove_scratch(scratch)

        try:
            self._process = SupervisedProcess(
                "cutaway.models.worker",
                environment=limited_environment(limits, scratch),
                folder=scratch,
                share=(batches.fd, results.fd),
                let_go=let_go,
            )
        except OSError as error:
            raise ModelError(f"No process for the model could be started: {error}.") from error

    def ask(self, request: dict[str, Any], arrays: Arrays, *, what: str, setting: str = "seconds") -> Any:
        """Ask, and return the answer. Raises what the child met; `ModelTimeout` and `ModelCrashed` end it."""
        seconds = float(getattr(self._limits, setting))
        deadline = time.monotonic() + seconds
        try:
            listed = self._batches.write(arrays)
        except (BadArray, OSError) as error:
            raise ModelError(f"The batch cannot be handed to the process of the model: {error}") from error
        try:
            self._process.send({**request, "arrays": listed}, deadline)
            answer = self._process.read(deadline)
        except Late:
            self.end()
            raise ModelTimeout(what, seconds, setting) from None
        except Ended:
            raise self._crash() from None
        except BadMessage as error:
            raise self.distrust(str(error)) from error
        if answer.get("ok") is not True:
            raise self._with_hint(error_from(answer.get("error")))
        return answer

    def arrays(self, listed: Any, wanted: list[str]) -> dict[str, Array]:
        """Return the arrays of the last answer, in memory of their own and in the order in which they are wanted."""
        try:
            arrays = self._results.copies(listed, most_bytes=self._limits.memory_mb * 1024 * 1024)
        except BadArray as error:
            raise self.distrust(str(error)) from error
        if sorted(arrays) != sorted(wanted):
            raise self.distrust(f"it was asked for {wanted[:5]}, and gave {list(arrays)[:5]}.")
        return {name: arrays[name] for name in wanted}

    def distrust(self, reason: str) -> ModelCrashed:
        """End a process whose answer cannot be right, and return the error that says so."""
        self.end()
        return ModelCrashed(f"its answer cannot be right, so it was stopped: {reason}")

    def kill(self) -> None:
        """End the process, while another thread may still wait for its answer; `end` has to follow."""
        self._process.kill()

    def end(self) -> None:
        """End the process and close everything; may be called twice."""
        self._process.end()

    def _crash(self) -> ModelCrashed:
        how = self._process.ending()
        self.end()
        printed = "\n".join(self._process.last_lines(_SHOWN_LINES))[-_SHOWN_CHARACTERS:]
        reason = how + self._hint(printed)
        return ModelCrashed(f"{reason} It printed last:\n{printed}" if printed else reason)

    def _hint(self, text: str) -> str:
        if not _MEMORY.search(text):
            return ""
        return f" It may take {self._limits.memory_mb:,} MB; `Limits(memory_mb=...)` allows more."

    def _with_hint(self, error: CutawayError) -> CutawayError:
        # Only of what the framework said: our own checks name their own limits.
        if type(error) is ModelError:
            error.hint = f"{error.hint}{self._hint(str(error))}".strip()
        return error
