"""A child process of ours, from the parent's side: starts it, talks to it, ends it, and says how it ended.

Never waits without a deadline, and never lets what the child prints pile up. The child ends when the parent does,
however that ends.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cutaway.engine.messages import BadMessage, read_message, write_message

__all__ = ["SupervisedProcess", "kill_group"]

# -P: what lies in the current folder is not imported by accident. faulthandler: native crashes say where.
_PYTHON = (sys.executable, "-P", "-X", "faulthandler", "-m")
_KEPT_OUTPUT = 16 * 1024
_SIGNALS = {
    signal.SIGSEGV: "a segmentation fault in native code (SIGSEGV)",
    signal.SIGBUS: "a bus error in native code (SIGBUS)",
    signal.SIGABRT: "native code gave up (SIGABRT)",
    signal.SIGFPE: "an arithmetic fault in native code (SIGFPE)",
    signal.SIGILL: "an instruction that this processor does not have (SIGILL)",
    signal.SIGKILL: "somebody killed it, or the system when memory ran out (SIGKILL)",
    signal.SIGTERM: "somebody stopped it (SIGTERM)",
}


def kill_group(process: subprocess.Popen[Any]) -> None:
    """End a process that leads a session, and all that it started."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)


@dataclass
class _HeldProcess:
    """What has to be let go of: the process, this side's descriptors, and what the caller hands in."""

    process: subprocess.Popen[bytes]
    requests: int
    answers: int
    output: int
    lifeline: int
    let_go: Callable[[], None]
    owner: int = field(default_factory=os.getpid)

    def end(self) -> None:
        """Kill it and close everything. A fork of the parent has copies of all this and must leave them alone."""
        if os.getpid() != self.owner:
            return
        kill_group(self.process)
        for fd in (self.requests, self.answers, self.output, self.lifeline):
            os.close(fd)
        self.let_go()


class SupervisedProcess:
    """A module of ours run as `python -m`, which answers what it is asked; gone with this object.

    The module is given the numbers of its descriptors (requests, answers, lifeline, those of `share`), then
    `arguments`. It leads a session of its own: Ctrl-C in the terminal is for the parent. `let_go` is called at its
    end, or where it cannot be started, which raises OSError.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str] = (),
        *,
        environment: Mapping[str, str],
        folder: Path | None = None,
        share: Sequence[int] = (),
        let_go: Callable[[], None] = lambda: None,
    ) -> None:
        self._held = _start(module, arguments, environment, folder, share, let_go=let_go)
        self.printed = bytearray()  # the end of what it printed, as far as it was read
        self._end = weakref.finalize(self, self._held.end)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._held.process.pid

    @property
    def lives(self) -> bool:
        """Whether it is still there."""
        return self._held.process.poll() is None

    def last_lines(self, most: int) -> list[str]:
        """Return the last lines that it printed."""
        return self.printed.decode("utf-8", "replace").strip().splitlines()[-most:]

    def send(self, message: dict[str, Any], deadline: float) -> None:
        """Send a message. Raises `Late` and `Ended`."""
        write_message(self._held.requests, message, deadline)

    def read(self, deadline: float) -> dict[str, Any]:
        """Return its next message. Raises `Late`, `Ended` and `BadMessage`."""
        answer = read_message(self._held.answers, deadline, {self._held.output: self._keep_output}, lambda: self.lives)
        if not isinstance(answer, dict):
            raise BadMessage("an answer has names.")
        return answer

    def ending(self) -> str:
        """Return in words how a child ended that closed its side; what is left of it is killed, and its output read."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._held.process.wait(2)
        status = self._held.process.poll()
        self.kill()
        while select.select([self._held.output], [], [], 0)[0] and self._keep_output():
            pass
        return _in_words(status)

    def kill(self) -> None:
        """End the process, also while another thread waits for its answer; `end` has to follow."""
        kill_group(self._held.process)

    def end(self) -> None:
        """End the process and close everything; may be called twice."""
        self._end()

    def _keep_output(self) -> bool:
        """Read what the child printed, keep the end of it; False where nothing more can come."""
        try:
            got = os.read(self._held.output, 1 << 18)
        except BlockingIOError:
            return True
        self.printed += got
        del self.printed[:-_KEPT_OUTPUT]
        return bool(got)


def _start(
    module: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: Path | None,
    share: Sequence[int],
    *,
    let_go: Callable[[], None],
) -> _HeldProcess:
    theirs_requests, requests = os.pipe()
    answers, theirs_answers = os.pipe()
    output, theirs_output = os.pipe()
    theirs_lifeline, lifeline = os.pipe()
    given = (theirs_requests, theirs_answers, theirs_lifeline, *share)
    try:
        process = subprocess.Popen(
            [*_PYTHON, module, *map(str, given), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=theirs_output,
            stderr=theirs_output,
            pass_fds=given,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
    except OSError:
        for fd in (requests, answers, output, lifeline):
            os.close(fd)
        let_go()
        raise
    finally:
        for fd in (theirs_requests, theirs_answers, theirs_output, theirs_lifeline):
            os.close(fd)
    for fd in (requests, output):
        os.set_blocking(fd, False)
    return _HeldProcess(process, requests, answers, output, lifeline, let_go)


def _in_words(status: int | None) -> str:
    if status is None:
        return "it closed its connection and was stopped."
    if status < 0:
        try:
            known = signal.Signals(-status)
        except ValueError:
            return f"signal {-status}."
        return f"{_SIGNALS.get(known, known.name)}."
    return f"it ended by itself, with exit status {status}."
