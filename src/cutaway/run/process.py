"""Which process this is, and whether another one on this machine is still alive.

A process id alone lies: it is reused, and means another process in another container. So an id here is host, boot,
process-id namespace, pid and start time together.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["is_alive", "is_here", "is_running", "machine", "this_process"]


def this_process() -> dict[str, Any]:
    """Describe this process so that another one can find out whether it still lives."""
    pid = os.getpid()
    return {"host": socket.gethostname(), "machine": machine(), "pid": pid, "started": _started(pid)}


def is_here(process: dict[str, Any]) -> bool:
    """Whether this process can look the other one up at all."""
    return bool(process.get("machine") == machine())


def is_alive(process: dict[str, Any]) -> bool:
    """Whether a process of this machine still runs; ask only when `is_here`."""
    pid = int(process["pid"])
    started = _started(pid)
    return started == process.get("started") if started is not None else _is_hidden(pid)


def is_running(pid: int) -> bool:
    """Whether a process of this machine has this id now, whichever it is."""
    return _started(pid) is not None or _is_hidden(pid)


@cache
def machine() -> str:
    """Name this boot of this machine, and its process-id namespace."""
    parts = [socket.gethostname()]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with contextlib.suppress(OSError):
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(parts)


def _started(pid: int) -> str | None:
    """When a process started, in the system's own words; None when there is none, or it is a zombie."""
    try:
        # The command's name, in parentheses, may hold spaces: count the fields after it.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return _started_by_ps(pid) if not Path("/proc/self").exists() else None
    except (OSError, ValueError):
        return None
    return None if fields[0] in "ZX" else fields[19]


def _is_hidden(pid: int) -> bool:
    """Whether there is such a process that we may not look at: another user's, where /proc hides those."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return not Path(f"/proc/{pid}").exists()
    except OSError:
        return False
    # We may signal it, so we could have looked: it is a zombie, or ended just now.
    return False


def _started_by_ps(pid: int) -> str | None:
    """The same where there is no /proc (macOS)."""
    done = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return done.stdout.strip() or None
