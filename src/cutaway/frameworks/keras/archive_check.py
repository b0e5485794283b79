"""Looks into a `.keras` archive before Keras does: names, kinds, count and sizes of its members. Unpacks nothing.

What Keras would read of an archive (the configuration, the weights) is read here first, never more than was declared.
"""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import PurePosixPath
from typing import BinaryIO

from cutaway.errors import ModelFormatError, UnsafeModel
from cutaway.models.zip_names import BadZip, zip_names

__all__ = ["CONFIG", "LONGEST_CONFIG", "WEIGHTS", "checked_archive", "read_config", "read_weights"]

CONFIG, WEIGHTS = "config.json", "model.weights.h5"
# The largest configuration of `keras.applications` has 0.4 MB.
LONGEST_CONFIG = 32 * 1024 * 1024
# Keras writes three members, and one for each vocabulary.
MOST_MEMBERS = 10_000
# Keras stores its members as they are; weights that somebody packed again shrink by a few percent.
MOST_EXPANSION = 100
# What may expand further, because it is small: texts do.
SMALL = 16 * 1024 * 1024


def checked_archive(file: BinaryIO, path: str) -> zipfile.ZipFile:
    """Return the archive, of which every member is safe to read by its name and declared size."""
    size = file.seek(0, io.SEEK_END)
    try:
        listed = len(zip_names(file, size))
        if listed > MOST_MEMBERS:
            raise UnsafeModel(path, f"the archive has {listed:,} members, and at most {MOST_MEMBERS:,} are read.")
        archive = zipfile.ZipFile(file)
    except (BadZip, zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise ModelFormatError(path, f"the archive cannot be read: {error}") from error
    members = archive.infolist()
    names = set()
    for member in members:
        _check_member(member, path)
        if member.filename in names:
            raise UnsafeModel(path, f"the archive has {member.filename!r} twice.")
        names.add(member.filename)
    _check_sizes(members, size, path)
    for needed in (CONFIG, WEIGHTS):
        if needed not in names:
            raise ModelFormatError(path, f"the archive has no {needed!r}; `model.save('model.keras')` writes one.")
    return archive


def read_config(archive: zipfile.ZipFile, path: str) -> bytes:
    """Return the text of the configuration."""
    declared = archive.getinfo(CONFIG).file_size
    if declared > LONGEST_CONFIG:
        raise UnsafeModel(path, f"its {CONFIG} has {declared:,} bytes, and at most {LONGEST_CONFIG:,} are read.")
    return _read_member(archive, CONFIG, path)


def read_weights(archive: zipfile.ZipFile, path: str) -> io.BytesIO:
    """Return the weights as a file in memory, as Keras reads them too: HDF5 jumps about, which archives are slow at."""
    return io.BytesIO(_read_member(archive, WEIGHTS, path))


def _read_member(archive: zipfile.ZipFile, name: str, path: str) -> bytes:
    declared = archive.getinfo(name).file_size
    try:
        with archive.open(name) as member:
            content = member.read(declared + 1)
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        raise ModelFormatError(path, f"its {name} is damaged: {error}") from error
    if len(content) != declared:
        raise UnsafeModel(path, f"its {name} declares {declared:,} bytes, but has others.")
    return content


def _check_member(member: zipfile.ZipInfo, path: str) -> None:
    name = member.filename
    # Backslashes are separators to some who unpack, and zipfile has cut off what follows a NUL.
    parts = PurePosixPath(name.replace("\\", "/"))
    if not name or parts.is_absolute() or ".." in parts.parts or ":" in name or member.orig_filename != name:
        raise UnsafeModel(path, f"the archive has a member {member.orig_filename!r}, whose name leaves its folder.")
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        what = "a symbolic link" if kind == stat.S_IFLNK else "no file"
        raise UnsafeModel(path, f"{name!r} in the archive is {what}.")
    if member.flag_bits & 0x1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnsafeModel(path, f"{name!r} in the archive is encrypted, or packed in a way that Keras never uses.")


def _check_sizes(members: list[zipfile.ZipInfo], size: int, path: str) -> None:
    packed = sum(member.compress_size for member in members)
    if packed > size:
        # Members that share their bytes are how small archives unpack to anything.
        raise UnsafeModel(path, f"its members claim {packed:,} bytes of a file of {size:,}.")
    for member in members:
        _check_expansion(f"{member.filename!r} in the archive", member.file_size, member.compress_size, path)
    _check_expansion("the archive", sum(member.file_size for member in members), packed, path)


def _check_expansion(what: str, unpacked: int, packed: int, path: str) -> None:
    if unpacked > SMALL and unpacked > MOST_EXPANSION * packed:
        reason = (
            f"{what} would unpack from {packed:,} to {unpacked:,} bytes, more than {MOST_EXPANSION} times its size."
        )
        raise UnsafeModel(path, reason)
