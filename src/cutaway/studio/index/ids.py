"""By which id a run is known: the one in its `run.json`, wherever the run lies and from wherever it is looked at.

A run may come from anybody. What it says becomes an id as it is only where it looks like one of ours; all else is
written with letters, digits and dashes, and ends with a digest that tells it from others.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from cutaway.errors import CutawayError
from cutaway.run.documents import read_document
from cutaway.run.layout import RUN_FILE
from cutaway.run.storage import UnmappedStorage
from cutaway.studio.index.looking import Mark, file_mark

__all__ = ["OwnIds", "digest", "id_of_place", "id_of_run", "id_of_text"]

_OURS = re.compile(r"[0-9a-f]{32}")


class OwnIds:
    """The ids of runs by their paths, read again where `run.json` has changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Mark, str]] = {}

    def of(self, path: str) -> str:
        """Return the id of the run at a path."""
        mark = file_mark(f"{path}/{RUN_FILE}")
        known = self._known.get(path)
        if known is None or known[0] != mark:
            known = self._known[path] = mark, id_of_run(path)
        return known[1]

    def keep(self, paths: Iterable[str]) -> None:
        """Forget all other runs."""
        there = set(paths)
        self._known = {path: known for path, known in self._known.items() if path in there}


def id_of_run(path: str) -> str:
    """Return the id of a run from what it says, or from its folder's name where it says nothing or cannot be read."""
    try:
        said = read_document(UnmappedStorage(Path(path)), RUN_FILE).get("id")
    except (CutawayError, OSError, ValueError):
        said = None
    return id_of_text(said if isinstance(said, str) and said else Path(path).name)


def id_of_text(text: str) -> str:
    """Return the id of a run that says something of itself.

    >>> id_of_text("0123456789abcdef0123456789abcdef")
    '0123456789abcdef0123456789abcdef'
    >>> id_of_text("../../etc/passwd")
    'etc-passwd-3fe5b8a45dc8'
    """
    return text if _OURS.fullmatch(text) else _readable(text, digest(text))


def id_of_place(relative: str, name: str) -> str:
    """Return the id of a folder that says nothing of itself, from where it lies below the studio's folder."""
    return _readable(name, digest(relative))


def digest(text: str, tries: int = 0) -> str:
    """Return what tells a text from others, another one for each try."""
    content = text.encode("utf-8", "surrogatepass") + b"\0" * tries
    return hashlib.blake2b(content, digest_size=6).hexdigest()


def _readable(text: str, ending: str) -> str:
    readable = re.sub(r"[^A-Za-z0-9]+", "-", text[:200]).strip("-")[:40].strip("-")
    return f"{readable}-{ending}" if readable else ending
