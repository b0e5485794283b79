"""The raw tensors of one segment: its `.bin` file, read in place, each piece checked."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from cutaway.arrays import Array, UInt8Array
from cutaway.errors import RunDamaged
from cutaway.run.checksum import checksum_of_array
from cutaway.run.segments import ALIGNMENT, RawPlace
from cutaway.run.storage import LocalFile, Storage

__all__ = ["RawFile"]


# Up to here a copy costs less than the page faults of a map, and a kept file less than opening it each time.
SMALL_BYTES = 32 << 10


class RawFile:
    """Reads raw tensors: small ones as copies, large ones in place where the file no longer grows.

    Storages that can neither keep a file open nor map it are asked for each piece.
    """

    def __init__(self, storage: Storage, path: str, kind: int) -> None:
        self._storage = storage
        self._path = path
        self._checksum = checksum_of_array(kind)
        self._grows = True
        self._file: LocalFile | None = None
        self._mapped: UInt8Array | None = None

    def settle(self) -> None:
        """Note that the file no longer grows."""
        self._grows = False

    def read(self, offset: int, length: int, crc: int) -> UInt8Array:
        """Return the bytes of one tensor, read-only. Raises `RunDamaged` where they are not those that were written."""
        return np.frombuffer(self._checked(offset, length, crc), np.uint8)[:length]

    def array(self, offset: int, length: int, crc: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        """Return one tensor as a read-only array; raises as `read` does."""
        if self._file is not None and 0 < length <= SMALL_BYTES:
            # In line, because small tensors are read by the thousand.
            piece = os.pread(self._file.descriptor, length + -length % ALIGNMENT, offset)
            if len(piece) >= length and self._checksum(piece) == crc:
                return np.ndarray(shape, dtype, piece)
        data = self._checked(offset, length, crc)
        return np.ndarray(shape, dtype, data if length else b"")

    def view(self, place: RawPlace) -> memoryview:
        """Return the bytes of one tensor."""
        return self.read(*place).data

    def _checked(self, offset: int, length: int, crc: int) -> bytes | UInt8Array:
        """Return the bytes of one tensor with their padding."""
        padded = length + -length % ALIGNMENT
        file = self._file
        if file is not None and padded <= SMALL_BYTES:
            data: bytes | UInt8Array = os.pread(file.descriptor, padded, offset)
        else:
            data = self._fetch(offset, padded)
        if len(data) != padded or self._checksum(data) != crc:
            missing = padded - len(data)
            raise RunDamaged(self._path, offset, f"{missing} bytes are missing" if missing else "it fails its checksum")
        return data

    def _fetch(self, offset: int, padded: int) -> bytes | UInt8Array:
        try:
            if padded <= SMALL_BYTES and hasattr(self._storage, "open"):
                self._file = self._storage.open(self._path)
            elif padded > SMALL_BYTES and not self._grows and hasattr(self._storage, "map"):
                if self._mapped is None:
                    self._mapped = np.frombuffer(self._storage.map(self._path), np.uint8)
                if self._storage.size(self._path) < len(self._mapped):
                    # Reading a mapped page that its file no longer has would end the whole process.
                    raise RunDamaged(self._path, offset, "it was cut short since it was opened")
                return self._mapped[offset : offset + padded]
            return self._storage.read(self._path, offset, padded)
        except OSError as error:
            raise RunDamaged(self._path, offset, f"it cannot be read: {error.strerror or error}") from error
