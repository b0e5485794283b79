"""Reads bytes that somebody else wrote: regular files only, not more of them than allowed, and never around a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from cutaway.errors import ModelFormatError, ModelNotFound, UnsafeModel

__all__ = ["MOST_BYTES", "opened_inside", "read_whole"]

# A protobuf message cannot be longer; what is larger keeps its weights in files beside it.
MOST_BYTES = 2**31 - 1
# Without O_NONBLOCK, opening a pipe waits for its writer.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


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
def opened_inside(folder: Path, location: PurePosixPath, *, model: Path, trust: bool) -> Iterator[tuple[int, int]]:
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
