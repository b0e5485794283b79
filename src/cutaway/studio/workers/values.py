"""Values that go between the server and a worker: what JSON holds, arrays and bytes as base64. Nothing is unpickled.

A key that begins with `$` is ours; one of somebody else's that does so gets another `$` on the way.
"""

from __future__ import annotations

import base64
import binascii
import math
from typing import Any

import numpy as np

from cutaway.engine.messages import BadMessage

__all__ = ["from_plain", "to_plain"]

_ARRAY, _BYTES = "$array", "$bytes"
_KINDS = "biuf"


def to_plain(value: Any) -> Any:
    """Return a value as JSON can hold it.

    >>> to_plain({"a": np.float32(0.5), "b": b"x"})
    {'a': 0.5, 'b': {'$bytes': 'eA=='}}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return {_ARRAY: _packed(np.ascontiguousarray(value).tobytes()), "dtype": value.dtype.str, "shape": value.shape}
    if isinstance(value, bytes):
        return {_BYTES: _packed(value)}
    if isinstance(value, dict):
        return {_escaped(str(key)): to_plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def from_plain(value: Any) -> Any:
    """Return what `to_plain` was given. Raises `BadMessage` for what it cannot have made."""
    if isinstance(value, list):
        return [from_plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    if _ARRAY in value:
        return _array(value)
    if _BYTES in value:
        return _unpacked(value[_BYTES])
    return {key.removeprefix("$"): from_plain(one) for key, one in value.items()}


def _escaped(key: str) -> str:
    return f"${key}" if key.startswith("$") else key


def _packed(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _unpacked(text: Any) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise BadMessage(f"it sent bytes that are none: {error}.") from error


def _array(value: dict[str, Any]) -> Any:
    try:
        dtype = np.dtype(value["dtype"])
        if dtype.kind not in _KINDS:
            raise BadMessage(f"it sent an array of {dtype}.")
        return np.frombuffer(_unpacked(value[_ARRAY]), dtype).reshape(tuple(value["shape"]))
    except (KeyError, TypeError, ValueError) as error:
        raise BadMessage(f"it sent an array that is none: {error}.") from error
