"""Reads a frozen copy as its page does: the index, and every answer by its key."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Held", "answers_of", "index_of"]


@dataclass
class Held:
    """An answer in a copy."""

    status: int
    kind: str
    content: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.content)["data"]


def index_of(copy: Path) -> dict[str, Any]:
    """What a copy says that it holds."""
    found = re.fullmatch(
        r"cutawayFrozenIndex=JSON\.parse\((\".*\")\);\n", (copy / "data" / "index.js").read_text("ascii")
    )
    assert found
    index: dict[str, Any] = json.loads(json.loads(found[1]))
    return index


def answers_of(copy: Path) -> dict[str, Held]:
    """All answers of a copy."""
    found: dict[str, Held] = {}
    index = index_of(copy)
    for file in set(index["answers"].values()):
        script = re.fullmatch(
            r"cutawayFrozen\((\d+),\"([A-Za-z0-9+/=]+)\"\);\n", (copy / "data" / f"{file}.js").read_text()
        )
        assert script
        assert script[1] == str(file)
        packed = gzip.decompress(base64.b64decode(script[2]))
        at = 4 + int.from_bytes(packed[:4], "little")
        for keys, status, kind, size in json.loads(packed[4:at]):
            for key in keys:
                assert index["answers"][key] == file
                found[key] = Held(status, kind, packed[at : at + size])
            at += size
    assert found.keys() == index["answers"].keys()
    return found
