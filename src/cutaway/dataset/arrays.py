"""A subset that lies in arrays: whole slices are handed out, without a call for each sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset.enums import SUBSETS, Role
from cutaway.dataset.subset import NamedParts, Scalar
from cutaway.errors import ConfigurationError, EncoderError, did_you_mean

__all__ = ["ArraySubset", "known_subset", "scalar"]


class ArraySubset:
    """The samples of one subset in arrays, or in whatever has a length and gives slices: memory maps, HDF5, Zarr."""

    def __init__(self, name: str, columns: NamedParts, ids: Sequence[object] | None = None) -> None:
        self.name = known_subset(name)
        self._arrays = {Role.INPUT: columns.inputs, Role.GROUND_TRUTH: columns.ground_truths}
        self._metadata = columns.metadata
        self._ids = None if ids is None else [str(one) for one in ids]
        self._length = self._common_length()
        _refuse_objects(self._arrays)
        if self._ids is not None and len(set(self._ids)) < len(self._ids):
            twice = next(one for i, one in enumerate(self._ids) if one in self._ids[:i])
            raise ConfigurationError(f"Ids must differ within a subset, but {twice!r} stands twice in {name}.")

    def __len__(self) -> int:
        return self._length

    def ids(self, start: int, stop: int) -> list[str]:
        """Return the given ids, or the positions as text."""
        stop = min(stop, self._length)
        return [str(i) for i in range(start, stop)] if self._ids is None else self._ids[start:stop]

    def encode(self, role: Role, name: str, index: int) -> Array:
        """Return one row."""
        return np.asarray(self._arrays[role][name][index])

    def encode_many(self, role: Role, name: str, start: int, stop: int) -> Array:
        """Return a slice."""
        return np.asarray(self._arrays[role][name][start:stop])

    def metadata(self, index: int) -> dict[str, Scalar]:
        """Return one value of each metadata array."""
        own = self.ids(index, index + 1)[0]
        return {name: scalar(values[index], name, f"{self.name}/{own}") for name, values in self._metadata.items()}

    def response(self) -> None:
        """There is no binding, and so no response."""

    def _common_length(self) -> int:
        lengths = {name: len(values) for arrays in self._arrays.values() for name, values in arrays.items()}
        lengths |= {name: len(values) for name, values in self._metadata.items()}
        if self._ids is not None:
            lengths["ids"] = len(self._ids)
        if len(set(lengths.values())) != 1:
            message = f"Everything about {self.name} must have as many rows, but got {lengths}."
            raise ConfigurationError(message)
        return next(iter(lengths.values()))


def known_subset(name: str) -> str:
    """Return the name of a subset, or raise with those that there are."""
    if name not in SUBSETS:
        message = f"There is no subset {name!r}."
        raise ConfigurationError(message, hint=f"{did_you_mean(name, SUBSETS)} Subsets are {', '.join(SUBSETS)}.")
    return name


def scalar(value: Any, name: str, sample: str) -> Scalar:
    """Return a metadata value as plain Python; numpy's numbers become Python's, NaN stays what it is."""
    item = value.item() if isinstance(value, np.generic) else value
    if item is None or isinstance(item, (bool, int, float, str)):
        return item
    if isinstance(item, bytes):
        return item.decode(errors="replace")
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return scalar(value[()], name, sample)
    raise EncoderError("metadata", name, sample, f"a value must be a number or text, but got {type(value).__name__}.")


def _refuse_objects(arrays: Mapping[Role, Mapping[str, Any]]) -> None:
    for role, named in arrays.items():
        for name, values in named.items():
            dtype = getattr(values, "dtype", None)
            if dtype is not None and np.dtype(dtype).hasobject:
                message = f"The {role} {name!r} must be an array of numbers, but its dtype is object."
                raise ConfigurationError(message, hint="Rows of different lengths have to be padded first.")
