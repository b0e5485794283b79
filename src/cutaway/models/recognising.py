"""Which format a model file has: decided by its content with bounded reads, never by its name, and nothing is loaded.

What is no model, cut short or only a pointer is said here. Whether a model is safe is for its format to say.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO, NamedTuple

from cutaway.engine.limits import Limits
from cutaway.errors import ModelError, ModelFormatError, ModelNotFound, UnsafeModel, did_you_mean
from cutaway.models.onnx_fields import looks_like_onnx, looks_like_saved_model
from cutaway.models.zip_names import BadZip, zip_names

__all__ = ["Recognised", "identity_of", "recognise"]

_SUFFIXES = {".keras": "keras", ".h5": "h5", ".hdf5": "h5", ".onnx": "onnx", ".pt2": "pt2"}
_HDF5 = b"\x89HDF\r\n\x1a\n"
_LFS = b"version https://git-lfs.github.com/spec/"
_PICKLE = (
    "it is a pickle, which runs code when it is read. Export the model with `torch.export.save`, as ONNX or as "
    "`.keras`, and give that file."
)
_CHECKPOINT = (
    "it is a pickled checkpoint of torch, which has weights but no model that could run, and runs code when it is "
    "read. Export the model with `torch.export.save(torch.export.export(model, inputs), 'model.pt2')`, or as ONNX."
)
_TORCHSCRIPT = (
    "it is TorchScript, which is not read. Export the model with "
    "`torch.export.save(torch.export.export(model, inputs), 'model.pt2')`, or as ONNX."
)
# What people give that is no model, by its first bytes.
_OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"\x80", _PICKLE),
    (b"\x1f\x8b", "it is compressed with gzip. Unpack it first."),
    (b"BZh", "it is compressed with bzip2. Unpack it first."),
    (b"\xfd7zXZ\x00", "it is compressed with xz. Unpack it first."),
    (b"\x28\xb5\x2f\xfd", "it is compressed with zstd. Unpack it first."),
    (b"\x93NUMPY", "it is an array of numpy, not a model."),
    (b"GGUF", "it is a GGUF file, which is not read. Export the model as ONNX."),
    (b"\x89PNG", "it is a picture, not a model."),
)
_READ = "`.keras`, `.h5`, `.onnx`, `.pt2` and SavedModel folders are read."
# A SavedModel has a handful of files, with custom assets some dozens.
_MOST_FILES = 10_000

Identity = tuple[tuple[str, int, int, int], ...]


class Recognised(NamedTuple):
    """A model file's format, and a note where its name says another; `format` is '' where no content says it."""

    format: str
    note: str = ""


def recognise(path: Path, limits: Limits) -> Recognised:
    """Return the format of a model file or folder. Raises `ModelFormatError` where it is none that can be read."""
    found = _stat(path)
    if stat.S_ISDIR(found.st_mode):
        return _recognise_folder(path, limits)
    kind = _special(found.st_mode)
    if kind:
        raise ModelFormatError(str(path), f"it is {kind}, not a file.", hint="Give the path of a model file.")
    # Without waiting: between the look at it and this, a named pipe may have taken the file's place.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        now = os.fstat(file.fileno())
        if not stat.S_ISREG(now.st_mode):
            raise ModelFormatError(str(path), "it is not a file.", hint="Give the path of a model file.")
        _check_size(path, now.st_size, limits)
        name = _format_of(file, now.st_size, path)
    return Recognised(name, _note_on_suffix(path, name))


def identity_of(path: Path) -> Identity:
    """Return what tells whether a file, or a folder's files, changed: names, sizes, times and inodes."""
    if not path.is_dir():
        found = _stat(path)
        return (("", found.st_size, found.st_mtime_ns, found.st_ino),)
    return tuple((name, found.st_size, found.st_mtime_ns, found.st_ino) for name, found in _files_of(path))


def _stat(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        if path.is_symlink():
            raise ModelNotFound(str(path), " It is a link to something that is not there.") from error
        raise ModelNotFound(str(path), _near(path)) from error
    except (OSError, ValueError) as error:
        raise ModelError(f"{str(path)!r} cannot be looked at: {error}.", path=path) from error


def _near(path: Path) -> str:
    try:
        return did_you_mean(path.name, [entry.name for entry in path.parent.iterdir()])
    except OSError:
        return ""


def _special(mode: int) -> str:
    kinds = ((stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISCHR, "a device"))
    return next((words for is_it, words in (*kinds, (stat.S_ISBLK, "a device")) if is_it(mode)), "")


def _check_size(path: Path, size: int, limits: Limits) -> None:
    if size == 0:
        raise ModelFormatError(str(path), "it is empty.", hint="Was it written or copied to its end?")
    if size > limits.file_mb * 1024 * 1024:
        reason = f"it has {size / 1024 / 1024:,.0f} MB, and the limit is {limits.file_mb:,} MB."
        raise UnsafeModel(str(path), f"{reason} Raise it with `Limits(file_mb=...)`.")


def _format_of(file: BinaryIO, size: int, path: Path) -> str:
    head = file.read(4096)
    if head.startswith(b"PK\x03\x04"):
        return _format_of_zip(file, size, path)
    if _hdf5_start(head) is not None:
        _check_hdf5_end(file, size, path)
        return "h5"
    _refuse_others(head, path)
    onnx = looks_like_onnx(file, size)
    if onnx is None:
        raise ModelFormatError(
            str(path), f"it is an ONNX model that is cut short, at {size:,} bytes.", hint="Copy it again."
        )
    if onnx:
        return "onnx"
    if looks_like_saved_model(file, size):
        raise ModelFormatError(
            str(path), "it is a part of a SavedModel.", hint=f"Give its folder, {str(path.parent)!r}."
        )
    return ""


def _refuse_others(head: bytes, path: Path) -> None:
    if head.startswith(_LFS):
        raise ModelFormatError(
            str(path),
            "it is a pointer of Git LFS, not the model itself.",
            hint="Run `git lfs pull` where you cloned it.",
        )
    for start, reason in _OTHERS:
        if head.startswith(start):
            raise ModelFormatError(str(path), reason)
    if head[4:8] == b"TFL3":
        raise ModelFormatError(str(path), "it is a TensorFlow Lite model, which is not read.", hint=_READ)
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 100_000_000:
        reason = "it is a safetensors file: weights without a model."
        raise ModelFormatError(str(path), reason, hint="Load them into the model and give that.")
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:15].lower()
    if text.startswith((b"<!doctype html", b"<html", b"<?xml")):
        reason = "it is a web page, as a download leaves it that failed or needed a login."
        raise ModelFormatError(str(path), reason, hint="Download it again.")


def _hdf5_start(head: bytes) -> int | None:
    # HDF5 may begin behind a block of the user's own, of 512 bytes, 1,024, 2,048 and so on.
    starts = (0, 512, 1024, 2048)
    return next((at for at in starts if head[at : at + len(_HDF5)] == _HDF5), None)


def _check_hdf5_end(file: BinaryIO, size: int, path: Path) -> None:
    """HDF5 says in its first block where it ends; a download that broke off is shorter."""
    file.seek(0)
    head = file.read(4096)
    start = _hdf5_start(head) or 0
    ends = {0: 40, 1: 44, 2: 28, 3: 28}
    at = ends.get(head[start + 8] if len(head) > start + 8 else -1)
    if at is None or len(head) < start + at + 8:
        raise ModelFormatError(str(path), f"it is an HDF5 file that is cut short or damaged, at {size:,} bytes.")
    end = int.from_bytes(head[start + at : start + at + 8], "little")
    if end > size:
        reason = f"it is an HDF5 file that is cut short: it has {size:,} of {end:,} bytes."
        raise ModelFormatError(str(path), reason, hint="Copy it again.")


def _format_of_zip(file: BinaryIO, size: int, path: Path) -> str:
    try:
        names = set(zip_names(file, size))
    except BadZip as error:
        raise ModelFormatError(str(path), f"it is a zip archive, and {error}") from error
    if {"config.json", "metadata.json"} <= names:
        return "keras"
    inner = {name.partition("/")[2] for name in names}
    if "archive_format" in inner or "serialized_exported_program.json" in names:
        return "pt2"
    raise ModelFormatError(str(path), _what_else(names, inner))


def _what_else(names: set[str], inner: set[str]) -> str:
    if "constants.pkl" in inner or any(name.startswith("code/") for name in inner):
        return _TORCHSCRIPT
    if "data.pkl" in inner:
        return _CHECKPOINT
    if any(Path(name).name == "saved_model.pb" for name in names):
        return "it is a SavedModel in a zip archive. Unpack it and give the folder."
    listed = ", ".join(sorted(names)[:3])
    return f"it is a zip archive of something else ({len(names)} members: {listed[:200]}). {_READ}"


def _recognise_folder(path: Path, limits: Limits) -> Recognised:
    if not (path / "saved_model.pb").is_file():
        raise ModelFormatError(str(path), _what_folder(path))
    size = 0
    for name, found in _files_of(path):
        size += found.st_size
        if found.st_size <= 1024 and stat.S_ISREG(found.st_mode):
            _refuse_others((path / name).read_bytes()[: len(_LFS)], path / name)
    _check_size(path, size, limits)
    _check_size(path / "saved_model.pb", (path / "saved_model.pb").stat().st_size, limits)
    return Recognised("saved_model")


def _files_of(path: Path) -> list[tuple[str, os.stat_result]]:
    """The files of a folder and of those in it, which are counted too: empty ones can lie in each other for ever."""
    files: list[tuple[str, os.stat_result]] = []
    waiting, count = [str(path)], 0
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listed:
                for entry in listed:
                    count += 1
                    if count > _MOST_FILES:
                        reason = f"the folder has more than {_MOST_FILES:,} files."
                        raise UnsafeModel(str(path), reason, hint="Give a SavedModel's own.")
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        files.append((os.path.relpath(entry.path, path), entry.stat(follow_symlinks=False)))
        except OSError as error:
            raise ModelError(f"{str(path)!r} cannot be listed: {error}.", path=path) from error
    return sorted(files, key=lambda entry: entry[0])


def _what_folder(path: Path) -> str:
    try:
        names = sorted(entry.name for entry in path.iterdir())
    except OSError as error:
        return f"the folder cannot be listed: {error}."
    models = [name for name in names if Path(name).suffix in _SUFFIXES]
    if models:
        return f"it is a folder. Give a model file in it, such as {str(path / models[0])!r}."
    if any(name.endswith(".safetensors") for name in names):
        return "it is a folder of weights (safetensors) without a model. Load it with its library and give the model."
    if "saved_model.pbtxt" in names:
        return "it is a SavedModel as text. Save it again as `saved_model.pb`."
    return f"the folder has no `saved_model.pb`, so it is no SavedModel. It has {', '.join(names[:5]) or 'nothing'}."


def _note_on_suffix(path: Path, name: str) -> str:
    said = _SUFFIXES.get(path.suffix.lower())
    if not name or said is None or said == name:
        return ""
    return f"{path.name} is named as {said}, but its content is {name}; it was read as {name}."
