"""Calls of the Linux kernel that Python has no words for, through the C library."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from typing import Any

__all__ = ["Unavailable", "machine", "no_new_privileges", "system_call"]

_PR_SET_NO_NEW_PRIVS = 38


class Unavailable(Exception):
    """A limit that this machine cannot put in place; the message says why."""


def machine() -> str:
    """Return the processor's name where its system calls are known to us. Raises `Unavailable`."""
    name = platform.machine()
    if not sys.platform.startswith("linux") or name not in ("x86_64", "aarch64"):
        raise Unavailable(f"it exists on Linux on x86-64 and aarch64 only, and this is {sys.platform} on {name}")
    return name


def system_call(number: int, *arguments: Any) -> int:
    """Call the kernel. Raises `Unavailable` with the system's word for what went wrong."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    result = int(library.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        raise Unavailable(os.strerror(ctypes.get_errno()))
    return result


def no_new_privileges() -> None:
    """Give up gaining rights, for good: what the kernel asks for before a process may restrict itself."""
    library = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    if library.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), zero, zero, zero) != 0:
        raise Unavailable(os.strerror(ctypes.get_errno()))
