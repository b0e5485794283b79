"""Statistics of many float32 tensors at once, fast enough for every training step.

All tensors lie in one flat buffer. It is read in blocks that stay in the processor's cache while a handful of numpy
calls pass over them: sums are taken per chunk in float32 and added up in float64, extremes per stretch of a tensor.
numpy gives the interpreter lock away during each call, so a training loop on another core goes on; the calls are few,
because each takes the lock back, and there is no Python loop over tensors.

Where float32 cannot hold the promised accuracy, just those tensors are done again: about their mean, or by
`exact_chunks`. Knows no framework and no thread: one plan serves one thread at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from cutaway.arrays import Array, BoolArray, Float32Array, Float64Array, IndexArray, Int64Array
from cutaway.tensors.chunk_layout import CHUNK, Block, ChunkLayout
from cutaway.tensors.exact_chunks import ChunkStatistics, changed_squares, exact_chunks

__all__ = ["BLOCK", "CHUNK", "StatisticsPlan"]

# Larger blocks mean fewer calls, each of which takes the interpreter lock; a block and its scratch are 2 MB.
BLOCK = 1 << 18
# Chunks that a second look takes at a time: half a megabyte of float32.
_GROUP = 512
# A float32 sum over a chunk is good to about 1e-6. The variance that is left after subtracting the squared mean is
# good to 1e-5 only while the mean is at most twice the standard deviation.
_CANCELS = 4.0
# Mean squares beyond these may hide squares that left float32's normal range.
_UNDERFLOWS, _OVERFLOWS = 1e-31, 1e36
# About a mean smaller than this, the squares of tiny deviations would underflow.
_SMALL_MEAN = 1e-10
_COLUMNS = np.arange(CHUNK)

Columns = dict[str, Float64Array | Int64Array]


@dataclass
class _FilledStatistics:
    """Statistics of the tensors that are not empty, one entry each."""

    count: Int64Array
    zeros: Int64Array
    min: Float64Array
    max: Float64Array
    abs_min: Float64Array
    mean: Float64Array
    std: Float64Array
    l1: Float64Array
    squares: Float64Array


class StatisticsPlan:
    """Where each tensor lies in the common buffer, and the arrays that computing reuses.

    >>> plan = StatisticsPlan([("weight", 6), ("bias", 2)])
    >>> buffer = plan.buffer()
    >>> buffer[plan.slices[0]] = [1, 2, 3, 4, 5, 6]
    >>> plan.compute(buffer)["mean"].tolist()
    [3.5, 0.0]
    """

    def __init__(self, tensors: Iterable[tuple[str, int]], *, block: int = BLOCK) -> None:
        layout = ChunkLayout(tensors, block)
        self._layout = layout
        self.names, self.numels, self.slices, self.size = layout.names, layout.numels, layout.slices, layout.size
        self._padded = layout.kept.size < layout.segments
        # Rows that are reduced alike stand together, so that one call reduces them all.
        self._low, self._high = np.empty((2, layout.segments), np.float32), np.empty(layout.segments, np.float32)
        self._zeros = np.zeros(layout.segments, dtype=np.int64)
        self._sums = np.empty((3, layout.size // CHUNK), dtype=np.float32)
        self._scratch = np.empty(min(block, layout.size), dtype=np.float32)
        self._mask = np.empty(self._scratch.size, dtype=np.bool_)
        self._ones = np.ones(CHUNK, dtype=np.float32)

    def buffer(self) -> Float32Array:
        """Return a new buffer of zeros; write to `slices` only, for the padding between them must stay zero."""
        return np.zeros(self.size, dtype=np.float32)

    def compute(
        self,
        buffer: Float32Array,
        previous: Float32Array | None = None,
        changed: int = 0,
        scale: ArrayLike | None = None,
    ) -> Columns:
        """Return every statistic as an array with one entry a tensor.

        `changed` is how many tensors, from the first on, also get the norm of their change since `previous`; for the
        others `change` is NaN. `scale` holds one positive factor a tensor, by which its values count multiplied.
        """
        self._check(buffer, previous, changed)
        # NaN, infinities and overflow are what this code looks for; numpy need not warn of them.
        with np.errstate(all="ignore"):
            for block in self._layout.blocks:
                self._reduce(block, buffer)
            found = self._combine()
            self._correct(found, buffer)
            return self._columns(found, self._change(buffer, previous, changed), scale)

    def _check(self, buffer: Float32Array, previous: Float32Array | None, changed: int) -> None:
        if buffer.dtype != np.float32 or buffer.shape != (self.size,) or not buffer.flags.c_contiguous:
            raise ValueError(
                f"The buffer must be {self.size} contiguous float32 values, but got {buffer.dtype} of shape "
                f"{buffer.shape}. `plan.buffer()` makes one."
            )
        if not 0 <= changed <= len(self.names):
            raise ValueError(f"`0 <= changed <= {len(self.names)}` must hold, but got changed={changed}.")
        reach = self._layout.reach(changed)
        if changed and (previous is None or previous.dtype != np.float32 or previous.size < reach):
            raise ValueError(f"`changed={changed}` needs `previous`, the float32 buffer that these tensors had before.")

    def _reduce(self, block: Block, buffer: Float32Array) -> None:
        values, scratch = buffer[block.start : block.stop], self._scratch[: block.stop - block.start]
        chunks, cuts = values.reshape(-1, CHUNK), block.cuts
        total, squares, l1 = self._sums[:, block.chunks]
        lowest, smallest = self._low[:, block.segments]
        np.minimum.reduceat(values, cuts, out=lowest)
        np.maximum.reduceat(values, cuts, out=self._high[block.segments])
        np.vecdot(chunks, self._ones, out=total)
        np.vecdot(chunks, chunks, out=squares)
        np.absolute(values, out=scratch)
        np.vecdot(scratch.reshape(-1, CHUNK), self._ones, out=l1)
        np.minimum.reduceat(scratch, cuts, out=smallest)
        self._zeros[block.segments] = 0
        with_zeros = np.flatnonzero((smallest == 0) & block.holds)
        if with_zeros.size:
            self._count_zeros(block, values, with_zeros)

    def _count_zeros(self, block: Block, values: Float32Array, segments: IndexArray) -> None:
        mask = np.equal(values, 0, out=self._mask[: values.size])
        cuts = [*block.cuts.tolist(), values.size]
        for segment in segments.tolist():
            zeros = np.count_nonzero(mask[cuts[segment] : cuts[segment + 1]])
            self._zeros[block.segments.start + segment] = zeros

    def _combine(self) -> _FilledStatistics:
        layout = self._layout
        low, high, zeros = self._low, self._high, self._zeros
        if self._padded:
            low, high, zeros = low[:, layout.kept], high[layout.kept], zeros[layout.kept]
        minima = np.minimum.reduceat(low, layout.first_segment, axis=1).astype(np.float64)
        sums = np.add.reduceat(self._sums, layout.first_chunk, axis=1, dtype=np.float64)
        mean = sums[0] / layout.count
        return _FilledStatistics(
            count=layout.count.copy(),
            zeros=np.add.reduceat(zeros, layout.first_segment),
            min=minima[0],
            max=np.maximum.reduceat(high, layout.first_segment).astype(np.float64),
            abs_min=minima[1],
            mean=mean,
            std=np.sqrt(np.maximum(sums[1] / layout.count - mean * mean, 0)),
            l1=sums[2],
            squares=sums[1],
        )

    def _correct(self, found: _FilledStatistics, buffer: Float32Array) -> None:
        """Do again what float32 could not do well enough."""
        count = self._layout.count
        # A tensor of one value, or one as it was initialised, is known exactly and needs no second look.
        constant = (found.min == found.max) & np.isfinite(found.min)
        if constant.any():
            value, number = found.min[constant], count[constant]
            found.mean[constant], found.std[constant] = value, 0
            found.l1[constant], found.squares[constant] = np.absolute(value) * number, value * value * number
        mean_square = found.squares / count
        in_range = (mean_square >= _UNDERFLOWS) & (mean_square <= _OVERFLOWS)
        cancels = in_range & (found.mean**2 > _CANCELS * found.std**2) & ~constant
        off_centre = cancels & (np.absolute(found.mean) > _SMALL_MEAN)
        if off_centre.any():
            self._recentre(found, off_centre, buffer)
        doubtful = ~(in_range | constant) | (cancels & ~off_centre)
        if doubtful.any():
            self._do_again(found, doubtful, buffer)

    def _groups(self, tensors: BoolArray) -> Iterator[IndexArray]:
        """Give the chunks of some of the filled tensors, a group at a time."""
        chunks = np.flatnonzero(tensors[self._layout.owner])
        for start in range(0, chunks.size, _GROUP):
            yield chunks[start : start + _GROUP]

    def _recentre(self, found: _FilledStatistics, tensors: BoolArray, buffer: Float32Array) -> None:
        """Take mean and spread again from the values less their mean, whose squares no longer cancel."""
        layout, rows = self._layout, buffer.reshape(-1, CHUNK)
        centre = found.mean.astype(np.float32)
        totals, squares = [], []
        for group in self._groups(tensors):
            apart = rows[group]
            apart -= centre[layout.owner[group], None]
            padded = np.flatnonzero(layout.valid[group] < CHUNK)
            apart[padded] *= layout.valid[group[padded], None] > _COLUMNS
            totals.append(np.vecdot(apart, self._ones))
            squares.append(np.vecdot(apart, apart))
        number = layout.count[tensors]
        first = self._first(tensors)
        shift = np.add.reduceat(np.concatenate(totals), first, dtype=np.float64) / number
        spread = np.add.reduceat(np.concatenate(squares), first, dtype=np.float64) / number
        found.mean[tensors] = centre[tensors].astype(np.float64) + shift
        found.std[tensors] = np.sqrt(np.maximum(spread - shift * shift, 0))

    def _do_again(self, found: _FilledStatistics, tensors: BoolArray, buffer: Float32Array) -> None:
        """Take everything again in float64, over the finite values."""
        rows = buffer.reshape(-1, CHUNK)
        parts = [exact_chunks(rows[group], self._layout.valid[group]) for group in self._groups(tensors)]
        names = [field.name for field in fields(ChunkStatistics)]
        exact = ChunkStatistics(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})
        first = self._first(tensors)
        count = np.add.reduceat(exact.count, first)
        mean = np.add.reduceat(exact.total, first) / count
        # The spread of a tensor is that inside its chunks and that of their means; both are sums of positive terms.
        away = exact.total / np.maximum(exact.count, 1) - np.repeat(mean, np.diff(first, append=exact.count.size))
        inside = np.add.reduceat(exact.deviation, first)
        between = np.add.reduceat(np.where(exact.count > 0, exact.count * away * away, 0), first)
        none = np.where(count > 0, 0, np.nan)
        found.count[tensors], found.zeros[tensors] = count, np.add.reduceat(exact.zeros, first)
        found.mean[tensors], found.std[tensors] = mean, np.sqrt((inside + between) / count)
        found.l1[tensors] = np.add.reduceat(exact.l1, first)
        found.squares[tensors] = np.add.reduceat(exact.squares, first)
        found.min[tensors] = np.minimum.reduceat(exact.min, first) + none
        found.max[tensors] = np.maximum.reduceat(exact.max, first) + none
        found.abs_min[tensors] = np.minimum.reduceat(exact.abs_min, first) + none

    def _change(self, buffer: Float32Array, previous: Float32Array | None, changed: int) -> Float64Array:
        layout = self._layout
        change = np.full(len(self.names), np.nan)
        change[:changed] = 0
        tensors = int(np.searchsorted(layout.filled, changed))
        if previous is None or tensors == 0:
            return change
        reach = layout.reach(changed)
        chunk_squares = self._sums[1]  # combined already, so free for other use
        for start in range(0, reach, self._scratch.size):
            stop = min(start + self._scratch.size, reach)
            apart = np.subtract(buffer[start:stop], previous[start:stop], out=self._scratch[: stop - start])
            chunks = apart.reshape(-1, CHUNK)
            np.vecdot(chunks, chunks, out=chunk_squares[start // CHUNK : stop // CHUNK])
        first = layout.first_chunk[:tensors]
        squares = np.add.reduceat(chunk_squares[: reach // CHUNK], first, dtype=np.float64)
        mean_square = squares / layout.count[:tensors]
        doubtful = np.zeros(layout.filled.size, dtype=np.bool_)
        doubtful[:tensors] = ~((mean_square >= _UNDERFLOWS) & (mean_square <= _OVERFLOWS))
        if doubtful.any():
            rows, before = buffer.reshape(-1, CHUNK), previous[:reach].reshape(-1, CHUNK)
            again = [changed_squares(rows[group], before[group]) for group in self._groups(doubtful)]
            squares[doubtful[:tensors]] = np.add.reduceat(np.concatenate(again), self._first(doubtful))
        change[layout.filled[:tensors]] = np.sqrt(squares)
        return change

    def _first(self, tensors: BoolArray) -> IndexArray:
        """Return the place of each tensor's first chunk among the chunks of these tensors."""
        chunks = np.bincount(self._layout.owner, minlength=tensors.size)[tensors]
        return np.cumsum(chunks) - chunks

    def _columns(self, found: _FilledStatistics, change: Float64Array, scale: ArrayLike | None) -> Columns:
        columns: dict[str, Float64Array] = {
            name: getattr(found, name) for name in ("min", "max", "mean", "std", "abs_min")
        }
        columns |= {"l1": found.l1, "l2": np.sqrt(found.squares)}
        counts = {"nonfinite": self._layout.count - found.count, "zeros": found.zeros}
        if self._layout.filled.size < len(self.names):
            columns = {name: self._spread(column, np.nan) for name, column in columns.items()}
            columns |= {name: np.nan_to_num(columns[name]) for name in ("l1", "l2")}
            counts = {name: self._spread(column, 0) for name, column in counts.items()}
        columns["change"] = change
        if scale is not None:
            factors = np.asarray(scale, dtype=np.float64)
            columns = {name: values * factors for name, values in columns.items()}
        return {"size": self.numels.copy(), **counts, **columns}

    def _spread(self, column: Array, empty: float) -> Array:
        """Put the statistics of the filled tensors among those of the empty ones."""
        spread = np.full(len(self.names), empty, dtype=column.dtype)
        spread[self._layout.filled] = column
        return spread
