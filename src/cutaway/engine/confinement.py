"""Puts the limits on this process, for good, and says in words which of them hold. Only a limited child calls it."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path

from cutaway.engine.call_filter import filter_calls
from cutaway.engine.limits import Limits
from cutaway.engine.system_calls import Unavailable
from cutaway.engine.write_fence import fence_writes

__all__ = ["confine"]

_MB = 1024 * 1024


def confine(limits: Limits, scratch: Path) -> list[str]:
    """Limit this process from here on; return what holds and what does not, one sentence each."""
    return [
        _tried("memory", lambda: _limit_memory(limits.memory_mb)),
        _tried("file size", lambda: _limit_files(limits.memory_mb)),
        _tried("writing", lambda: _fence(scratch)),
        _tried("network and programs", _filter),
    ]


def _tried(what: str, put: Callable[[], str]) -> str:
    try:
        return f"{what}: {put()}"
    except (Unavailable, OSError, ValueError) as error:
        return f"{what}: NOT limited, {error}."


def _limit_memory(memory_mb: int) -> str:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError as error:
        raise Unavailable("this system does not say how much memory a process has") from error
    taken = pages * resource.getpagesize()
    _lower(resource.RLIMIT_AS, taken + memory_mb * _MB)
    return f"at most {memory_mb:,} MB beside the {taken // _MB:,} MB that the framework took."


def _limit_files(memory_mb: int) -> str:
    _lower(resource.RLIMIT_CORE, 0)
    # Answers are files too, in memory: none is larger than all that the process may take.
    _lower(resource.RLIMIT_FSIZE, memory_mb * _MB)
    return f"no file grows above {memory_mb:,} MB, and no core is dumped."


def _lower(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    wanted = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (wanted, wanted))


def _fence(scratch: Path) -> str:
    version = fence_writes([scratch])
    return f"only to a scratch folder that goes away with the model (Landlock {version})."


def _filter() -> str:
    filter_calls()
    return "no sockets, no other programs, no new processes, no signals to others (seccomp)."
