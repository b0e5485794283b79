"""One life of a worker, from the server's side: starts it, asks it one thing at a time, ends it, says how it ended.

Never waits without a deadline, and never lets what it prints pile up. It ends when the server does, however that ends.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cutaway.errors import CutawayError
from cutaway.models.crossing import error_from
from cutaway.models.messages import BadMessage, Ended, Late, read_message, write_message
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.workers.values import from_plain, to_plain

__all__ = ["Answer", "WorkerProcess"]

_KEPT_OUTPUT = 16 * 1024
_SHOWN_LINES = 8
_SHOWN_CHARACTERS = 600
# -P: what lies in the current folder is not imported by accident. faulthandler: native crashes say where.
_PYTHON = (sys.executable, "-P", "-X", "faulthandler", "-m")
_AGAIN = "Ask again: a new one is started. What it printed is in the terminal of `cutaway studio`."


class Answer(NamedTuple):
    """What a worker answered, and what users' code printed meanwhile."""

    value: Any
    printed: str


@dataclass
class _Life:
    """What has to be let go of: the process and this side's descriptors."""

    process: subprocess.Popen[bytes]
    requests: int
    answers: int
    output: int
    lifeline: int
    guard: threading.Lock = field(default_factory=threading.Lock)
    open: bool = True

    def kill(self) -> None:
        """End the process; the model's own process ends with it."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5)

    def end(self) -> None:
        """Kill it and close everything; may be called twice."""
        self.kill()
        with self.guard:
            if self.open:
                self.open = False
                for fd in (self.requests, self.answers, self.output, self.lifeline):
                    os.close(fd)


class WorkerProcess:
    """A worker that waits to be asked; gone with this object."""

    def __init__(self, lane: str, run: str, evaluation: int) -> None:
        self._life = _begin(lane, run, evaluation)
        self._printed = bytearray()
        self._end = weakref.finalize(self, self._life.end)
        self.doing = ""
        # Whether it took up the last question: one that was gone before that can be asked anew without harm.
        self.heard = False

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._life.process.pid

    @property
    def lives(self) -> bool:
        """Whether it is still there."""
        return self._life.process.poll() is None

    def ask(self, question: str, arguments: dict[str, Any], seconds: float) -> Answer:
        """Ask, and return the answer. Raises what the worker met; a late one and a crash end it and are refusals."""
        self.doing, self.heard = "", False
        deadline = time.monotonic() + seconds
        try:
            write_message(self._life.requests, {"question": question, "arguments": to_plain(arguments)}, deadline)
            answer = self._answer(deadline)
        except Late:
            self.kill()
            raise self._late(seconds) from None
        except Ended:
            raise self._crash() from None
        except BadMessage as error:
            self.kill()
            raise Refusal(503, "worker-ended", f"The process of this run was ended: {error}", _AGAIN) from error
        finally:
            self.doing = ""
        printed = str(answer.get("printed") or "")
        if answer.get("ok") is not True:
            raise _said(answer.get("error"))
        return Answer(from_plain(answer.get("value")), printed)

    def kill(self) -> None:
        """End the process, also while another thread waits for its answer; `end` has to follow."""
        self._life.kill()

    def end(self) -> None:
        """End the process and close everything; may be called twice."""
        self._end()

    def _answer(self, deadline: float) -> dict[str, Any]:
        while True:
            others: dict[int, Callable[[], bool]] = {self._life.output: self._keep_output}
            answer = read_message(self._life.answers, deadline, others, lambda: self.lives)
            if not isinstance(answer, dict):
                raise BadMessage("an answer has names.")
            self.heard = True
            if "doing" not in answer:
                return answer
            self.doing = str(answer["doing"])[:300]

    def _keep_output(self) -> bool:
        """Read what the worker printed, keep the end of it; False where nothing more can come."""
        try:
            got = os.read(self._life.output, 1 << 18)
        except BlockingIOError:
            return True
        self._printed += got
        del self._printed[:-_KEPT_OUTPUT]
        return bool(got)

    def _late(self, seconds: float) -> Refusal:
        doing = f" while {self.doing}" if self.doing else ""
        error = f"No answer within {seconds:g} s{doing}, so the process of this run was ended."
        return Refusal(504, "too-slow", error, "Where it is merely slow, ask in a terminal: `cutaway analyze --help`.")

    def _crash(self) -> Refusal:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._life.process.wait(2)
        status = self._life.process.poll()
        self.kill()
        while select.select([self._life.output], [], [], 0)[0] and self._keep_output():
            pass
        doing = f" while {self.doing}" if self.doing else ""
        lines = bytes(self._printed).decode("utf-8", "replace").strip().splitlines()[-_SHOWN_LINES:]
        printed = f" It printed last: {' / '.join(lines)[-_SHOWN_CHARACTERS:]}" if lines else ""
        return Refusal(503, "worker-ended", f"The process of this run ended{doing}: {_ending(status)}{printed}", _AGAIN)


def _said(error: Any) -> CutawayError | Refusal:
    found = error_from(error)
    if isinstance(error, dict) and not error.get("class"):
        # Not one of ours: nobody foresaw it, and it is no fault of whoever asked.
        return Refusal(500, "worker-failed", f"The process of this run failed: {found}", _AGAIN)
    return found


def _ending(status: int | None) -> str:
    if status is None:
        return "it closed its connection."
    if status >= 0:
        return f"exit status {status}."
    with contextlib.suppress(ValueError):
        return f"signal {signal.Signals(-status).name}."
    return f"signal {-status}."


def _begin(lane: str, run: str, evaluation: int) -> _Life:
    theirs_requests, requests = os.pipe()
    answers, theirs_answers = os.pipe()
    output, theirs_output = os.pipe()
    theirs_lifeline, lifeline = os.pipe()
    given = (theirs_requests, theirs_answers, theirs_lifeline)
    try:
        process = subprocess.Popen(
            [*_PYTHON, "cutaway.studio.workers.serve", *map(str, given), lane, str(evaluation), run],
            stdin=subprocess.DEVNULL,
            stdout=theirs_output,
            stderr=theirs_output,
            pass_fds=given,
            env={"TF_CPP_MIN_LOG_LEVEL": "2", **os.environ, "PYTHONUNBUFFERED": "1"},
            # Ctrl-C in the terminal is for the server, which ends its workers in its own order.
            start_new_session=True,
        )
    except OSError as error:
        for fd in (requests, answers, output, lifeline):
            os.close(fd)
        raise Refusal(503, "no-process", f"No process could be started: {error.strerror}.", _AGAIN) from error
    finally:
        for fd in (*given, theirs_output):
            os.close(fd)
    for fd in (requests, output):
        os.set_blocking(fd, False)
    return _Life(process, requests, answers, output, lifeline)
