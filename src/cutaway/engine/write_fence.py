"""A fence around where this process may write (Landlock): below some folders, and nowhere else. Reading goes on."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cutaway.engine.system_calls import machine, no_new_privileges, system_call

__all__ = ["fence_writes"]

# The same numbers on every machine.
_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_WRITE_FILE = 1 << 1
# Removing and making what lies in folders, since version 1.
_CHANGE_FOLDERS = sum(1 << bit for bit in range(4, 13))
# Later versions: moving between folders, cutting files, asking devices.
_SINCE = {2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_TCP_SINCE, _BIND_AND_CONNECT = 4, 0b11
_SCOPES_SINCE, _SOCKETS_AND_SIGNALS = 6, 0b11
# What may be written beside the folders: what goes nowhere.
_NOWHERE = Path(os.devnull)


def fence_writes(folders: Sequence[Path]) -> int:
    """Let this thread, and those that it starts, write below `folders` only; return the fence's version.

    Raises `Unavailable`. Newer kernels also refuse TCP and signals to others.
    """
    machine()
    version = system_call(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION))
    rights = _WRITE_FILE | _CHANGE_FOLDERS | sum(bit for since, bit in _SINCE.items() if version >= since)
    rules = struct.pack(
        "<QQQ",
        rights,
        _BIND_AND_CONNECT if version >= _TCP_SINCE else 0,
        _SOCKETS_AND_SIGNALS if version >= _SCOPES_SINCE else 0,
    )
    size = 24 if version >= _SCOPES_SINCE else 16 if version >= _TCP_SINCE else 8
    with _closing(system_call(_CREATE, rules, ctypes.c_size_t(size), ctypes.c_uint32(0))) as fence:
        for folder in folders:
            _allow(fence, folder, rights)
        _allow(fence, _NOWHERE, _WRITE_FILE)
        no_new_privileges()
        system_call(_RESTRICT, ctypes.c_int(fence), ctypes.c_uint32(0))
    return version


def _allow(fence: int, path: Path, rights: int) -> None:
    with _closing(os.open(path, os.O_PATH | os.O_CLOEXEC)) as fd:
        rule = struct.pack("<Qi", rights, fd)
        system_call(_ADD_RULE, ctypes.c_int(fence), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))


@contextmanager
def _closing(fd: int) -> Iterator[int]:
    try:
        yield fd
    finally:
        os.close(fd)
