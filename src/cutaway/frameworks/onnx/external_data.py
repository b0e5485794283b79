"""Weights that an ONNX file keeps in other files: where they may lie, how long they may be, and reading them."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

import onnx

from cutaway.errors import ModelFormatError, UnsafeModel
from cutaway.frameworks.onnx.reading import opened_inside
from cutaway.frameworks.onnx.tensors import declared_bytes

__all__ = ["MOST_EXTERNAL_BYTES", "bring_inside", "is_external"]

# All external tensors of a model together.
MOST_EXTERNAL_BYTES = 16 * 2**30
_PIECE = 2**28
_KEYS = {"location", "offset", "length", "checksum"}
_DRIVE_OR_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def is_external(tensor: onnx.TensorProto) -> bool:
    """Whether the values of a tensor lie in another file."""
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def bring_inside(tensors: list[onnx.TensorProto], path: Path, *, trust: bool) -> None:
    """Read the values of external tensors into the tensors, after every check has passed for every one of them."""
    plans = [_plan(tensor, path) for tensor in tensors]
    total = sum(size for _, _, size in plans)
    if total > MOST_EXTERNAL_BYTES:
        reason = f"its external data are {total} bytes together; at most {MOST_EXTERNAL_BYTES} are read."
        raise UnsafeModel(str(path), reason)
    for tensor, (location, offset, size) in zip(tensors, plans, strict=True):
        data = _read_from_file(location, offset, size, path=path, tensor=tensor.name, trust=trust)
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")
        tensor.raw_data = data


def _plan(tensor: onnx.TensorProto, path: Path) -> tuple[PurePosixPath, int, int]:
    entries: dict[str, str] = {}
    for entry in tensor.external_data:
        if entry.key not in _KEYS or entry.key in entries:
            known = ", ".join(sorted(_KEYS))
            reason = f"the external data of tensor {tensor.name!r} have the key {entry.key!r}; known are {known}, once."
            raise UnsafeModel(str(path), reason)
        entries[entry.key] = entry.value
    if tensor.data_type == onnx.TensorProto.STRING:
        raise ModelFormatError(str(path), f"tensor {tensor.name!r} keeps text in another file, which ONNX forbids.")
    location = _location(entries.get("location", ""), tensor, path)
    size = declared_bytes(tensor, path)
    offset = _whole_number(entries.get("offset", "0"), "offset", tensor, path)
    length = _whole_number(entries.get("length", str(size)), "length", tensor, path)
    if length != size:
        reason = f"tensor {tensor.name!r} needs {size} bytes, but its external data have the length {length}."
        raise ModelFormatError(str(path), reason)
    return location, offset, size


def _location(text: str, tensor: onnx.TensorProto, path: Path) -> PurePosixPath:
    """A plain relative path, as every system reads it: a backslash or a drive is a way out on some of them."""
    parts = text.split("/")
    plain = text and "\\" not in text and "\0" not in text and not _DRIVE_OR_SCHEME.match(text)
    if not plain or any(part in ("", ".", "..") for part in parts):
        reason = f"the external data of tensor {tensor.name!r} lie at {text!r}. "
        raise UnsafeModel(str(path), reason + "Only a relative path inside the model's own folder is read.")
    return PurePosixPath(text)


def _whole_number(text: str, key: str, tensor: onnx.TensorProto, path: Path) -> int:
    # The length bound keeps `int` from working on a megabyte of digits.
    if not (text.isascii() and text.isdigit() and len(text) <= 19):
        reason = f"the {key} of the external data of tensor {tensor.name!r} is {text[:40]!r}, not a whole number >= 0."
        raise ModelFormatError(str(path), reason)
    return int(text)


def _read_from_file(location: PurePosixPath, offset: int, size: int, *, path: Path, tensor: str, trust: bool) -> bytes:
    with opened_inside(path.parent, location, model=path, trust=trust) as (descriptor, available):
        if offset + size > available:
            reason = f"tensor {tensor!r} should lie at bytes {offset} to {offset + size} of {str(location)!r}, "
            raise ModelFormatError(
                str(path), f"{reason}which has only {available}.", hint="It was cut short or exchanged."
            )
        pieces, done = [], 0
        while done < size:
            pieces.append(os.pread(descriptor, min(size - done, _PIECE), offset + done))
            if not pieces[-1]:
                raise ModelFormatError(str(path), f"{str(location)!r} became shorter while it was read.")
            done += len(pieces[-1])
    return b"".join(pieces)
