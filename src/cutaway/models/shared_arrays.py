"""Arrays in memory that a model's process and its parent share. Who reads checks everything before making an array.

Each direction has a file of its own, written by one side only. The parent copies answers out: what it returns stays.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cutaway.arrays import Array
from cutaway.models.backend import Arrays

__all__ = ["DTYPES", "BadArray", "SharedFile"]

# Where arrays begin: a multiple of what vector instructions like.
_ALIGNMENT = 64
_FRACTIONS = ("float16", "float32", "float64", "complex64", "complex128")
DTYPES = frozenset(("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", *_FRACTIONS))
_TEXT = re.compile(r"<U([1-9][0-9]{0,4})\Z")
_LONGEST_NAME = 4096
_HAS_SEALS = hasattr(os, "memfd_create")
_MOST_AXES = 32


class BadArray(Exception):
    """A description of an array that cannot be right."""


class SharedFile:
    """A file without a name, in memory where the system has such files: one side writes arrays, the other reads them.

    Where the kernel promises that it never shrinks, it is mapped; elsewhere it is read and written with bounds.
    """

    def __init__(self, fd: int | None = None) -> None:
        self.fd = _new_file() if fd is None else fd
        self._never_shrinks = _never_shrinks(self.fd)
        self._map: mmap.mmap | None = None

    def write(self, arrays: Arrays) -> list[dict[str, Any]]:
        """Write arrays one behind the other, over what was there; return where each lies. Raises OSError where full."""
        listed: list[dict[str, Any]] = []
        at = 0
        plain = {name: _storable_array(name, given) for name, given in arrays.items()}
        for name, values in plain.items():
            at = -(-at // _ALIGNMENT) * _ALIGNMENT
            listed.append({"name": name, "dtype": _word(values.dtype), "shape": list(values.shape), "at": at})
            at += values.nbytes
        if self._never_shrinks and at:
            self._grow(at)
        for entry, values in zip(listed, plain.values(), strict=True):
            if self._never_shrinks and values.size:
                self._view(values.dtype, values.shape, entry["at"])[...] = values
            else:
                _write_bytes(self.fd, _bytes(np.ascontiguousarray(values)), entry["at"])
        return listed

    def copies(self, listed: Any, *, most_bytes: int) -> dict[str, Array]:
        """Copy out arrays that another process wrote, after checking that they lie in the file. Raises `BadArray`."""
        places = _places(listed, self._size())
        total = sum(nbytes for *_, nbytes in places.values())
        if total > most_bytes:
            raise BadArray(f"{total:,} bytes at once, and the limit is {most_bytes:,}.")
        arrays = {}
        for name, (dtype, shape, at, nbytes) in places.items():
            values = np.empty(shape, dtype)
            if self._never_shrinks and nbytes:
                values[...] = self._view(dtype, shape, at)
            elif not _read_bytes(self.fd, _bytes(values), at):
                raise BadArray(f"{name!r} ended early.")
            arrays[name] = values
        return arrays

    def views(self, listed: Any) -> dict[str, Array]:
        """Return arrays over the file itself, without a copy: they hold until the other side, trusted, writes again."""
        places = _places(listed, self._size())
        return {
            name: self._view(dtype, shape, at) if nbytes else np.empty(shape, dtype)
            for name, (dtype, shape, at, nbytes) in places.items()
        }

    def close(self) -> None:
        """Let go of the file; arrays over it keep their part of it."""
        self._map = None
        os.close(self.fd)

    def _size(self) -> int:
        return os.fstat(self.fd).st_size

    def _grow(self, size: int) -> None:
        if self._size() < size:
            # Takes the memory now: where there is none, this is an error, and a later write would be a dead process.
            os.posix_fallocate(self.fd, 0, size)

    def _view(self, dtype: np.dtype[Any], shape: tuple[int, ...], at: int) -> Array:
        size = self._size()
        if self._map is None or len(self._map) < size:
            # The old one goes with the last array over it.
            self._map = mmap.mmap(self.fd, size)
        return np.frombuffer(self._map, dtype, count=math.prod(shape), offset=at).reshape(shape)


def _new_file() -> int:
    if _HAS_SEALS:
        fd = os.memfd_create("cutaway", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        # Who has mapped a file that becomes shorter dies when it looks behind its end.
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        return fd
    fd, path = tempfile.mkstemp(prefix="cutaway-")
    Path(path).unlink()
    return fd


def _never_shrinks(fd: int) -> bool:
    try:
        return _HAS_SEALS and bool(fcntl.fcntl(fd, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK)
    except OSError:
        return False


def _write_bytes(fd: int, rest: memoryview, at: int) -> None:
    while rest:
        written = os.pwrite(fd, rest, at)
        rest, at = rest[written:], at + written


def _read_bytes(fd: int, rest: memoryview, at: int) -> bool:
    while rest:
        got = os.preadv(fd, [rest], at)
        if not got:
            return False
        rest, at = rest[got:], at + got
    return True


def _bytes(values: Array) -> memoryview:
    if not values.size:
        return memoryview(b"")
    flat: Any = values.reshape(-1).view(np.uint8)
    return memoryview(flat)


def _storable_array(name: str, given: Array) -> Array:
    values = np.asarray(given)
    if values.dtype.kind in "OST":
        values = values.astype(np.str_)
    dtype = values.dtype.newbyteorder("<") if values.dtype.byteorder == ">" else values.dtype
    if dtype.name not in DTYPES and not _TEXT.match(dtype.str):
        raise BadArray(f"{name!r} is of {values.dtype}, which has no place in an answer.")
    return values.astype(dtype, copy=False)


def _word(dtype: np.dtype[Any]) -> str:
    return dtype.str if dtype.kind == "U" else dtype.name


def _places(listed: Any, size: int) -> dict[str, tuple[np.dtype[Any], tuple[int, ...], int, int]]:
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise BadArray(f"a list of arrays was expected, but got {type(listed).__name__}.")
    places = {}
    for entry in listed:
        if not isinstance(entry, Mapping):
            raise BadArray("an array was described by something else than its name, dtype, shape and place.")
        name = entry.get("name")
        if not isinstance(name, str) or len(name) > _LONGEST_NAME or name in places:
            raise BadArray(f"a name is no text, too long or there twice: {str(name)[:100]!r}.")
        places[name] = _place(name, entry, size)
    return places


def _place(name: str, entry: Mapping[str, Any], size: int) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    word, shape = entry.get("dtype"), entry.get("shape")
    at: Any = entry.get("at")
    if not isinstance(word, str) or not (word in DTYPES or _TEXT.match(word)):
        raise BadArray(f"{name!r} has an unknown dtype.")
    if not isinstance(shape, list) or len(shape) > _MOST_AXES or not all(_is_size(axis) for axis in shape):
        raise BadArray(f"{name!r} has no proper shape.")
    dtype = np.dtype(word)
    nbytes = math.prod(shape) * dtype.itemsize
    # Beside an axis of 0, which makes the product 0, others may still be more than any array can have.
    if math.prod(max(axis, 1) for axis in shape) * dtype.itemsize >= 2**63:
        raise BadArray(f"{name!r} has no proper shape.")
    if not _is_size(at) or (nbytes and at + nbytes > size):
        raise BadArray(f"{name!r} of shape {shape} lies outside of the {size:,} bytes that are shared.")
    return dtype, tuple(shape), int(at), nbytes


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62
