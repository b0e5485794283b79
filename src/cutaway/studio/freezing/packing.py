"""Packs answers into files that a page on `file://` can load as scripts, and says which file holds which answer.

A file is one call, `cutawayFrozen(<number>, "<base64 of gzip>")`: whatever an answer holds, the script itself is plain
ASCII, so no name of a run can end it or begin another. Inside are the length of the heads, the heads as JSON
(keys, status, kind, size), and the contents one after the other.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

from cutaway.studio.freezing.asking import Pairs

__all__ = ["Packer", "key_of"]

# Small answers share a file, so that a page is there after a few of them.
FULL_BYTES = 600_000


def key_of(path: str, query: Pairs = ()) -> str:
    """Return a question as the page writes it (`keyOf` in ui/src/api/frozen.ts): sorted, nothing encoded.

    >>> key_of("runs/a/tensor", [("name", "w"), ("from", "3")])
    'runs/a/tensor\\nfrom=3\\nname=w'
    """
    # As JavaScript compares texts.
    ordered = sorted(query, key=lambda pair: [text.encode("utf-16-be", "surrogatepass") for text in pair])
    return "\n".join([path, *(f"{name}={value}" for name, value in ordered)])


class Packer:
    """Takes answers, and writes a file whenever enough of them have come together."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True)
        self.answers: dict[str, int] = {}
        self._file = 0
        self._heads: list[tuple[list[str], int, str, int]] = []
        self._contents: list[bytes] = []

    def add(self, keys: Sequence[str], status: int, kind: str, content: bytes) -> None:
        """Take the answer to one question, or to several that have the same; the first answer to a question stays."""
        new = [key for key in dict.fromkeys(keys) if key not in self.answers]
        if not new:
            return
        self.answers.update(dict.fromkeys(new, self._file))
        self._heads.append((new, status, kind, len(content)))
        self._contents.append(content)
        if sum(map(len, self._contents)) >= FULL_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what has come together."""
        if not self._heads:
            return
        heads = json.dumps(self._heads, separators=(",", ":")).encode()
        packed = gzip.compress(b"".join([len(heads).to_bytes(4, "little"), heads, *self._contents]), mtime=0)
        script = f'cutawayFrozen({self._file},"{base64.b64encode(packed).decode()}");\n'
        (self._folder / f"{self._file}.js").write_text(script, "ascii")
        self._file += 1
        self._heads, self._contents = [], []
