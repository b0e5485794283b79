"""The names in a zip archive, read with bounds: an archive that lists a million members is refused, not listed."""

from __future__ import annotations

import io
import struct
from typing import BinaryIO

__all__ = ["BadZip", "zip_names"]

# The comment at the end of an archive can be as long as this, behind its 22 bytes.
_LONGEST_COMMENT = 65_535
_END = struct.Struct("<4s4H2IH")
_END_64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR_64 = struct.Struct("<4sIQI")
_ENTRY = struct.Struct("<4s6H3I5H2I")
# A torch.export archive has one member for each weight: 10,000 of them take about 1 MB.
LONGEST_LIST = 16 * 1024 * 1024


class BadZip(Exception):
    """An archive that is cut short or whose list cannot be read; the message says how."""


def zip_names(file: BinaryIO, size: int) -> list[str]:
    """Return the names of the members of an archive of `size` bytes. Raises `BadZip`."""
    start, length = _list_of_members(file, size)
    if length > LONGEST_LIST:
        raise BadZip(f"its list of members alone has {length:,} bytes, and {LONGEST_LIST:,} are read.")
    if start + length > size:
        raise BadZip("it is cut short: its list of members lies behind its end.")
    file.seek(start)
    listed = io.BytesIO(file.read(length))
    names = []
    while head := listed.read(_ENTRY.size):
        if len(head) < _ENTRY.size or not head.startswith(b"PK\x01\x02"):
            raise BadZip("its list of members is damaged.")
        name_length, extra, comment = _ENTRY.unpack(head)[10:13]
        names.append(listed.read(name_length).decode("utf-8", "replace"))
        listed.seek(extra + comment, io.SEEK_CUR)
    return names


def _list_of_members(file: BinaryIO, size: int) -> tuple[int, int]:
    """Where the list of members begins, and its length."""
    behind = max(0, size - _LONGEST_COMMENT - _END.size)
    file.seek(behind)
    tail = file.read(_LONGEST_COMMENT + _END.size)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise BadZip("it is cut short: a zip archive ends with a list of its members, and this one has none.")
    *_, length, start, _ = _END.unpack_from(tail, at)
    if 0xFFFFFFFF not in (length, start):
        return int(start), int(length)
    return _list_of_large_archive(file, behind + at - _LOCATOR_64.size)


def _list_of_large_archive(file: BinaryIO, locator_at: int) -> tuple[int, int]:
    file.seek(max(0, locator_at))
    locator = file.read(_LOCATOR_64.size)
    if len(locator) == _LOCATOR_64.size and locator.startswith(b"PK\x06\x07"):
        at = _LOCATOR_64.unpack(locator)[2]
        file.seek(min(at, locator_at))
        end = file.read(_END_64.size)
        if len(end) == _END_64.size and end.startswith(b"PK\x06\x06"):
            length, start = _END_64.unpack(end)[8:]
            return int(start), int(length)
    raise BadZip("its list of members is damaged.")
