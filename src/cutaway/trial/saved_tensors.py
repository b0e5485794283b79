"""Where the saved tensors of a run lie: for each tensor, step and worker its place, type, shape and reductions.

Rows stay in their Arrow columns; the places of one tensor are looked up the first time somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.arrays import Array, IndexArray
from cutaway.errors import RunFormatError
from cutaway.run.raw_file import RawFile
from cutaway.run.rows import numbers
from cutaway.trial.listed_rows import Listed, NamedPart, NamesOfParts, neighbours

__all__ = ["Entry", "Saved", "SavedSteps", "SavedTensors", "read_value"]


T = TypeVar("T")


class Saved(NamedTuple):
    """What was saved of one tensor at one step by one worker. `offset` is None where its value was not.

    `kind` is how numpy reads the bytes, None where it cannot; `dtype` is the tensor's own type.
    """

    file: RawFile
    offset: int | None
    length: int
    crc: int
    kind: np.dtype[Any] | None
    shape: tuple[int, ...] | None
    dtype: str
    part: SavedTensorsPart
    row: int

    def reductions(self) -> dict[str, float]:
        """Return the reductions that were saved, by key (`mean`, `abs_max`)."""
        found = self.part.reductions[self.row].as_py()
        return {} if found is None else dict(found)


# A `Saved` before anybody needs its names: making a thousand of those would cost as much as reading their rows.
Entry = tuple[RawFile, int | None, int, int, np.dtype[Any] | None, tuple[int, ...] | None, str, "SavedTensorsPart", int]


class SavedSteps:
    """The saved steps of one tensor."""

    def __init__(self) -> None:
        self.seen = 0  # parts looked at
        self.by_worker: dict[str, dict[int, Entry]] = {}
        # Each step from the first worker by name that has it; with one worker that is all there is.
        self.first: Mapping[int, Entry] = {}

    def add(self, worker: str, found: Iterable[tuple[int, Entry]]) -> None:
        """Take in what one worker saved."""
        self.by_worker.setdefault(worker, {}).update(found)
        self.by_worker = dict(sorted(self.by_worker.items()))
        if len(self.by_worker) == 1:
            self.first = next(iter(self.by_worker.values()))
        else:
            self.first = {step: one for steps in reversed(self.by_worker.values()) for step, one in steps.items()}


class SavedTensorsPart(NamedPart):
    """Some rows of `trace/tensors`, all of listed steps."""

    def __init__(self, listed: Listed, file: RawFile) -> None:
        super().__init__(listed)
        self.file = file

    @cached_property
    def reductions(self) -> pa.MapArray:
        """The reductions of each row."""
        return self.rows.column("reductions")

    @cached_property
    def has_reductions(self) -> bool:
        """Whether any row has some."""
        return bool(self.reductions.null_count < len(self.reductions))

    def of(self, name: str) -> Iterable[tuple[int, Entry]]:
        """Return each step of one tensor with what was saved."""
        places = self.names.places(name)
        if not len(places):
            return ()
        offset, length, crc = (self.rows.take(name, places) for name in ("offset", "length", "crc"))
        dtypes = self._column("dtype", places, str)
        shapes = self._column("shape", places, tuple)
        columns = (
            repeat(self.file),
            offset.to_pylist() if offset.null_count else _ints(offset),
            _ints(length),
            _ints(crc),
            [_DTYPES.get(dtype or "") for dtype in dtypes],
            shapes,
            dtypes,
            repeat(self),
            places.tolist(),
        )
        return zip(_ints(self.rows.take("step", places)), zip(*columns), strict=True)  # noqa: B905 - endless

    def in_full(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield each step with the names of the tensors whose values were saved at it, in their order."""
        codes, names = self.names.codes()
        offsets = self.rows.column("offset")
        kept = np.ones(len(codes), bool)
        if offsets.null_count:
            kept = offsets.is_valid().to_numpy(zero_copy_only=False)
        if not kept.any():
            return
        steps, counts = neighbours(self.steps[kept])
        known: dict[bytes, tuple[str, ...]] = {}
        for step, own in zip(steps.tolist(), np.split(codes[kept], np.cumsum(counts)[:-1]), strict=True):
            found = known.get(own.tobytes())
            if found is None:
                found = known[own.tobytes()] = tuple(names[code] for code in own.tolist())
            yield step, found

    def _column(self, name: str, places: IndexArray, wanted: Callable[[Any], T]) -> list[T | None]:
        """Return a column at some places, quickly where it always holds the same."""
        always = self.rows.constant(name, places)
        if always is not None:
            one = always.as_py()
            return [None if one is None else wanted(one)] * len(places)
        return [None if one is None else wanted(one) for one in self.rows.take(name, places).to_pylist()]


class SavedTensors:
    """All rows of `trace/tensors` whose steps are listed."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._parts: list[SavedTensorsPart] = []
        self._tensors: dict[str, SavedSteps] = {}
        self._names = NamesOfParts(self._parts)
        self.steps: set[int] = set()

    def add(self, listed: Listed, file: RawFile) -> None:
        """Take in rows and the file that their values lie in."""
        part = SavedTensorsPart(listed, file)
        self._parts.append(part)
        self.steps |= part.distinct_steps

    def parts(self, start: int = 0) -> list[SavedTensorsPart]:
        """Return the parts in the order in which they were taken in, from one of them on."""
        return self._parts[start:]

    def names(self, steps: Set[int] | None = None) -> set[str]:
        """Return the names of all saved tensors, or of those saved at one of some global steps."""
        return self._names.all() if steps is None else self._names.at(steps)

    def steps_of(self, name: str) -> SavedSteps | None:
        """Return what was saved of one tensor, or None where nothing was."""
        saved = self._tensors.get(name)
        if saved is None:
            saved = SavedSteps()
        if saved.seen < len(self._parts):
            for part in self._parts[saved.seen :]:
                found = list(part.of(name))
                if found:
                    saved.add(part.worker, found)
            saved.seen = len(self._parts)
        if not saved.by_worker:
            return None
        self._tensors[name] = saved
        return saved


def read_value(saved: Entry) -> Array | None:
    """Read a saved value, checked, or return None where only reductions or the shape were saved.

    numpy has no bfloat16, so that comes back as float32. Raises `RunDamaged`.
    """
    file, offset, length, crc, kind, shape, dtype, _, _ = saved
    if offset is None or shape is None:
        return None
    if kind is not None:
        return file.array(offset, length, crc, kind, shape)
    if dtype == "bfloat16":
        # Its bits are the upper half of those of a float32.
        bits = file.read(offset, length, crc).view("<u2").astype(np.uint32) << 16
        return bits.view(np.float32).reshape(shape)
    raise RunFormatError(f"Values of type {dtype!r} cannot be read: numpy has no such type.")


_DTYPES = {
    name: np.dtype(name).newbyteorder("<")
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
}


def _ints(column: pa.Array) -> list[int]:
    return list(numbers(pc.fill_null(column, 0) if column.null_count else column).tolist())
