"""The content hash of a sample: the same inputs give the same hash in every subset, run and process."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from cutaway.dataset.subset import Array

__all__ = ["content_hash"]


def content_hash(inputs: Mapping[str, Array]) -> str:
    """Return 32 hexadecimal digits of the inputs of one sample: names, dtypes, shapes and values.

    >>> content_hash({"x": np.zeros(3)}) == content_hash({"x": np.zeros(3)})
    True
    >>> content_hash({"x": np.zeros(3)}) == content_hash({"x": np.zeros((3, 1))})
    False
    """
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(inputs):
        values = np.ascontiguousarray(inputs[name])
        digest.update(f"{name}{values.shape}{values.dtype.str}".encode())
        digest.update(repr(values.tolist()).encode() if values.dtype.hasobject else values.data)
    return digest.hexdigest()
