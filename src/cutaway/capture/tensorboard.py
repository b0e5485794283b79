"""Writes scalars as TensorBoard event files, without TensorFlow. Histograms come later.

An event file is a sequence of records (length, masked CRC-32C of it, data, masked CRC-32C of that), each holding one
`Event` message. The few fields needed are encoded here by hand: a protobuf library would be a heavy guest for them.
"""

from __future__ import annotations

import math
import os
import re
import socket
import struct
import threading
import time
from pathlib import Path

__all__ = ["EventWriter"]

_POLYNOMIAL = 0x82F63B78


def _table() -> tuple[int, ...]:
    table = []
    for value in range(256):
        crc = value
        for _ in range(8):
            crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return tuple(table)


_TABLE = _table()


class EventWriter:
    """One event file per mode in a folder: `tensorboard --logdir` on it, or on a folder of runs, just works."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, int] = {}
        self._lock = threading.Lock()

    def add_scalar(self, mode: str, name: str, value: float, step: int, when: float) -> None:
        """Append one scalar to the mode's file."""
        tag = re.sub(r"[^-/\w.]", "_", name).encode()
        summary_value = _bytes(1, tag) + _float(2, value)
        event = _double(1, when) + _varint(2, step) + _bytes(5, _bytes(1, summary_value))
        # Scalars come from the training and from the writer thread.
        with self._lock:
            _write(self._file(mode), _record(event))

    def close(self) -> None:
        """Release the files."""
        for handle in self._files.values():
            os.close(handle)
        self._files.clear()

    def _file(self, mode: str) -> int:
        handle = self._files.get(mode)
        if handle is None:
            folder = self._folder / mode
            folder.mkdir(parents=True, exist_ok=True)
            now = time.time()
            name = f"events.out.tfevents.{int(now)}.{socket.gethostname()}.{os.getpid()}.{time.monotonic_ns()}"
            handle = self._files[mode] = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            _write(handle, _record(_double(1, now) + _bytes(3, b"brain.Event:2")))
        return handle


def _write(handle: int, data: bytes) -> None:
    """Write all of it: a disk that is almost full takes a part and says why it does not take the rest."""
    while data:
        data = data[os.write(handle, data) :]


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _masked(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _varint(field: int, value: int) -> bytes:
    return _raw_varint(field << 3) + _raw_varint(value & 0xFFFFFFFFFFFFFFFF)


def _raw_varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _bytes(field: int, data: bytes) -> bytes:
    return _raw_varint(field << 3 | 2) + _raw_varint(len(data)) + data


def _double(field: int, value: float) -> bytes:
    return _raw_varint(field << 3 | 1) + struct.pack("<d", value)


def _float(field: int, value: float) -> bytes:
    try:
        packed = struct.pack("<f", value)
    except OverflowError:
        # TensorBoard's scalars are 32 bits wide; a loss beyond them is as good as infinite.
        packed = struct.pack("<f", math.copysign(math.inf, value))
    return _raw_varint(field << 3 | 5) + packed
