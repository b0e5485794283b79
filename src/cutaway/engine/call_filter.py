"""A filter over this process's system calls (seccomp): no network, no other programs, no signals to others.

Holds in all threads, and for good. Opening files is not its business; `write_fence` sees to that.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from typing import NamedTuple

from cutaway.engine.system_calls import machine, no_new_privileges, system_call

__all__ = ["filter_calls", "program"]

# Numbers on x86-64 and on aarch64; None where a machine has no such call.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # The network, and sockets of other programs on this machine.
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    # io_uring opens sockets and files without passing this filter.
    "io_uring_setup": (425, 425),
    # Other programs and processes.
    "execve": (59, 221),
    "execveat": (322, 281),
    "fork": (57, None),
    "vfork": (58, None),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "setpgid": (109, 154),
    "setsid": (112, 157),
    # How others are scheduled, which stays when this process is gone. `sched_setaffinity` is left: libraries place
    # their own threads by it, and a filter cannot tell whose thread a number is.
    "setpriority": (141, 140),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    # Memory that no limit counts, that others share, or that stays when this process is gone.
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "setrlimit": (160, 164),
    # Makes files shorter by their names, which the fence around writing covers on newer kernels only.
    "truncate": (76, 45),
    # Rights and owners of files, which the fence around writing does not cover.
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    # The system itself.
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "acct": (163, 89),
    "syslog": (103, 116),
    "iopl": (172, None),
    "ioperm": (173, None),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "open_by_handle_at": (304, 265),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
}
# Calls of many kinds, by the word in their second argument that says which.
_REFUSED_WORDS: dict[str, tuple[tuple[int, int], tuple[int, ...]]] = {
    # F_SETOWN and F_SETOWN_EX: whose process the kernel sends a signal to when something can be read, SIGKILL too.
    "fcntl": ((72, 25), (8, 15)),
    # The same for sockets (FIOSETOWN, SIOCSPGRP); flags of files, by a descriptor that only reads (FS_IOC_SETFLAGS,
    # FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR); typing into a terminal (TIOCSTI, TIOCLINUX).
    "ioctl": ((16, 29), (0x8901, 0x8902, 0x40086602, 0x40046602, 0x401C5820, 0x5412, 0x541C)),
}


class _Machine(NamedTuple):
    """What differs between processors: the kernel's word for it, and numbers of calls whose arguments are looked at."""

    column: int
    audit: int
    seccomp: int
    clone: int
    clone3: int
    kill: int
    tgkill: int
    prlimit: int
    open: int | None
    openat: int


_MACHINES = {
    "x86_64": _Machine(0, 0xC000003E, 317, 56, 435, 62, 234, 302, 2, 257),
    "aarch64": _Machine(1, 0xC00000B7, 277, 220, 435, 129, 131, 261, None, 56),
}
# The same number on both. Its flags lie in memory; C libraries then take `openat`.
_OPENAT2 = 437
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000
_LOAD, _JUMP_EQUAL, _JUMP_GREATER, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_WRITES, _EMPTIES = 0o3, 0o1000  # O_WRONLY and O_RDWR, O_TRUNC
_NUMBER, _ARCHITECTURE = 0, 4
_THREAD = 0x00010000  # CLONE_THREAD: a thread of this process and not another one
_X32 = 0x40000000  # a second table of numbers on x86-64, by which the same calls could be reached
_SET_FILTER, _ALL_THREADS = 1, 1


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def filter_calls() -> None:
    """Put the filter over all threads of this process. Raises `Unavailable`."""
    name = machine()
    code = program(name, os.getpid())
    no_new_privileges()
    whole = _Program(len(code) // 8, code)
    system_call(_MACHINES[name].seccomp, ctypes.c_ulong(_SET_FILTER), ctypes.c_ulong(_ALL_THREADS), ctypes.byref(whole))


def program(name: str, pid: int) -> bytes:
    """Return the filter for a processor as the kernel's own instructions."""
    known = _MACHINES[name]
    no, none = _returns(_REFUSE | errno.EPERM), _returns(_REFUSE | errno.ENOSYS)
    code = _loads(_ARCHITECTURE) + _step(_JUMP_EQUAL, len(none) // 8, 0, known.audit) + none + _loads(_NUMBER)
    if known.column == 0:
        code += _step(_JUMP_GREATER, 0, 1, _X32) + none
    # Its flags lie in memory, where a filter cannot look; C libraries then take `clone`.
    code += _when(known.clone3, none)
    code += _when(known.clone, _loads(_argument(0)) + _step(_JUMP_SET, 1, 0, _THREAD) + no + _returns(_ALLOW))
    for number in (known.kill, known.tgkill):
        code += _when(number, _loads(_argument(0)) + _step(_JUMP_EQUAL, 1, 0, pid) + no + _returns(_ALLOW))
    # Asking for a limit is allowed, that is without a new one; both halves of the address are looked at.
    low, high = (_loads(_argument(2) + half) + _step(_JUMP_EQUAL, 1, 0, 0) + no for half in (0, 4))
    code += _when(known.prlimit, low + high + _returns(_ALLOW))
    code += _when(_OPENAT2, none)
    for call, flags in ((known.open, 1), (known.openat, 2)):
        code += b"" if call is None else _when(call, _opens(flags, no))
    for calls, words in _REFUSED_WORDS.values():
        steps = [_step(_JUMP_EQUAL, 0, 1, word) + no for word in words]
        code += _when(calls[known.column], _loads(_argument(1)) + b"".join(steps) + _returns(_ALLOW))
    for numbers in _REFUSED.values():
        refused = numbers[known.column]
        code += b"" if refused is None else _when(refused, no)
    return code + _returns(_ALLOW)


def _opens(flags: int, no: bytes) -> bytes:
    """Instructions for opening a file: emptying one while only asking to read it passes older fences around writing."""
    allow = _returns(_ALLOW)
    return _loads(_argument(flags)) + _step(_JUMP_SET, 1, 0, _WRITES) + _step(_JUMP_SET, 1, 0, _EMPTIES) + allow + no


def _when(number: int, then: bytes) -> bytes:
    """Instructions for one call; the number of the call lies loaded before them, and still does behind them."""
    return _step(_JUMP_EQUAL, 0, len(then) // 8, number) + then


def _argument(index: int) -> int:
    return 16 + 8 * index


def _loads(offset: int) -> bytes:
    return _step(_LOAD, 0, 0, offset)


def _returns(value: int) -> bytes:
    return _step(_RETURN, 0, 0, value)


def _step(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
