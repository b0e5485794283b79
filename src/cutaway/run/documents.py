"""The small whole files of a run: JSON with a checksum of its own, and YAML for people.

JSON documents that programs write end with `"crc"`: the checksum of every byte of the file before its value. So any
flipped bit is seen, whatever the parser would make of it. A person may edit the YAML.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cutaway.errors import ConfigurationError, MissingExtraError, RunDamaged
from cutaway.run.checksum import CHECKSUM, CRC32, CRC32C, checksum_function
from cutaway.run.layout import CONFIG_FILE
from cutaway.run.storage import Storage

__all__ = ["read_config", "read_document", "read_yaml", "write_document", "write_yaml"]

_LAST_KEY = b'"crc": "'
MOST_VALUES = 1_000_000
# Far above what any of them holds: a larger one is not ours, and would fill the memory of whoever reads it.
LARGEST_DOCUMENT = 32 << 20
LARGEST_CONFIG = 4 << 20
# The careful parser of YAML reads some 100 kB a second.
LARGEST_NESTED = 256 << 10
_KINDS = {b"%d:" % kind: kind for kind in (CRC32, CRC32C)}


def write_document(
    storage: Storage, key: str, content: dict[str, Any], *, durable: bool = True, exclusive: bool = False
) -> None:
    """Write a JSON document whole, with its checksum; with `exclusive` only where there is none."""
    if "crc" in content:
        message = f"A document must not hold the key 'crc', but {key!r} does: it is the document's own checksum."
        raise ConfigurationError(message)
    body = json.dumps({**content, "crc": ""}, indent=1).encode().removesuffix(b'"\n}')
    storage.replace(key, body + _seal(body, CHECKSUM), durable=durable, exclusive=exclusive)


def read_document(storage: Storage, key: str) -> dict[str, Any]:
    """Read a JSON document. Raises `FileNotFoundError` where there is none, `RunDamaged` where it is not as written."""
    if storage.size(key) > LARGEST_DOCUMENT:
        raise RunDamaged(key, 0, f"it is larger than {LARGEST_DOCUMENT >> 20} MB")
    try:
        data = storage.read(key)
    except IsADirectoryError as error:
        raise RunDamaged(key, 0, "it is a folder") from error
    before, last_key, seal = data.rpartition(_LAST_KEY)
    kind = _KINDS.get(seal[:2])
    if kind is None:
        raise RunDamaged(key, 0, "it does not end with its checksum")
    if seal != _seal(before + last_key, kind):
        raise RunDamaged(key, 0, "it fails its checksum")
    try:
        content = dict(json.loads(data))
        del content["crc"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        # Sealed by somebody, but not by us.
        raise RunDamaged(key, 0, "it is no JSON object") from error
    return content


def read_config(storage: Storage) -> dict[str, Any]:
    """Read a configuration as `read_yaml` does; one that is too large to be one is refused with a `ValueError`."""
    if storage.size(CONFIG_FILE) > LARGEST_CONFIG:
        raise ValueError(f"it is larger than {LARGEST_CONFIG >> 20} MB")
    return read_yaml(storage.read(CONFIG_FILE))


def write_yaml(content: Mapping[str, Any]) -> bytes:
    """Return a configuration as YAML; where PyYAML is not installed, as JSON, which is YAML too."""
    try:
        import yaml  # the training process may do without it
    except ImportError:
        return json.dumps(dict(content), indent=1).encode()
    return bytes(yaml.safe_dump(dict(content), sort_keys=False), "utf-8")


def read_yaml(data: bytes) -> dict[str, Any]:
    """Read what `write_yaml` wrote or a person edited; nothing in it is executed. Raises `ValueError` for the rest."""
    try:
        return dict(json.loads(data))
    except (ValueError, TypeError, RecursionError):
        pass
    try:
        import yaml  # only needed for what PyYAML itself wrote
    except ImportError:
        raise MissingExtraError("Reading config.yaml", "all") from None
    # Ten times as fast, but a file that is nested a hundred thousand deep ends its whole process.
    shallow = _is_shallow(data)
    if not shallow and len(data) > LARGEST_NESTED:
        raise ValueError(f"it is larger than {LARGEST_NESTED >> 10} kB, and has long lines or many brackets")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader) if shallow else yaml.SafeLoader
    try:
        content = dict(yaml.load(data, Loader=loader) or {})
        count = _values_in(content, {})
    except (yaml.YAMLError, TypeError) as error:
        raise ValueError(str(error)) from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if count > MOST_VALUES:
        raise ValueError(f"its aliases stand for more than {MOST_VALUES} values")
    return content


def _values_in(value: Any, known: dict[int, int]) -> int:
    """Count values as somebody meets them who does not know of aliases; a small file can stand for billions."""
    if not isinstance(value, dict | list):
        return 1
    place = id(value)
    if place not in known:
        known[place] = 0
        known[place] = 1 + sum(_values_in(one, known) for one in (value.values() if isinstance(value, dict) else value))
    elif not known[place]:
        raise ValueError("it holds itself")
    return known[place]


def _is_shallow(data: bytes) -> bool:
    """Whether a file can only hold what is nested a few hundred deep: by brackets, or by columns of a line."""
    return data.count(b"[") + data.count(b"{") <= 200 and max(map(len, data.splitlines()), default=0) <= 400


def _seal(body: bytes, kind: int) -> bytes:
    return f'{kind}:{checksum_function(kind)(body):08x}"\n}}\n'.encode()
