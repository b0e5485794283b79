"""Whether bytes are an ONNX model. The format has no magic number: its outermost fields are walked, not parsed."""

from __future__ import annotations

from typing import BinaryIO

__all__ = ["looks_like_onnx", "looks_like_saved_model"]

# ModelProto: ir_version and model_version are numbers, the rest texts and messages with a length in front.
_NUMBERS = frozenset({1, 5})
_MESSAGES = frozenset({2, 3, 4, 6, 7, 8, 14, 20, 25, 26})
_GRAPH = 7
# Opsets, metadata and functions are repeated; a model with more of them is not told by its first fields.
_MOST_FIELDS = 10_000
_NEWEST_IR = 1_000


def looks_like_onnx(file: BinaryIO, size: int) -> bool | None:
    """Return whether a file of `size` bytes is an ONNX model; None where it is one that is cut short."""
    fields, whole = _fields(file, size)
    version = next((value for number, value in fields if number == 1), None)
    has_graph = any(number == _GRAPH for number, _ in fields)
    if version is None or not 1 <= version <= _NEWEST_IR or not has_graph:
        return False
    return True if whole else None


def looks_like_saved_model(file: BinaryIO, size: int) -> bool:
    """Return whether a file is `saved_model.pb`: a schema version of 1, then graphs."""
    fields, _ = _fields(file, size)
    return fields[:1] == [(1, 1)] and len(fields) > 1 and all(number == 2 for number, _ in fields[1:])


def _fields(file: BinaryIO, size: int) -> tuple[list[tuple[int, int]], bool]:
    """The outermost fields with their values or lengths, and whether the file ends where the last of them does."""
    fields: list[tuple[int, int]] = []
    at = 0
    while at < size and len(fields) < _MOST_FIELDS:
        file.seek(at)
        head = file.read(20)
        key, used = _varint(head, 0)
        number, wire = key >> 3, key & 7
        if not ((wire == 0 and number in _NUMBERS) or (wire == 2 and number in _MESSAGES)):
            return [], False
        value, used = _varint(head, used)
        fields.append((number, value))
        at += used + (value if wire == 2 else 0)
    return fields, at == size or len(fields) == _MOST_FIELDS


def _varint(head: bytes, at: int) -> tuple[int, int]:
    """A number and the place behind it; 0 where the bytes end before it does."""
    value = 0
    for i, byte in enumerate(head[at : at + 10]):
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return value, at + i + 1
    return 0, len(head)
