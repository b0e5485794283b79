"""Samples that are the same: by their content, or by every number of their latent vector. Knows no distances."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Iterator

import numpy as np

from cutaway.analysis.samples import Samples
from cutaway.arrays import BoolArray, Int64Array

__all__ = ["firsts_by_content", "firsts_by_vector", "speaking"]


# So many vectors are read at a time, which may lie in a file.
BLOCK = 8_192
# Where more than this share of samples has the vector of another sample, equal vectors are how this latent space is.
MOST_EQUAL = 0.2


def firsts_by_content(samples: Samples) -> Int64Array:
    """Return for each sample the row of the first sample with the same content: its own where there is none."""
    if samples.hashes is None:
        return np.arange(len(samples), dtype=np.int64)
    return _firsts(samples.hashes)


def firsts_by_vector(samples: Samples, counted: BoolArray) -> tuple[Int64Array, tuple[str, ...]]:
    """Return for each sample the row of the first one with the same latent vector, and what a person should know.

    Only those that `counted` lets through are compared. A latent space that gives many samples the same vector has
    collapsed there, or is coarse: then equal vectors say nothing and each sample is its own first.
    """
    alone = np.arange(len(samples), dtype=np.int64)
    found = _firsts(_digests(samples, counted))
    equal, total = int((found != alone).sum()), int(counted.sum())
    if equal > MOST_EQUAL * total:
        return alone, (
            f"{equal:,} of {total:,} samples have the very latent vector of an earlier one. The latent space has "
            "collapsed there or is coarse, so equal vectors are not taken for duplicates.",
        )
    return found, ()


def speaking(samples: Samples) -> BoolArray:
    """Return which latent vectors say something: finite ones, but not those of which no unit differs from another.

    A layer that is silent on a sample gives the same zeros for whatever was in it.
    """
    told = samples.finite.copy()
    for start in range(0, len(samples) if samples.latents.shape[1] > 1 else 0, BLOCK):
        block = samples.latents[start : start + BLOCK]
        told[start : start + BLOCK] &= (block != block[:, :1]).any(axis=1)
    return told


def _firsts(keys: Iterable[Hashable | None]) -> Int64Array:
    """Return for each key the place where it first comes up; None is equal to nothing."""
    seen: dict[Hashable, int] = {}
    return np.array([row if key is None else seen.setdefault(key, row) for row, key in enumerate(keys)], np.int64)


def _digests(samples: Samples, usable: BoolArray) -> Iterator[bytes | None]:
    for start in range(0, len(samples), BLOCK):
        # Adding 0 makes -0 and 0 the same bytes.
        block = np.ascontiguousarray(samples.latents[start : start + BLOCK] + np.float32(0))
        for row, vector in enumerate(block, start):
            yield hashlib.blake2b(vector, digest_size=16).digest() if usable[row] else None
