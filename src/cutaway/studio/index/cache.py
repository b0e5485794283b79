"""The disposable memory of the index: what was read of each run, in one file outside the run folders.

Never needed: it is written whole, checked on the way in, and thrown away when it is damaged or of another version. One
line of JSON says what it is, the next holds the names of all values, each one after it some rows: short lines let
others work between them.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import stat
import zlib
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from cutaway import __version__
from cutaway.run.whole_files import whole_file
from cutaway.studio.index.facts import HealthFacts, IndexedRun
from cutaway.studio.index.looking import Mark
from cutaway.studio.index.values import Value
from cutaway.trial.run_totals import LossFacts

__all__ = ["cache_file", "read_cache", "write_cache"]

log = logging.getLogger("cutaway.studio")


# With every change of what is kept.
_FORMAT = 2
_ROWS_A_LINE = 100
# Some hundred thousand runs.
_LARGEST = 256 << 20
_NAMES = [one.name for one in fields(IndexedRun) if one.name not in ("keys", "values")]


def cache_file(root: Path) -> Path:
    """Return where the memory of a folder lies: in the user's cache folder, named by the folder's path."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # As the standard says, a relative path there counts for nothing.
    folder = Path(base) if base and Path(base).is_absolute() else Path("~/.cache").expanduser()
    name = hashlib.blake2b(os.fsencode(os.path.realpath(root)), digest_size=12).hexdigest()
    return folder / "cutaway" / "runs" / f"{name}.json"


def read_cache(path: Path) -> dict[str, tuple[Mark, IndexedRun]]:
    """Return the rows that were kept, by their ids; none where there is no file that can be used."""
    try:
        about, _, body = _content(path).partition(b"\n")
        head = json.loads(about)
        if head.get("format") != _FORMAT or head.get("version") != __version__ or head["crc"] != zlib.crc32(body):
            return {}
        return _rows(body.split(b"\n"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        log.info("The kept index %s is not used (%s); runs are read again.", path.name, type(error).__name__)
        return {}


def _content(path: Path) -> bytes:
    """Return what a file holds. Raises `ValueError` for what is none, or too large for memory: neither was ours."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123 - a descriptor
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
            raise ValueError(path.name)
        return file.read()


def write_cache(path: Path, rows: Sequence[tuple[Mark, IndexedRun]]) -> None:
    """Keep rows. Raises `StorageError` where the file cannot be written."""
    shapes: dict[int, int] = {}
    keys: list[tuple[str, ...]] = []
    lines = []
    for start in range(0, len(rows), _ROWS_A_LINE):
        kept = []
        for mark, row in rows[start : start + _ROWS_A_LINE]:
            # Runs of one kind share the tuple itself.
            shape = shapes.setdefault(id(row.keys), len(keys))
            if shape == len(keys):
                keys.append(row.keys)
            kept.append([mark, shape, row.values, [getattr(row, name) for name in _NAMES]])
        lines.append(_line(kept))
    body = b"\n".join([_line(keys), *lines])
    head = {"format": _FORMAT, "version": __version__, "crc": zlib.crc32(body)}
    with whole_file(path) as beside:
        beside.write_bytes(_line(head) + b"\n" + body)


def _line(content: Any) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def _rows(lines: Sequence[bytes]) -> dict[str, tuple[Mark, IndexedRun]]:
    shapes = [tuple(shape) for shape in json.loads(lines[0])]
    # Thousands of runs share a few words.
    words: dict[str, str] = {}
    found = {}
    for line in lines[1:]:
        for mark, shape, values, plain in json.loads(line):
            if len(values) != len(shapes[shape]):
                raise ValueError("a row has more or fewer values than keys")
            shared = tuple(words.setdefault(value, value) if type(value) is str else value for value in values)
            row = _row(dict(zip(_NAMES, plain, strict=True)), shapes[shape], shared)
            found[row.id] = (tuple(mark), row)
    return found


def _row(about: dict[str, Any], keys: tuple[str, ...], values: tuple[Value, ...]) -> IndexedRun:
    about["health"] = HealthFacts(*about["health"])
    loss = about["loss"]
    about["loss"] = None if loss is None else LossFacts(loss[0], loss[1], loss[2], tuple(loss[3]))
    about["tags"], about["series"] = tuple(about["tags"]), tuple(about["series"])
    return IndexedRun(**about, keys=keys, values=values)
