"""The checksums of a run's bytes: CRC-32C where google-crc32c is installed, zlib's CRC-32 elsewhere.

Both release the interpreter lock on large buffers. Files say which of the two they use, so either side can read the
other's files as long as it has the library.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from cutaway.arrays import UInt8Array
from cutaway.errors import RunFormatError

__all__ = [
    "CHECKSUM",
    "CRC32",
    "CRC32C",
    "checksum",
    "checksum_function",
    "checksum_of_array",
    "checksums",
    "checksums_of_rows",
]

CRC32, CRC32C = 0, 1


# Of bytes; a second argument is the checksum of what comes before them.
Checksum = Callable[..., int]

_FUNCTIONS: dict[int, Checksum] = {CRC32: zlib.crc32}
# The libraries' own functions: for thousands of small pieces a call in between is most of the cost.
_OF_ARRAY: dict[int, Callable[[Any], int]] = {CRC32: zlib.crc32}

try:
    import google_crc32c
except ImportError:
    CHECKSUM = CRC32
else:
    CHECKSUM = CRC32C

    def _crc32c(data: Any, so_far: int = 0) -> int:
        # google-crc32c refuses memoryviews, but takes arrays of bytes without a copy.
        plain = data if isinstance(data, (bytes, np.ndarray)) else np.frombuffer(data, np.uint8)
        return int(google_crc32c.extend(so_far, plain))

    _FUNCTIONS[CRC32C] = _crc32c
    _OF_ARRAY[CRC32C] = google_crc32c.value


def checksum_function(kind: int) -> Checksum:
    """Return the function for the kind that a file names."""
    try:
        return _FUNCTIONS[kind]
    except KeyError:
        message = (
            f"This run uses checksum kind {kind}. Run: pip install google-crc32c"
            if kind == CRC32C
            else f"This run uses the unknown checksum kind {kind}; it was written by a newer release."
        )
        raise RunFormatError(message) from None


def checksum_of_array(kind: int) -> Callable[[UInt8Array | bytes], int]:
    """Return the library's own function, which takes bytes or an array of them and nothing else."""
    checksum_function(kind)  # says what is missing
    return _OF_ARRAY[kind]


def checksums(
    data: UInt8Array | bytes, starts: Iterable[int], ends: Iterable[int], kind: int
) -> npt.NDArray[np.uint32]:
    """Return the checksums of many pieces of bytes."""
    of_array = checksum_of_array(kind)
    return np.array([of_array(data[start:end]) for start, end in zip(starts, ends, strict=True)], np.uint32)


def checksums_of_rows(rows: UInt8Array, kind: int) -> npt.NDArray[np.uint32]:
    """Return the checksum of each row of a table of bytes.

    A checksum is linear: it is that of zeros, combined with what each byte alone would change.
    """
    width = rows.shape[1]
    found = _changes(kind, width).take(rows.T + np.arange(0, 256 * width, 256, dtype=np.uint16)[:, None])
    combined: npt.NDArray[np.uint32] = np.bitwise_xor.reduce(found, axis=0)
    return combined ^ np.uint32(checksum_function(kind)(bytes(width)))


@cache
def _changes(kind: int, width: int) -> npt.NDArray[np.uint32]:
    """For each place in a row and each byte there: how the row's checksum differs from that of zeros."""
    polynomial = np.uint32({CRC32: 0xEDB88320, CRC32C: 0x82F63B78}[kind])
    last = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        last = np.where(last & 1, (last >> 1) ^ polynomial, last >> 1)
    changes = np.empty((width, 256), np.uint32)
    changes[-1] = last
    for place in range(width - 2, -1, -1):  # each byte after it is a zero, which shifts the change on
        changes[place] = last[changes[place + 1] & 0xFF] ^ (changes[place + 1] >> 8)
    return changes


checksum = checksum_function(CHECKSUM)
