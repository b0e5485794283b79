"""The small whole files of a run: JSON with a checksum of its own, and YAML for people.

JSON documents that programs write carry `"crc"`, so that a flipped bit is seen; a person may edit the YAML.
"""

from __future__ import annotations

import json
from typing import Any

from cutaway.errors import RunDamaged
from cutaway.run.checksum import CHECKSUM, checksum_function
from cutaway.run.storage import Storage

__all__ = ["read_document", "write_document"]


def write_document(storage: Storage, key: str, content: dict[str, Any], *, durable: bool = True) -> None:
    """Write a JSON document whole, with its checksum."""
    sealed = {**content, "crc": f"{CHECKSUM}:{_seal(content, CHECKSUM):08x}"}
    storage.replace(key, json.dumps(sealed, indent=1).encode() + b"\n", durable=durable)


def read_document(storage: Storage, key: str) -> dict[str, Any]:
    """Read a JSON document. Raises `FileNotFoundError` where there is none, `RunDamaged` where it is not as written."""
    data = storage.read(key)
    try:
        content = json.loads(data)
        kind, _, seal = content.pop("crc").partition(":")
        good = _seal(content, int(kind)) == int(seal, 16)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise RunDamaged(key, 0, "it is not the JSON that was written") from error
    if not good:
        raise RunDamaged(key, 0, "it fails its checksum")
    return dict(content)


def _seal(content: dict[str, Any], kind: int) -> int:
    return checksum_function(kind)(json.dumps(content, sort_keys=True, separators=(",", ":")).encode())
