"""One life of a model's process, from the parent's side: starts, asks, ends it, and says how it ended.

Never waits without a deadline, never lets what the child prints pile up, never believes what it answers.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cutaway.arrays import Array
from cutaway.errors import CutawayError, ModelCrashed, ModelError, ModelTimeout
from cutaway.models.backend import Arrays
from cutaway.models.crossing import error_from
from cutaway.models.limits import Limits
from cutaway.models.messages import BadMessage, Ended, Late, read_message, write_message
from cutaway.models.scratch import remove_scratch
from cutaway.models.shared_arrays import BadArray, SharedFile

__all__ = ["ChildProcess"]

_KEPT_OUTPUT = 16 * 1024
_SHOWN_LINES = 12
_SHOWN_CHARACTERS = 2_000
_MEMORY = re.compile(r"out of memory|bad_alloc|bad allocation|allocate|ResourceExhausted|\bOOM\b", re.IGNORECASE)
_THREAD_SETTINGS = (
    "CUTAWAY_MODEL_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
)
_SIGNALS = {
    signal.SIGSEGV: "a segmentation fault in native code (SIGSEGV)",
    signal.SIGBUS: "a bus error in native code (SIGBUS)",
    signal.SIGABRT: "native code gave up (SIGABRT)",
    signal.SIGFPE: "an arithmetic fault in native code (SIGFPE)",
    signal.SIGILL: "an instruction that this processor does not have (SIGILL)",
    signal.SIGKILL: "somebody killed it, or the system when memory ran out (SIGKILL)",
    signal.SIGTERM: "somebody stopped it (SIGTERM)",
}


@dataclass
class _Life:
    """What has to be let go of: the process, this side's descriptors, the scratch folder."""

    process: subprocess.Popen[bytes]
    requests: int
    answers: int
    output: int
    batches: SharedFile
    results: SharedFile
    lifeline: int
    scratch: Path
    owner: int = field(default_factory=os.getpid)

    def kill(self) -> None:
        """End the process and all that it started."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5)

    def end(self) -> None:
        """Kill it and close everything. A fork of the parent has copies of all this and must leave them alone."""
        if os.getpid() != self.owner:
            return
        self.kill()
        for fd in (self.requests, self.answers, self.output, self.lifeline):
            os.close(fd)
        self.batches.close()
        self.results.close()
        remove_scratch(self.scratch)


class ChildProcess:
    """A process that waits to be asked; gone with this object."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._life = _begin(limits)
        self._printed = bytearray()
        self._end = weakref.finalize(self, self._life.end)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._life.process.pid

    def ask(self, request: dict[str, Any], arrays: Arrays, *, what: str, setting: str = "seconds") -> Any:
        """Ask, and return the answer. Raises what the child met; `ModelTimeout` and `ModelCrashed` end it."""
        seconds = float(getattr(self._limits, setting))
        deadline = time.monotonic() + seconds
        life = self._life
        try:
            listed = life.batches.write(arrays)
        except (BadArray, OSError) as error:
            raise ModelError(f"The batch cannot be handed to the process of the model: {error}") from error
        try:
            write_message(life.requests, {**request, "arrays": listed}, deadline)
            answer = read_message(life.answers, deadline, {life.output: self._keep_output}, self._lives)
        except Late:
            self.end()
            raise ModelTimeout(what, seconds, setting) from None
        except Ended:
            raise self._crash() from None
        except BadMessage as error:
            raise self.distrust(str(error)) from error
        if not isinstance(answer, dict):
            raise self.distrust("an answer has names.")
        if answer.get("ok") is not True:
            raise self._with_hint(error_from(answer.get("error")))
        return answer

    def arrays(self, listed: Any, wanted: list[str]) -> dict[str, Array]:
        """Return the arrays of the last answer, in memory of their own and in the order in which they are wanted."""
        try:
            arrays = self._life.results.copies(listed, most_bytes=self._limits.memory_mb * 1024 * 1024)
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
        self._life.kill()

    def end(self) -> None:
        """End the process and close everything; may be called twice."""
        self._end()

    def _lives(self) -> bool:
        return self._life.process.poll() is None

    def _keep_output(self) -> bool:
        """Read what the child printed, keep the end of it; False where nothing more can come."""
        try:
            got = os.read(self._life.output, 1 << 18)
        except BlockingIOError:
            return True
        self._printed += got
        del self._printed[:-_KEPT_OUTPUT]
        return bool(got)

    def _crash(self) -> ModelCrashed:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._life.process.wait(2)
        status = self._life.process.poll()
        self._life.kill()
        while self._keep_output():
            if not self._waiting_output():
                break
        self.end()
        printed = _last_lines(bytes(self._printed))
        reason = _ending(status) + self._hint(printed)
        return ModelCrashed(f"{reason} It printed last:\n{printed}" if printed else reason)

    def _waiting_output(self) -> bool:
        return bool(select.select([self._life.output], [], [], 0)[0])

    def _hint(self, text: str) -> str:
        if not _MEMORY.search(text):
            return ""
        return f" It may take {self._limits.memory_mb:,} MB; `Limits(memory_mb=...)` allows more."

    def _with_hint(self, error: CutawayError) -> CutawayError:
        # Only of what the framework said: our own checks name their own limits.
        if type(error) is ModelError:
            error.args = (f"{error}{self._hint(str(error))}",)
        return error


def _begin(limits: Limits) -> _Life:
    scratch = Path(tempfile.mkdtemp(prefix="cutaway-model-"))
    theirs_requests, requests = os.pipe()
    answers, theirs_answers = os.pipe()
    output, theirs_output = os.pipe()
    theirs_lifeline, lifeline = os.pipe()
    batches, results = SharedFile(), SharedFile()
    given = (theirs_requests, theirs_answers, batches.fd, results.fd, theirs_lifeline)
    try:
        process = subprocess.Popen(
            # -P: what lies in the current folder is not imported by accident. faulthandler: native crashes say where.
            [sys.executable, "-P", "-X", "faulthandler", "-m", "cutaway.models.worker", *map(str, given)],
            stdin=subprocess.DEVNULL,
            stdout=theirs_output,
            stderr=theirs_output,
            pass_fds=given,
            cwd=scratch,
            env=_environment(limits, scratch),
            start_new_session=True,
        )
    except OSError as error:
        for fd in (requests, answers, output, lifeline, batches.fd, results.fd):
            os.close(fd)
        remove_scratch(scratch)
        raise ModelError(f"No process for the model could be started: {error}.") from error
    finally:
        for fd in (theirs_requests, theirs_answers, theirs_output, theirs_lifeline):
            os.close(fd)
    for fd in (requests, output):
        os.set_blocking(fd, False)
    return _Life(process, requests, answers, output, batches, results, lifeline, scratch)


def _environment(limits: Limits, scratch: Path) -> dict[str, str]:
    environment = {**os.environ, "TMPDIR": str(scratch)}
    environment.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # A model asks for the same large pieces at every call: given back and taken anew, they cost a quarter of its time.
    environment.setdefault("MALLOC_MMAP_THRESHOLD_", str(32 * 1024 * 1024))
    environment.setdefault("MALLOC_TRIM_THRESHOLD_", str(256 * 1024 * 1024))
    # Drivers of GPUs reserve more addresses than any limit of memory would leave them.
    environment["CUDA_VISIBLE_DEVICES"] = "-1"
    if limits.threads is not None:
        environment.update(dict.fromkeys(_THREAD_SETTINGS, str(limits.threads)))
    return environment


def _ending(status: int | None) -> str:
    if status is None:
        return "it closed its connection and was stopped."
    if status < 0:
        try:
            known = signal.Signals(-status)
        except ValueError:
            return f"signal {-status}."
        return f"{_SIGNALS.get(known, known.name)}."
    return f"it ended by itself, with exit status {status}."


def _last_lines(printed: bytes) -> str:
    lines = printed.decode("utf-8", "replace").strip().splitlines()[-_SHOWN_LINES:]
    return "\n".join(lines)[-_SHOWN_CHARACTERS:]
