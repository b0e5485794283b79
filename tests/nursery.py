"""Forks processes on request, so that two hundred kills cost one import of pyarrow.

Run as a script it is the nursery itself: it imports what the jobs need and then waits on a socket for orders. A test
sends an order together with the end of a pipe; the forked process does its job and reports through that pipe.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

__all__ = ["Child", "Nursery"]

NUMBER = struct.Struct("<q")
PATIENCE = 120.0


@dataclass
class Child:
    """A process that does one job and reports numbers."""

    pid: int
    handle: int

    def reports(self) -> list[int]:
        """Wait until it ends, and return all that it reported since the last look."""
        data = b""
        while more := self._read():
            data += more
        return [number for (number,) in NUMBER.iter_unpack(data)]

    def report(self) -> int:
        """Wait for one report."""
        data = self._read(NUMBER.size)
        assert data, f"process {self.pid} ended without a report"
        return int(NUMBER.unpack(data)[0])

    def kill(self) -> list[int]:
        """Kill it where it stands, and return what it had reported."""
        # It may have ended by itself a moment ago.
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        found = self.reports()
        self.wait()
        return found

    def wait(self) -> None:
        """Wait until the process is gone, which is a moment after its files are closed."""
        deadline = time.monotonic() + PATIENCE
        while Path(f"/proc/{self.pid}").exists() and time.monotonic() < deadline:
            time.sleep(0.001)
        os.close(self.handle)

    def _read(self, size: int = 1 << 16) -> bytes:
        ready, _, _ = select.select([self.handle], [], [], PATIENCE)
        assert ready, f"process {self.pid} neither reported nor ended within {PATIENCE} s"
        return os.read(self.handle, size)


class Nursery:
    """Where children come from; a context manager. `jobs` is the module of what they do."""

    def __init__(self, jobs: str = "tests.faults.jobs") -> None:
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "tests.nursery", str(other.fileno()), jobs]
        root = Path(__file__).parents[1]
        self._process = subprocess.Popen(command, pass_fds=[other.fileno()], cwd=root)
        other.close()

    def __enter__(self) -> Nursery:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._process.wait(PATIENCE)

    def start(self, job: str, **arguments: Any) -> Child:
        """Fork a process that does a job."""
        mine, theirs = os.pipe()
        socket.send_fds(self._socket, [json.dumps([job, arguments]).encode()], [theirs])
        os.close(theirs)
        self._socket.settimeout(PATIENCE)
        return Child(int(self._socket.recv(32)), mine)


def _serve(orders: socket.socket, module: str) -> None:
    jobs = importlib.import_module(module)
    jobs.warm_up()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead are buried at once
    while True:
        order, handles, _, _ = socket.recv_fds(orders, 1 << 16, 1)
        if not order:
            return
        job, arguments = json.loads(order)
        pid = os.fork()
        if not pid:
            orders.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            code = 1
            try:
                getattr(jobs, job)(partial(_report, handles[0]), **arguments)
                code = 0
            finally:
                # Not sys.exit: the child must not run what the nursery had registered for its own end.
                os._exit(code)
        orders.send(b"%d" % pid)
        os.close(handles[0])


def _report(handle: int, number: int) -> None:
    os.write(handle, NUMBER.pack(number))


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])
