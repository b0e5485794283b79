"""What a supervised child does first: keeps its descriptors to itself, and ends when its parent does."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import threading
from collections.abc import Sequence

__all__ = ["begin_child"]

_F_SETSIG = 10


def begin_child(descriptors: Sequence[int], lifeline: int) -> None:
    """Hand the descriptors on to no process of our own, and end this one when the other end of `lifeline` closes."""
    for one in descriptors:
        os.set_inheritable(one, False)  # noqa: FBT003
    if sys.platform == "linux":
        # The kernel itself sends the signal: a framework that keeps Python's lock to itself cannot hold it up.
        fcntl.fcntl(lifeline, _F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    else:
        threading.Thread(target=_wait_for_end, args=(lifeline,), daemon=True).start()


def _wait_for_end(lifeline: int) -> None:
    os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGKILL)
