"""Looks into a `.pt2` before torch does, and hands torch an archive written anew from what was checked.

torch unpickles weights, constants and sample inputs of a `.pt2`, evaluates its sizes and guards, calls functions by
name and runs code that it makes of the names in the graph. Refused is whatever would lead there; which, and why, is
written down in docs/decisions/0015-what-is-refused-in-a-pt2.md.
"""

from __future__ import annotations

import io
import json
import re
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cutaway.errors import ModelFormatError, UnsafeModel
from cutaway.frameworks.torch.pt2_program import ITEM_SIZES, clean_program, clean_tensor, parameter_name
from cutaway.frameworks.torch.pt2_words import Malformed, Unsafe, boolean, mapped, record, shown, text

__all__ = ["checked_archive"]

_MOST_MEMBERS = 100_000
_LARGEST_JSON = 256 * 1024 * 1024
_LARGEST_TENSOR = 2**40
_WEIGHTS, _CONSTANTS = "data/weights/", "data/constants/"
_PROGRAM = "models/model.json"
_WEIGHTS_LIST, _CONSTANTS_LIST = f"{_WEIGHTS}model_weights_config.json", f"{_CONSTANTS}model_constants_config.json"
_NEEDED = ("archive_format", "archive_version", _PROGRAM, _WEIGHTS_LIST, _CONSTANTS_LIST)
# What torch writes beside the program and its tensors; none of it goes on.
_LEFT_OUT = re.compile(r"byteorder|\.data/version|\.data/serialization_id|data/sample_inputs/model\.pt|extra/.*")
_TENSOR = re.compile(r"data/weights/weight_\d+|data/constants/tensor_\d+")
_PICKLED = re.compile(r"data/(weights|constants)/.*\.pt|data/constants/(custom_obj|opaque_obj)_.*")
_EXPORT_AGAIN = "Export the model again with `torch.export.save` of torch 2.9 or newer"

_payloads = record(
    config=mapped(
        parameter_name,
        record(path_name=text, is_param=boolean, use_pickle=boolean, tensor_meta=lambda value: value),
    )
)


def checked_archive(path: Path) -> io.BytesIO:
    """Return an archive with what was checked of the one at `path`. Raises `UnsafeModel` or `ModelFormatError`."""
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            members = _members(archive, path.stat().st_size)
            return _written(archive, members)
    except Unsafe as error:
        raise UnsafeModel(
            str(path), f"{error}.", hint="If you trust whoever made it, load it with `trust=True`."
        ) from error
    except Malformed as error:
        raise ModelFormatError(str(path), f"{error}.") from error
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        # Whatever zipfile says of an archive that it cannot read: mostly that it lacks its end, or a wrong checksum.
        reason = f"it is cut short or damaged: {error}."
        raise ModelFormatError(str(path), reason, hint="Copy it again, and compare the sizes.") from error


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Return the members by their names below the archive's one folder, once all names and sizes are in order."""
    infos = archive.infolist()
    if len(infos) > _MOST_MEMBERS:
        raise Unsafe(f"it has {len(infos):,} members, and {_MOST_MEMBERS:,} are read")
    if sum(info.file_size for info in infos) > size:
        raise Unsafe(f"its members have {sum(info.file_size for info in infos):,} bytes, but the file {size:,}")
    if not infos or min(info.header_offset for info in infos) > 0:
        # An archive may hold another one, whose list is found where the outer one's is gone.
        raise zipfile.BadZipFile("its list of members is gone, or is not its own")
    if any(info.filename == "serialized_exported_program.json" for info in infos):
        raise Unsafe(f"it was written by torch before 2.9, whose weights are pickles. {_EXPORT_AGAIN}")
    members: dict[str, zipfile.ZipInfo] = {}
    roots = set()
    for info in infos:
        _check_member(info)
        root, _, name = info.filename.partition("/")
        roots.add(root)
        if name in members:
            raise Unsafe(f"it has {shown(name)} twice")
        members[name] = info
    if len(roots) > 1:
        raise Malformed(f"it has {len(roots)} folders where torch writes one: {', '.join(sorted(roots)[:3])[:200]}")
    _check_names(members)
    return members


def _check_member(info: zipfile.ZipInfo) -> None:
    parts = info.filename.split("/")
    if info.filename.startswith("/") or "\\" in info.filename or ".." in parts or "" in parts or ":" in parts[0]:
        raise Unsafe(f"it has a member outside its folder: {shown(info.filename)}")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise Unsafe(f"it has a link: {shown(info.filename)}")
    if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size or info.flag_bits & 1:
        raise Unsafe(f"its member {shown(info.filename)} is compressed or encrypted, which torch never does")


def _check_names(members: Mapping[str, zipfile.ZipInfo]) -> None:
    for name in members:
        if _PICKLED.fullmatch(name):
            raise Unsafe(f"it has {shown(name)}, a pickle, which runs code when it is read. {_EXPORT_AGAIN}")
        if name.startswith("data/aotinductor/"):
            raise Unsafe("it holds compiled machine code. Save the exported program itself, with `torch.export.save`")
        if name not in _NEEDED and not _LEFT_OUT.fullmatch(name) and not _TENSOR.fullmatch(name):
            raise Unsafe(f"it has {shown(name)}, which torch.export.save does not write")
    for name in _NEEDED:
        if name not in members:
            raise Malformed(f"it has no {name}, so torch.export.save did not write it, or not to its end")


def _written(archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> io.BytesIO:
    if archive.read(members["archive_format"]) != b"pt2" or archive.read(members["archive_version"]) != b"0":
        version = archive.read(members["archive_version"])[:20]
        raise Malformed(f"it is an archive of version {version!r}, and 0 is read. {_EXPORT_AGAIN}")
    if "byteorder" in members and archive.read(members["byteorder"]) != b"little":
        raise Malformed("its numbers are not little-endian")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as clean:
        clean.writestr("model/archive_format", "pt2")
        clean.writestr("model/archive_version", "0")
        clean.writestr("model/.data/version", "6\n")
        clean.writestr("model/byteorder", "little")
        clean.writestr("model/data/sample_inputs/model.pt", b"")
        program = clean_program(_json(archive, members[_PROGRAM]))
        clean.writestr(f"model/{_PROGRAM}", json.dumps(program))
        for listing, folder in ((_WEIGHTS_LIST, _WEIGHTS), (_CONSTANTS_LIST, _CONSTANTS)):
            config = _payloads(_json(archive, members[listing]))["config"]
            sizes: dict[str, tuple[int, int]] = {}
            for name, entry in config.items():
                entry["tensor_meta"] = _tensor(name, entry, folder, members, sizes)
            clean.writestr(f"model/{listing}", json.dumps({"config": config}))
            for member in sizes:
                clean.writestr(f"model/{member}", archive.read(members[member]))
    _check_declared(program)
    buffer.seek(0)
    return buffer


def _json(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    if info.file_size > _LARGEST_JSON:
        raise Unsafe(f"its {info.filename} has {info.file_size:,} bytes, and {_LARGEST_JSON:,} are read")
    try:
        return json.loads(archive.read(info))
    except (ValueError, RecursionError) as error:
        raise Malformed(f"its {info.filename} is no JSON that can be read: {str(error)[:200]}") from error


def _tensor(
    name: str,
    entry: Mapping[str, Any],
    folder: str,
    members: Mapping[str, zipfile.ZipInfo],
    sizes: dict[str, tuple[int, int]],
) -> dict[str, Any]:
    """Check one weight or constant against the bytes that lie in the archive; `sizes` says which were seen."""
    member = f"{folder}{entry['path_name']}"
    if entry["use_pickle"]:
        raise Unsafe(f"its {name!r} is a pickle, which runs code when it is read")
    if not _TENSOR.fullmatch(member):
        raise Unsafe(f"its {name!r} lies in {shown(entry['path_name'])}, which is no tensor")
    if member not in members:
        raise Malformed(f"its {name!r} lies in {member}, which is not there")
    meta: dict[str, Any] = clean_tensor(entry["tensor_meta"])
    needed, numbers = _extent(name, meta)
    have, item = members[member].file_size, ITEM_SIZES[meta["dtype"]]
    if needed * item > have or have % item:
        raise Malformed(f"its {name!r} takes {needed * item:,} bytes, but {member} has {have:,}")
    if numbers * item > _LARGEST_TENSOR:
        raise Unsafe(f"its {name!r} has {numbers:,} numbers")
    if sizes.setdefault(member, (meta["dtype"], have)) != (meta["dtype"], have):
        raise Malformed(f"its {member} is used with two dtypes")
    return meta


def _extent(name: str, meta: Mapping[str, Any]) -> tuple[int, int]:
    """How many numbers of its memory a tensor reaches over, and how many it has."""
    whole = [*meta["sizes"], *meta["strides"], meta["storage_offset"]]
    if any("as_int" not in size or size["as_int"] < 0 for size in whole) or len(meta["sizes"]) != len(meta["strides"]):
        raise Unsafe(f"its {name!r} has sizes, strides or an offset that are not plain numbers from 0 on")
    shape = [size["as_int"] for size in meta["sizes"]]
    strides = [size["as_int"] for size in meta["strides"]]
    numbers = 1
    for size in shape:
        numbers *= size
    if not numbers:
        return 0, 0
    reach = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    return int(meta["storage_offset"]["as_int"] + reach + 1), numbers


def _check_declared(program: Mapping[str, Any]) -> None:
    names = program["graph_module"]["graph"]["inputs"]
    specs = program["graph_module"]["signature"]["input_specs"]
    if len(names) != len(specs) or not any("user_input" in spec for spec in specs):
        raise Malformed(f"its graph has {len(names)} inputs, but its signature {len(specs)}")
