"""Requests to this training on their way in, and answers on their way out.

The writer thread looks into the run folder and sends the answers; the training thread takes requests and replies. A
storage that fails costs a delay: what could not be sent is tried again, and nothing here raises.
"""

from __future__ import annotations

import logging
import threading
from collections import deque

from cutaway.errors import CutawayError
from cutaway.run.control import Inbox, Reply, Request, answer
from cutaway.run.storage import Storage

__all__ = ["Mailbox"]

log = logging.getLogger("cutaway.capture")


class Mailbox:
    """What two threads share. `waiting` is empty at nearly all times, so that asking whether it is costs nothing."""

    def __init__(self, storage: Storage, attempt: int) -> None:
        self.attempt = attempt
        self.waiting: deque[Request] = deque()
        self.arrived = threading.Event()
        self._storage = storage
        self._inbox = Inbox(storage, "train")
        self._replies: deque[tuple[Request, Reply]] = deque()
        self._ended_at: int | None = None
        self._looking = threading.Lock()
        self._has_failed = False

    def look(self) -> None:
        """Take in what is new and send what was answered: the writer thread's part."""
        if not self._looking.acquire(blocking=False):
            # A writer that hangs in a stalled storage must not take the thread that closes the run along.
            return
        try:
            self._receive()
            self._send()
        except OSError as error:
            # Only somebody who waits for an answer misses anything; that the storage fails, the capture says itself.
            if self._replies and not self._has_failed:
                self._has_failed = True
                log.warning(
                    "The answer to %r of %s is late: %s", self._replies[0][0].action, self._replies[0][0].who, error
                )
        finally:
            self._looking.release()

    def reply(self, request: Request, reply: Reply) -> None:
        """Answer a request; the writer thread sends it."""
        self._replies.append((request, reply))

    def end(self, step: int) -> None:
        """Take no more requests: what comes after this is refused."""
        self._ended_at = step
        self.arrived.set()

    def _receive(self) -> None:
        # One that names a later attempt is for the process which resumes this run.
        new = [one for one in self._inbox.new() if one.attempt is None or one.attempt <= self.attempt]
        self.waiting.extend(new)
        if self._ended_at is not None:
            while self.waiting:
                self.reply(self.waiting.popleft(), Reply("refused", "the training has ended", self._ended_at))
        elif new:
            self.arrived.set()

    def _send(self) -> None:
        while self._replies:
            request, reply = self._replies[0]
            try:
                answer(self._storage, request, reply)
            except OSError:
                raise
            except CutawayError as error:
                # An id that is no file name; whoever wrote it by hand gets no answer.
                log.warning("Request %r cannot be answered: %s", request.id, error)
            self._replies.popleft()
