"""Reads bytes that somebody else wrote: regular files only, not more of them than allowed, and never around a link.

Also the weights that an ONNX file keeps in other files: where these may lie, and how long they may be.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import onnx

from cutaway.errors import ModelFormatError, ModelNotFound, UnsafeModel
from cutaway.frameworks.onnx.tensors import declared_bytes

__all__ = ["MOST_BYTES", "bring_inside", "is_external", "read_whole"]

# A protobuf message cannot be longer; what is larger keeps its weights in files beside it.
MOST_BYTES = 2**31 - 1
# Without O_NONBLOCK, opening a pipe waits for its writer.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
# All external tensors of a model together.
MOST_EXTERNAL_BYTES = 16 * 2**30
_PIECE = 2**28
_KEYS = {"location", "offset", "length", "checksum"}
_DRIVE_OR_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def read_whole(path: Path) -> bytes:
    """Return the bytes of a model file. Raises `ModelFormatError` for what is no regular file, or too large."""
    try:
        descriptor = os.open(path, _FLAGS)
    except FileNotFoundError as error:
        raise ModelNotFound(str(path)) from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise ModelFormatError(str(path), "it is not a regular file.")
    with os.fdopen(descriptor, "rb") as file:
        if status.st_size > MOST_BYTES:
            reason = f"it has {status.st_size} bytes, and an ONNX file has at most {MOST_BYTES}."
            raise ModelFormatError(str(path), reason)
        data = file.read(status.st_size + 1)
    if len(data) != status.st_size:
        raise ModelFormatError(str(path), "it changed while it was read.", hint="Load it again when it is written.")
    return data


@contextmanager
def _opened_inside(folder: Path, location: PurePosixPath, *, model: Path, trust: bool) -> Iterator[tuple[int, int]]:
    """Open a file below a folder and give its descriptor and size.

    Every part of the way is opened from the one before it, without following links, so that what was checked is what
    is read. A trusted model may use links, as caches of downloads do.
    """
    handles: list[int] = []
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        handles.append(descriptor)
        for part in location.parts[:-1]:
            descriptor = _step(part, descriptor, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, trust=trust)
            handles.append(descriptor)
        descriptor = _step(location.name, descriptor, _FLAGS, trust=trust)
        handles.append(descriptor)
        yield descriptor, _checked_size(descriptor, location, model=model, trust=trust)
    except FileNotFoundError as error:
        reason = f"its weights should be in {str(location)!r} beside it, and that file is missing."
        raise ModelFormatError(str(model), reason, hint="Copy both together.") from error
    except OSError as error:
        # ELOOP and ENOTDIR are how O_NOFOLLOW says that a part of the way is a link.
        reason = f"its external data {str(location)!r} cannot be opened without following a link ({error.strerror}). "
        raise UnsafeModel(str(model), reason + "Copy the files instead of linking them, or trust the model.") from error
    finally:
        for handle in reversed(handles):
            os.close(handle)


def _step(part: str, inside: int, flags: int, *, trust: bool) -> int:
    return os.open(part, flags if trust else flags | os.O_NOFOLLOW, dir_fd=inside)


def _checked_size(descriptor: int, location: PurePosixPath, *, model: Path, trust: bool) -> int:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise UnsafeModel(str(model), f"its external data {str(location)!r} is not a regular file.")
    if status.st_nlink > 1 and not trust:
        reason = f"its external data {str(location)!r} is a hard link: the same file has {status.st_nlink} names. "
        raise UnsafeModel(str(model), reason + "Copy the file instead of linking it, or trust the model.")
    return status.st_size


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
    with _opened_inside(path.parent, location, model=path, trust=trust) as (descriptor, available):
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
