"""Where many tensors lie in one flat buffer, and how the buffer is cut into blocks. Touches no values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from cutaway.arrays import BoolArray, IndexArray, Int64Array

__all__ = ["CHUNK", "Block", "ChunkLayout"]

CHUNK = 256


class Block(NamedTuple):
    """A stretch of the buffer, cut into segments: each holds values of one tensor, or is the padding behind one."""

    start: int
    stop: int
    chunks: slice
    segments: slice
    cuts: IndexArray
    holds: BoolArray


class ChunkLayout:
    """Each tensor begins at a multiple of CHUNK values; what is left of its last chunk is padding."""

    def __init__(self, tensors: Iterable[tuple[str, int]], block: int) -> None:
        pairs = [(name, int(numel)) for name, numel in tensors]
        if block < CHUNK or block % CHUNK:
            raise ValueError(f"`block` must be a multiple of {CHUNK}, but got block={block}.")
        self.names = tuple(name for name, _ in pairs)
        self.numels: Int64Array = np.array([numel for _, numel in pairs], dtype=np.int64)
        chunks = -(-self.numels // CHUNK)
        begins = (np.cumsum(chunks) - chunks) * CHUNK
        self.size = int(chunks.sum()) * CHUNK
        self.slices = tuple(
            slice(begin, begin + numel) for begin, numel in zip(begins.tolist(), self.numels.tolist(), strict=True)
        )
        # One entry a tensor that is not empty: numpy's reduceat cannot reduce nothing.
        self.filled = np.flatnonzero(self.numels)
        self.count = self.numels[self.filled]
        self.begin = begins[self.filled]
        self.first_chunk = self.begin // CHUNK
        # One entry a chunk: the filled tensor that it belongs to, and how many of its values are no padding.
        self.owner = np.repeat(np.arange(self.filled.size), chunks[self.filled])
        left = (self.begin + self.count)[self.owner] - np.arange(self.owner.size) * CHUNK
        self.valid: Int64Array = np.minimum(left, CHUNK)
        self.blocks, owners = self._cut(block)
        # Of all segments, the ones that hold values, and the first of them in each filled tensor.
        self.kept = np.flatnonzero(owners >= 0)
        self.first_segment = np.flatnonzero(np.diff(owners[self.kept], prepend=-1))
        self.segments = owners.size

    def reach(self, tensors: int) -> int:
        """Return where in the buffer the chunks of the first so many tensors end."""
        return self.slices[tensors].start if tensors < len(self.slices) else self.size

    def _cut(self, block: int) -> tuple[list[Block], IndexArray]:
        """Return the blocks, and for each segment the filled tensor that it lies in, or -1 for padding."""
        ends = self.begin + self.count
        bounds = np.unique(np.concatenate([self.begin, ends]))
        blocks, owners, segments = [], [np.empty(0, dtype=np.intp)], 0
        for start in range(0, self.size, block):
            stop = min(start + block, self.size)
            inside = bounds[np.searchsorted(bounds, start, side="right") : np.searchsorted(bounds, stop)]
            places = np.concatenate([[start], inside])
            owner = np.searchsorted(self.begin, places, side="right") - 1
            holds = places < ends[owner]
            owners.append(np.where(holds, owner, -1))
            chunks, whose = slice(start // CHUNK, stop // CHUNK), slice(segments, segments + places.size)
            blocks.append(Block(start, stop, chunks, whose, places - start, holds))
            segments = whose.stop
        return blocks, np.concatenate(owners)
