"""Arrays in memory that a model's process and its parent share. Who reads checks everything before making an array.

Each direction has a file without a name, written by one side only. The parent neither maps nor trusts what the child
wrote: it copies with bounded reads, so a file that the child cuts short is an error and not the parent's end.
"""

from __future__ import annotations

import math
import mmap
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cutaway.models.backend import Array, Arrays

__all__ = ["DTYPES", "BadArray", "Mapped", "new_file", "read_arrays", "write_arrays"]

# Where arrays begin: a multiple of what vector instructions like.
_ALIGNMENT = 64
_FRACTIONS = ("float16", "float32", "float64", "complex64", "complex128")
DTYPES = frozenset(("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", *_FRACTIONS))
_TEXT = re.compile(r"<U([1-9][0-9]{0,4})\Z")
_LONGEST_NAME = 4096
_MOST_AXES = 32


class BadArray(Exception):
    """A description of an array that cannot be right."""


def new_file() -> int:
    """Return the descriptor of a file that has no name and lives in memory where the system has such files."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("cutaway", os.MFD_CLOEXEC)
    fd, path = tempfile.mkstemp(prefix="cutaway-")
    Path(path).unlink()
    return fd


def write_arrays(fd: int, arrays: Arrays) -> list[dict[str, Any]]:
    """Write arrays one behind the other, over what was there; return where each lies. Raises OSError where full."""
    listed, at = [], 0
    for name, given in arrays.items():
        values = _plain(name, given)
        at = -(-at // _ALIGNMENT) * _ALIGNMENT
        rest = _bytes(values)
        listed.append({"name": name, "dtype": _word(values.dtype), "shape": list(values.shape), "at": at})
        while rest:
            written = os.pwrite(fd, rest, at)
            rest, at = rest[written:], at + written
    return listed


def read_arrays(fd: int, listed: Any, *, most_bytes: int) -> dict[str, Array]:
    """Copy arrays out of what another process wrote, after checking that they lie in it. Raises `BadArray`."""
    size = os.fstat(fd).st_size
    places = _places(listed, size)
    total = sum(nbytes for *_, nbytes in places.values())
    if total > most_bytes:
        raise BadArray(f"{total:,} bytes at once, and the limit is {most_bytes:,}.")
    arrays = {}
    for name, (dtype, shape, start, _) in places.items():
        values = np.empty(shape, dtype)
        rest, at = _bytes(values), start
        while rest:
            got = os.preadv(fd, [rest], at)
            if not got:
                raise BadArray(f"{name!r} ended early.")
            rest, at = rest[got:], at + got
        arrays[name] = values
    return arrays


class Mapped:
    """What the parent wrote, as arrays without a copy; they hold until the parent writes again."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._map: mmap.mmap | None = None

    def arrays(self, listed: Any) -> dict[str, Array]:
        """Return the arrays that the parent listed."""
        size = os.fstat(self._fd).st_size
        if size and (self._map is None or len(self._map) < size):
            # The old one closes with the last array over it.
            self._map = mmap.mmap(self._fd, size)
        arrays = {}
        for name, (dtype, shape, at, nbytes) in _places(listed, size).items():
            if nbytes and self._map is not None:
                count = math.prod(shape)
                arrays[name] = np.frombuffer(self._map, dtype, count=count, offset=at).reshape(shape)
            else:
                arrays[name] = np.empty(shape, dtype)
        return arrays


def _bytes(values: Array) -> memoryview:
    if not values.size:
        return memoryview(b"")
    flat: Any = values.reshape(-1).view(np.uint8)
    return memoryview(flat)


def _plain(name: str, given: Array) -> Array:
    values = np.asarray(given)
    if values.dtype.kind in "OST":
        values = values.astype(np.str_)
    dtype = values.dtype.newbyteorder("<") if values.dtype.byteorder == ">" else values.dtype
    if dtype.name not in DTYPES and not _TEXT.match(dtype.str):
        raise BadArray(f"{name!r} is of {values.dtype}, which has no place in an answer.")
    return np.ascontiguousarray(values, dtype).reshape(values.shape)


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
    if not _is_size(at) or (nbytes and at + nbytes > size):
        raise BadArray(f"{name!r} of shape {shape} lies outside of the {size:,} bytes that are shared.")
    return dtype, tuple(shape), int(at), nbytes


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62
