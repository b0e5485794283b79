"""Looks into an HDF5 file before Keras does: every link, every data set's size and storage. Reads no data.

Whatever points elsewhere is refused: external and soft links, virtual data sets, external storage, filters that HDF5
would load as plug-ins.
"""

from __future__ import annotations

from typing import Any

import h5py

from cutaway.errors import ModelFormatError, UnsafeModel

__all__ = ["checked_elements", "text_attribute"]

# A data set for each weight, a group for each layer: the largest public models have some ten thousand.
MOST_OBJECTS = 200_000
# Keras does not compress; gzip makes weights a little smaller, and zeros a thousand times.
MOST_EXPANSION = 100
SMALL = 16 * 1024 * 1024
# deflate, shuffle, fletcher32, szip, nbit, scaleoffset, and LZF, which h5py brings: none of them a plug-in.
_FILTERS = {1, 2, 3, 4, 5, 6, 32000}


def checked_elements(file: h5py.File, size: int, path: str) -> int:
    """Return how many numbers all data sets of a file of `size` bytes hold. Raises `UnsafeModel`."""
    elements = unpacked = 0
    seen: set[int] = set()
    waiting: list[h5py.Group] = [file["/"]]
    while waiting:
        group = waiting.pop()
        for name in group:
            _check_link(group, name, path)
            found = group[name]
            address = h5py.h5o.get_info(found.id).addr
            if address in seen:
                continue
            seen.add(address)
            if len(seen) > MOST_OBJECTS:
                raise UnsafeModel(path, f"it has more than {MOST_OBJECTS:,} groups and data sets.")
            if isinstance(found, h5py.Group):
                waiting.append(found)
                continue
            if not isinstance(found, h5py.Dataset):
                raise UnsafeModel(path, f"{found.name!r} is neither a group nor a data set.")
            elements += _check_dataset(found, size, path)
            unpacked += int(found.size or 0) * found.dtype.itemsize
    if unpacked > SMALL and unpacked > MOST_EXPANSION * size:
        raise UnsafeModel(path, f"its data sets declare {unpacked:,} bytes in a file of {size:,}.")
    return elements


def text_attribute(group: Any, name: str, longest: int, path: str) -> str | None:
    """Return the text that an attribute holds, or None where there is none; texts above `longest` are refused."""
    if name not in group.attrs:
        return None
    try:
        declared = group.attrs.get_id(name).get_storage_size()
        if declared > longest:
            raise UnsafeModel(path, f"its {name} has {declared:,} bytes, and at most {longest:,} are read.")
        value = group.attrs[name]
    except OSError as error:
        raise ModelFormatError(path, f"its {name} cannot be read: {error}") from error
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    if len(text) > longest:
        raise UnsafeModel(path, f"its {name} has {len(text):,} characters, and at most {longest:,} are read.")
    return text


def _check_link(group: h5py.Group, name: str, path: str) -> None:
    link = group.get(name, getlink=True)
    where = f"{group.name.rstrip('/')}/{name}"
    if isinstance(link, h5py.ExternalLink):
        raise UnsafeModel(path, f"{where!r} is a link into another file, {link.filename!r}.")
    if not isinstance(link, h5py.HardLink):
        raise UnsafeModel(path, f"{where!r} is a soft link, which Keras never writes.")


def _check_dataset(found: h5py.Dataset, size: int, path: str) -> int:
    name = found.name
    if found.is_virtual:
        raise UnsafeModel(path, f"{name!r} is a virtual data set, whose values lie in other files.")
    if found.external is not None:
        raise UnsafeModel(path, f"{name!r} keeps its values in another file, {found.external[0][0]!r}.")
    if found.dtype.kind not in "biufcS":
        raise UnsafeModel(path, f"{name!r} holds {found.dtype}, and weights are numbers.")
    settings = found.id.get_create_plist()
    for i in range(settings.get_nfilters()):
        number = settings.get_filter(i)[0]
        if number not in _FILTERS:
            raise UnsafeModel(path, f"{name!r} is packed by filter {number}, which HDF5 would load from elsewhere.")
    elements = int(found.size or 0)
    declared, stored = elements * found.dtype.itemsize, int(found.id.get_storage_size())
    if stored > size:
        raise UnsafeModel(path, f"{name!r} claims {stored:,} bytes of a file of {size:,}.")
    if declared > SMALL and declared > MOST_EXPANSION * stored:
        raise UnsafeModel(path, f"{name!r} declares {declared:,} bytes, but {stored:,} are stored.")
    return elements
