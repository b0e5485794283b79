"""Where Arrow puts the numbers of a record batch, read from many messages at once.

The description of a batch is a flatbuffer: tables of offsets, and in them how many rows there are and where each buffer
lies. For one schema a writer always makes it of the same size and shape, so once it is taken apart for one message, the
counts of all others stand at the same places. Each message is compared with the first, so that nothing is assumed.
The format is the Arrow columnar format, version 5 of its metadata; the names below are those of its Message.fbs.
"""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa

from cutaway.arrays import BoolArray, Int64Array, UInt8Array

__all__ = ["gather_numbers"]


# A message starts with a mark and the length of its description.
PREFIX = struct.Struct("<II")


def gather_numbers(data: UInt8Array, starts: Int64Array, schema: pa.Schema, name: str) -> pa.Array | None:
    """Return a column of integers or floats without nulls over all messages, or None where Arrow must read it."""
    kind = schema.field(name).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)) or data.ctypes.data % 8 or (starts % 8).any():
        return None
    _, size = PREFIX.unpack(data[starts[0] :][: PREFIX.size].tobytes())
    layout = _Layout.parse(data[starts[0] + PREFIX.size :][:size].tobytes())
    node, buffer = _field_numbers(schema, name)
    if layout is None or layout.buffers + 16 * (buffer + 1) > size:
        return None
    words = data[: len(data) // 8 * 8].view("<i8")
    described = words[(starts // 8)[:, None] + np.arange((PREFIX.size + size) // 8)]
    if not layout.fits(described):
        return None
    rows = described[:, (PREFIX.size + layout.length) // 8]
    nulls = described[:, (PREFIX.size + layout.nodes) // 8 + 2 * node + 1]
    offsets = described[:, (PREFIX.size + layout.buffers) // 8 + 2 * buffer]
    if nulls.any():
        return None
    width = kind.bit_width // 8
    first = (starts + PREFIX.size + size + offsets) // width
    before = np.cumsum(rows) - rows
    places = np.repeat(first - before, rows) + np.arange(int(rows.sum()))
    found = data[: len(data) // width * width].view(f"u{width}")[places]
    return pa.Array.from_buffers(kind, len(found), [None, pa.py_buffer(found)])


class _Layout:
    """Where the counts stand in a description: offsets of single numbers and of vectors."""

    def __init__(self, length: int, nodes: int, buffers: int, free: BoolArray) -> None:
        self.length, self.nodes, self.buffers = length, nodes, buffers
        self._free = free  # words that may differ between messages

    @classmethod
    def parse(cls, description: bytes) -> _Layout | None:
        """Take a description apart: a Message whose header is a RecordBatch without compression."""
        try:
            message = _FlatbufferTable(description, struct.unpack_from("<I", description)[0])
            batch = message.table(2)
            length, body = batch.field(0), message.field(3)
            (nodes, count), (buffers, many) = batch.vector(1), batch.vector(2)
            if description[message.field(1)] != 3 or batch.has(3):
                return None
        except (struct.error, KeyError, IndexError):
            return None
        places = (length, nodes, buffers, body)
        if any(place % 8 for place in places) or len(description) % 8:
            return None
        free = np.zeros(len(description) // 8, bool)
        for start, words in ((length, 1), (body, 1), (nodes, 2 * count), (buffers, 2 * many)):
            free[start // 8 : start // 8 + words] = True
        return cls(length, nodes, buffers, np.concatenate([np.zeros(PREFIX.size // 8, bool), free]))

    def fits(self, described: Int64Array) -> bool:
        """Whether all descriptions, prefix included, are the same but for the counts."""
        fixed = described[:, ~self._free]
        return bool((fixed == fixed[0]).all())


class _FlatbufferTable:
    """A table of a flatbuffer."""

    def __init__(self, data: bytes, place: int) -> None:
        self._data = data
        self._place = place
        self._index = place - struct.unpack_from("<i", data, place)[0]
        self._fields = (struct.unpack_from("<H", data, self._index)[0] - 4) // 2

    def has(self, number: int) -> bool:
        return self._offset(number) != 0

    def field(self, number: int) -> int:
        """Return where a field stands. Raises `KeyError` where it was left out because it has its default."""
        offset = self._offset(number)
        if not offset:
            raise KeyError(number)
        return self._place + offset

    def table(self, number: int) -> _FlatbufferTable:
        place = self.field(number)
        return _FlatbufferTable(self._data, place + int(struct.unpack_from("<I", self._data, place)[0]))

    def vector(self, number: int) -> tuple[int, int]:
        """Return where the items of a vector start, and how many there are."""
        place = self.field(number)
        start = place + int(struct.unpack_from("<I", self._data, place)[0])
        return start + 4, int(struct.unpack_from("<I", self._data, start)[0])

    def _offset(self, number: int) -> int:
        if number >= self._fields:
            return 0
        return int(struct.unpack_from("<H", self._data, self._index + 4 + 2 * number)[0])


def _field_numbers(schema: pa.Schema, name: str) -> tuple[int, int]:
    """Return the number of a column's node, and of its buffer of values, among all that a batch has."""
    node = buffer = 0
    for field in schema:
        if field.name == name:
            return node, buffer + 1
        nodes, buffers = _sizes(field.type)
        node, buffer = node + nodes, buffer + buffers
    raise KeyError(name)


def _sizes(kind: pa.DataType) -> tuple[int, int]:
    """Return how many nodes and buffers a column of a kind has, those of its children included."""
    if pa.types.is_null(kind):
        return 1, 0
    inner = [_sizes(kind.field(i).type) for i in range(kind.num_fields)]
    own = 3 if pa.types.is_string(kind) or pa.types.is_binary(kind) else 1 if pa.types.is_struct(kind) else 2
    return 1 + sum(nodes for nodes, _ in inner), own + sum(buffers for _, buffers in inner)
