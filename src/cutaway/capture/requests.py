"""Carries out what a running training is asked for, on the training thread, between two steps.

Each request once, oldest first; whatever goes wrong becomes a refusal with its reason, and never reaches the training.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from cutaway.capture.adapter import Adapter
from cutaway.capture.mailbox import Mailbox
from cutaway.capture.recorder import Recorder
from cutaway.errors import did_you_mean
from cutaway.run.control import Reply, Request
from cutaway.run.state_words import STOP_LINE

if TYPE_CHECKING:
    from cutaway.capture.step_life import StepLife

__all__ = ["Refused", "Requests"]

log = logging.getLogger("cutaway.capture")

# How long a paused training sleeps before it looks whether anybody is left who could wake it.
PAUSE_SECONDS = 0.5


class Refused(Exception):
    """What this training cannot be asked for; the text is the reason in the answer."""


class Requests:
    """The requests to one training, and what they have changed."""

    def __init__(
        self,
        recorder: Recorder,
        mail: Mailbox,
        steps: StepLife,
        adapter: Adapter,
    ) -> None:
        self.mail = mail
        self.stopping = False
        self.dumps: list[Request] = []  # those that the next step answers
        self.save_checkpoint: Callable[[int], object] | None = None  # the loop's own function
        self._recorder = recorder
        self._steps = steps
        self._workers = adapter.worker.workers
        self._paused = False
        self._ended = False
        self._is_read = False
        self._stop_request: Request | None = None  # the one that the loop has not seen yet
        self._attending = threading.Lock()
        self._actions: dict[str, Callable[[Request], str | None]] = {
            "stop": self._stop,
            "pause": self._pause,
            "resume": self._resume,
            "checkpoint": self._save,
            "dump": self._dump,
            "set": lambda request: adapter.set_learning_rate(request.arguments),
        }

    def should_stop(self, *, between_steps: bool) -> bool:
        """Whether the loop was asked to stop; attends to what waits. In the middle of a step a stop alone can be."""
        self._is_read = True
        if self.mail.waiting:
            self.attend(only=None if between_steps else "stop")
        if self._stop_request is not None:
            self._heed(self._stop_request)
        return self.stopping

    def attend(self, *, only: str | None = None) -> None:
        """Carry out what waits and, while paused, what comes.

        A function that is called from here may come by again, and so may another thread: they find it taken.
        """
        if self._ended or not self._attending.acquire(blocking=False):
            return
        try:
            self._carry_out_all(only)
            if self._paused:
                self._wait()
            self._steps.measures.interrupt()
        finally:
            self._attending.release()

    def promise_dump(self, step: int) -> Callable[[str], None]:
        """Take over those who asked for a dump; what this returns tells them what went wrong with it, or nothing."""
        asked, self.dumps = self.dumps, []

        def tell(trouble: str) -> None:
            for request in asked:
                self._reply(request, "refused" if trouble else "done", trouble or "every watched tensor is saved", step)

        return tell

    def end(self) -> None:
        """Carry nothing out any more, and let a paused training go: the run is being closed."""
        self._ended = True
        self.promise_dump(self._steps.step)("the training ended before its next step")
        self.mail.end(self._steps.step)

    def _carry_out_all(self, only: str | None) -> None:
        others = []
        while self.mail.waiting:
            request = self.mail.waiting.popleft()
            if only is None or request.action == only:
                self._carry_out(request)
            else:
                others.append(request)
        self.mail.waiting.extendleft(reversed(others))

    def _carry_out(self, request: Request) -> None:
        try:
            reason = self._act(request)
        except Refused as refusal:
            self._reply(request, "refused", str(refusal))
        except Exception as error:
            # Whatever a user's function or ours raises must not end the training.
            log.warning("Could not carry out %r of %s", request.action, request.who, exc_info=error)
            self._reply(request, "refused", f"{type(error).__name__}: {error}")
        except BaseException:
            # Ctrl-C is the loop's; whoever asked should not wait for it.
            self._reply(request, "refused", "it was interrupted")
            raise
        else:
            if reason is not None:
                self._reply(request, "done", reason)

    def _act(self, request: Request) -> str | None:
        """Carry a request out and return what there is to say; None where it is answered later."""
        if request.attempt is not None and request.attempt < self.mail.attempt:
            raise Refused("the training that it was meant for has ended")
        action = self._actions.get(request.action)
        if action is None:
            hint = did_you_mean(request.action, self._actions)
            raise Refused(f"this training knows no action {request.action!r}.{hint}")
        return action(request)

    def _reply(
        self, request: Request, state: Literal["delivered", "done", "refused"], reason: str, step: int | None = None
    ) -> None:
        self.mail.reply(request, Reply(state, reason, self._steps.step if step is None else step))

    # -- the actions -------------------------------------------------------------------------------------------------

    def _stop(self, request: Request) -> str | None:
        by = self._recorder.stopped_by
        if by is not None:
            return f"{by['who']} had asked for it already, at step {by['step']}"
        step = self._steps.step
        self._recorder.stopped_by = {
            "who": request.who,
            "why": request.why,
            "step": step,
            "attempt": self.mail.attempt,
            "seen": None,
        }
        self.stopping, self._stop_request = True, request
        if self._paused:
            self._set_paused(paused=False)
        self._recorder.say("stop-requested", "info", f"Stop asked by {_who_and_why(request)}.", step=step)
        if self._is_read:
            self._reply(request, "delivered", "the loop sees it when it reads `hook.should_stop` again")
        else:
            reason = f"the loop has not read `hook.should_stop` so far, and goes on: add `{STOP_LINE}` to it"
            self._reply(request, "delivered", reason)
        return None

    def _heed(self, request: Request) -> None:
        """Note that the loop has seen that it should stop: only now is that done."""
        self._stop_request = None
        if self._recorder.stopped_by is not None:
            self._recorder.stopped_by["seen"] = self._steps.step
        self._reply(request, "done", "the loop has seen it in `hook.should_stop`")

    def _pause(self, request: Request) -> str:
        if self.stopping:
            raise Refused("the training was asked to stop")
        if self._paused:
            return "it was paused already"
        self._set_paused(paused=True)
        resume = f"cutaway control {self._recorder.run.path} resume"
        log.warning("Paused after step %d by %s. `%s` lets it go on.", self._steps.step, _who_and_why(request), resume)
        if self._workers == 1:
            return "it waits for `resume` or `stop`"
        return (
            "it waits for `resume` or `stop`; the other processes wait at their next exchange with this one, and torch "
            "ends a training in which that takes longer than the timeout of its process group"
        )

    def _resume(self, _: Request) -> str:
        if not self._paused:
            raise Refused("the training is not paused")
        self._set_paused(paused=False)
        return ""

    def _set_paused(self, *, paused: bool) -> None:
        self._paused = paused
        self._recorder.show_paused(paused=paused)

    def _wait(self) -> None:
        """Hold the training thread until it is told to go on, or nobody is left who could tell it."""
        began = time.monotonic()
        try:
            while self._paused and not self._ended and not self._recorder.stopped:
                self.mail.arrived.wait(PAUSE_SECONDS)
                self.mail.arrived.clear()
                self._carry_out_all(None)
        finally:
            if self._paused:
                # The capture has stopped, or Ctrl-C came: a loop that goes on all the same is not paused.
                self._set_paused(paused=False)
        log.warning("Training goes on after a pause of %.0f s.", time.monotonic() - began)

    def _save(self, _: Request) -> str:
        if self.save_checkpoint is None:
            raise Refused("the loop gave no function to `hook.on_checkpoint`")
        self.save_checkpoint(self._steps.step)
        # What it ran through the model is no part of the next step.
        self._steps.end()
        return ""

    def _dump(self, request: Request) -> None:
        if self._recorder.stopped:
            raise Refused("the capture has stopped; `cutaway runs show` says why")
        self.dumps.append(request)
        self._steps.look_ahead()


def _who_and_why(request: Request) -> str:
    """Who asked, and why where they said so."""
    why = request.why.strip().rstrip(".")
    return f"{request.who}: {why}" if why else request.who
