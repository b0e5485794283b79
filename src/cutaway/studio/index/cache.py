"""The disposable memory of the index: what was read of each run, in one file outside the run folders.

Never needed: it is written whole, checked on the way in, and thrown away when it is damaged or of another version. A
line of JSON says what it is, one more holds the rows.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import zlib
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from cutaway import __version__
from cutaway.run.whole_files import whole_file
from cutaway.studio.index.facts import HealthFacts, LossFacts, RunFacts
from cutaway.studio.index.looking import Mark

__all__ = ["cache_file", "read_cache", "write_cache"]

log = logging.getLogger("cutaway.studio")


# With every change of what is kept.
_FORMAT = 1
_NAMES = [one.name for one in fields(RunFacts) if one.name not in ("keys", "values")]


def cache_file(root: Path) -> Path:
    """Return where the memory of a folder lies: in the user's cache folder, named by the folder's path."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # As the standard says, a relative path there counts for nothing.
    folder = Path(base) if base and Path(base).is_absolute() else Path("~/.cache").expanduser()
    name = hashlib.blake2b(os.fsencode(os.path.realpath(root)), digest_size=12).hexdigest()
    return folder / "cutaway" / "runs" / f"{name}.json"


def read_cache(path: Path) -> dict[str, tuple[Mark, RunFacts]]:
    """Return the rows that were kept, by their ids; none where there is no file that can be used."""
    try:
        about, _, body = path.read_bytes().partition(b"\n")
        head = json.loads(about)
        if head.get("format") != _FORMAT or head.get("version") != __version__ or head["crc"] != zlib.crc32(body):
            return {}
        return _rows(json.loads(body))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        log.info("The kept index %s is not used (%s); runs are read again.", path.name, type(error).__name__)
        return {}


def write_cache(path: Path, rows: Iterable[tuple[Mark, RunFacts]]) -> None:
    """Keep rows. Raises `StorageError` where the file cannot be written."""
    shapes: dict[tuple[str, ...], int] = {}
    kept = [
        [mark, shapes.setdefault(row.keys, len(shapes)), row.values, [getattr(row, name) for name in _NAMES]]
        for mark, row in rows
    ]
    body = json.dumps({"shapes": list(shapes), "rows": kept}, separators=(",", ":")).encode()
    head = {"format": _FORMAT, "version": __version__, "crc": zlib.crc32(body)}
    with whole_file(path) as beside:
        beside.write_bytes(json.dumps(head).encode() + b"\n" + body)


def _rows(content: Any) -> dict[str, tuple[Mark, RunFacts]]:
    shapes = [tuple(shape) for shape in content["shapes"]]
    found = {}
    for mark, shape, values, plain in content["rows"]:
        about = dict(zip(_NAMES, plain, strict=True))
        if len(values) != len(shapes[shape]):
            raise ValueError("a row has more or fewer values than keys")
        about["health"] = HealthFacts(*about["health"])
        loss = about["loss"]
        about["loss"] = None if loss is None else LossFacts(loss[0], loss[1], loss[2], tuple(loss[3]))
        about["tags"] = tuple(about["tags"])
        row = RunFacts(**about, keys=shapes[shape], values=tuple(values))
        found[row.id] = (tuple(mark), row)
    return found
