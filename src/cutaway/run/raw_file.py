"""The raw tensors of one segment: its `.bin` file, read in place, each piece checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cutaway.errors import RunDamaged
from cutaway.run.checksum import checksum_of_array
from cutaway.run.segments import ALIGNMENT, RawPlace
from cutaway.run.storage import Storage

__all__ = ["RawFile"]


class RawFile:
    """Reads raw tensors: from a map where the file no longer grows and the storage can, else piece by piece."""

    def __init__(self, storage: Storage, path: str, kind: int) -> None:
        self._storage = storage
        self._path = path
        self._checksum = checksum_of_array(kind)
        self._mapped: npt.NDArray[np.uint8] | None = None

    def settle(self) -> None:
        """Note that the file no longer grows."""
        if self._mapped is None and hasattr(self._storage, "map"):
            try:
                self._mapped = np.frombuffer(self._storage.map(self._path), np.uint8)
            except OSError:
                # Reading piece by piece names what is wrong with the file.
                return

    def read(self, offset: int, length: int, crc: int) -> npt.NDArray[np.uint8]:
        """Return the bytes of one tensor, read-only. Raises `RunDamaged` where they are not those that were written."""
        end = offset + length + -length % ALIGNMENT
        data = self._fetch(offset, end) if self._mapped is None else self._mapped[offset:end]
        if self._checksum(data) != crc or len(data) != end - offset:
            missing = end - offset - len(data)
            raise RunDamaged(self._path, offset, f"{missing} bytes are missing" if missing else "it fails its checksum")
        return data[:length]

    def view(self, place: RawPlace) -> memoryview:
        """Return the bytes of one tensor as they lie in the file."""
        return self.read(*place).data

    def _fetch(self, offset: int, end: int) -> npt.NDArray[Any]:
        try:
            return np.frombuffer(self._storage.read(self._path, offset, end - offset), np.uint8)
        except OSError as error:
            raise RunDamaged(self._path, offset, f"it cannot be read: {error.strerror or error}") from error
