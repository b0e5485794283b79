"""One life of a worker: a supervised child that is asked one thing at a time, and whose end is told as a refusal."""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

from cutaway.engine.crossing_errors import error_from
from cutaway.engine.messages import BadMessage, Ended, Late
from cutaway.engine.supervised import SupervisedProcess
from cutaway.errors import CutawayError
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.workers.values import from_plain, to_plain

__all__ = ["WorkerAnswer", "WorkerProcess"]

_SHOWN_LINES = 8
_SHOWN_CHARACTERS = 600
_AGAIN = "Ask again: a new one is started. What it printed is in the terminal of `cutaway studio`."


class WorkerAnswer(NamedTuple):
    """What a worker answered, and what users' code printed meanwhile."""

    value: Any
    printed: str


class WorkerProcess(SupervisedProcess):
    """A worker that waits to be asked."""

    def __init__(self, lane: str, run: str, evaluation: int) -> None:
        try:
            super().__init__(
                "cutaway.studio.workers.serve",
                [lane, str(evaluation), run],
                environment={"TF_CPP_MIN_LOG_LEVEL": "2", **os.environ, "PYTHONUNBUFFERED": "1"},
            )
        except OSError as error:
            raise Refusal(503, "no-process", f"No process could be started: {error.strerror}.", _AGAIN) from error
        self.doing = ""
        # Whether it took up the last question: one that was gone before that can be asked anew without harm.
        self.heard = False

    def ask(self, question: str, arguments: dict[str, Any], seconds: float) -> WorkerAnswer:
        """Ask, and return the answer. Raises what the worker met; a late one and a crash end it and are refusals."""
        self.doing, self.heard = "", False
        deadline = time.monotonic() + seconds
        try:
            self.send({"question": question, "arguments": to_plain(arguments)}, deadline)
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
            raise _met(answer.get("error"))
        return WorkerAnswer(from_plain(answer.get("value")), printed)

    def _answer(self, deadline: float) -> dict[str, Any]:
        while True:
            answer = self.read(deadline)
            self.heard = True
            if "doing" not in answer:
                return answer
            self.doing = str(answer["doing"])[:300]

    def _late(self, seconds: float) -> Refusal:
        doing = f" while {self.doing}" if self.doing else ""
        error = f"No answer within {seconds:g} s{doing}, so the process of this run was ended."
        return Refusal(504, "too-slow", error, "Where it is merely slow, ask in a terminal: `cutaway analyze --help`.")

    def _crash(self) -> Refusal:
        how = self.ending()
        doing = f" while {self.doing}" if self.doing else ""
        lines = self.last_lines(_SHOWN_LINES)
        printed = f" It printed last: {' / '.join(lines)[-_SHOWN_CHARACTERS:]}" if lines else ""
        return Refusal(503, "worker-ended", f"The process of this run ended{doing}: {how}{printed}", _AGAIN)


def _met(error: Any) -> CutawayError | Refusal:
    found = error_from(error)
    if isinstance(error, dict) and not error.get("class"):
        # Not one of ours: nobody foresaw it, and it is no fault of whoever asked.
        return Refusal(500, "worker-failed", f"The process of this run failed: {found}", _AGAIN)
    return found
