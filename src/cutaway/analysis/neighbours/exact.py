"""Exact search: every row is compared with every query, by faiss or by torch. Knows no masks and no row numbers.

Both find candidates by matrix products, which are fast and round badly, and then measure the candidates by
subtraction. Where rounding could have kept a nearer row out, the query is done again by subtraction alone.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from cutaway.analysis.neighbours.library import load_faiss, threads_for
from cutaway.analysis.neighbours.rows import BLOCK
from cutaway.arrays import BoolArray, Float32Array, Int64Array

__all__ = ["ByFaiss", "ByTorch", "Finder", "measured", "ordered"]

Found = tuple[Float32Array, Int64Array]

# faiss subtracts where there are fewer queries than this, and multiplies matrices where there are as many or more.
MULTIPLIED_FROM = 20
# How far a squared distance by products may be off, in parts of the squared lengths that went into it: some tens of
# roundings of float32, which add up like a random walk.
ROUNDING = 2.0**-19
# The same where the user lets torch multiply in less than single precision.
ROUNDING_OF_SHORT = 2.0**-6
# How many queries torch takes at a time, and how many numbers it lays out to subtract.
QUERIES, NUMBERS = 1_024, 2**24


class Finder(Protocol):
    """Finds the nearest of some vectors."""

    def nearest(self, queries: Float32Array, k: int, chosen: Int64Array | None = None) -> Found:
        """Return squared distances and positions, nearest first, equals by position; `k` is at most what there is.

        `chosen` are the positions to search among, ascending; None for all.
        """
        ...


class ByFaiss:
    """Searches with faiss's own flat search, in the memory where the vectors lie."""

    def __init__(self, vectors: Float32Array) -> None:
        self._vectors = vectors

    def nearest(self, queries: Float32Array, k: int, chosen: Int64Array | None = None) -> Found:
        """Return the nearest, as `Finder` says."""
        if chosen is None:
            return self._searched(self._vectors, queries, k)
        found: Found | None = None
        for start in range(0, len(chosen), BLOCK):
            part = chosen[start : start + BLOCK]
            distances, places = self._searched(self._vectors[part], queries, min(k, len(part)))
            found = _merged(found, (distances, part[places]), k)
        assert found is not None  # there are at least `k` chosen, and `k` is at least 1
        return found

    def _searched(self, vectors: Float32Array, queries: Float32Array, k: int) -> Found:
        faiss = load_faiss()

        if len(queries) < MULTIPLIED_FROM:
            return measured(vectors, queries, faiss.knn(queries, vectors, k)[1], k)
        wide = _widened(k, len(vectors))
        rough, places = faiss.knn(queries, vectors, wide)
        found = measured(vectors, queries, places, k)
        if wide < len(vectors):
            doubtful = np.flatnonzero(_doubtful(queries, found[0], rough[:, -1], ROUNDING))
            for start in range(0, len(doubtful), MULTIPLIED_FROM - 1):
                some = doubtful[start : start + MULTIPLIED_FROM - 1]
                found[0][some], found[1][some] = self._searched(vectors, queries[some], k)
        return found


class ByTorch:
    """Searches with torch in blocks of rows, on the CPU or a GPU."""

    def __init__(self, vectors: Float32Array, device: str) -> None:
        import torch

        self._torch, self._device = torch, device
        self._vectors = _tensor(vectors)
        if device != "cpu":
            self._vectors = self._vectors.to(device)

    def nearest(self, queries: Float32Array, k: int, chosen: Int64Array | None = None) -> Found:
        """Return the nearest, as `Finder` says."""
        count = len(self._vectors) if chosen is None else len(chosen)
        wide = _widened(k, count)
        parts = [
            self._some(queries[start : start + QUERIES], k, wide, chosen) for start in range(0, len(queries), QUERIES)
        ]
        found = np.concatenate([one for one, _, _ in parts]), np.concatenate([one for _, one, _ in parts])
        if wide < count:
            whole = self._torch.get_float32_matmul_precision() == "highest"
            rough = np.concatenate([one for _, _, one in parts])
            doubtful = _doubtful(queries, found[0], rough, ROUNDING if whole else ROUNDING_OF_SHORT)
            for one in np.flatnonzero(doubtful):
                found[0][one], found[1][one] = self._subtracted(queries[one : one + 1], k, chosen)
        return found

    def _some(
        self, queries: Float32Array, k: int, wide: int, chosen: Int64Array | None
    ) -> tuple[Float32Array, Int64Array, Float32Array]:
        """Return the nearest and, for each query, up to which rough distance candidates were looked at."""
        query = _tensor(queries).to(self._device)
        lengths = (query * query).sum(1, keepdim=True)
        rough, places = None, None
        for start, block in self._blocks(chosen):
            squares = self._torch.addmm((block * block).sum(1)[None, :], query, block.T, alpha=-2.0) + lengths
            near, at = squares.topk(min(wide, len(block)), largest=False)
            at += start
            if rough is not None and places is not None:
                near, at = self._torch.cat([rough, near], 1), self._torch.cat([places, at], 1)
                near, order = near.topk(min(wide, near.shape[1]), largest=False)
                at = at.gather(1, order)
            rough, places = near, at
        assert rough is not None  # there is at least one row
        assert places is not None
        if chosen is not None:
            places = _tensor(chosen).to(self._device)[places]
        return *self._measured(query, places, k), rough[:, -1].cpu().numpy()

    def _measured(self, query: Any, places: Any, k: int) -> Found:
        step = max(1, NUMBERS // (places.shape[1] * query.shape[1]))
        distances = [
            (self._vectors[places[start : start + step]] - query[start : start + step, None]).square().sum(2)
            for start in range(0, len(query), step)
        ]
        return ordered(self._torch.cat(distances).cpu().numpy(), places.cpu().numpy(), k)

    def _subtracted(self, query: Float32Array, k: int, chosen: Int64Array | None) -> Found:
        one = _tensor(query).to(self._device)
        distances = [(block - one).square().sum(1).cpu().numpy() for _, block in self._blocks(chosen)]
        squares = np.concatenate(distances)
        places = np.argpartition(squares, k - 1)[:k] if k < len(squares) else np.arange(len(squares))
        return ordered(squares[None, places], (places if chosen is None else chosen[places])[None, :], k)

    def _blocks(self, chosen: Int64Array | None) -> Any:
        for start in range(0, len(self._vectors) if chosen is None else len(chosen), BLOCK):
            if chosen is None:
                yield start, self._vectors[start : start + BLOCK]
            else:
                yield start, self._vectors[_tensor(chosen[start : start + BLOCK]).to(self._device)]


def measured(vectors: Float32Array, queries: Float32Array, places: Int64Array, k: int) -> Found:
    """Return the `k` nearest of the candidates in `places`, measured by subtraction; -1 is infinitely far."""
    faiss = load_faiss()

    squares, at = np.empty(places.shape, np.float32), np.ascontiguousarray(places, np.int64)
    arrays = [faiss.swig_ptr(one) for one in (squares, queries, vectors, at)]
    with threads_for(len(places)):
        faiss.fvec_L2sqr_by_idx(*arrays, queries.shape[1], *places.shape)
    return ordered(squares, at, k)


def ordered(squares: Float32Array, places: Int64Array, k: int) -> Found:
    """Return the first `k` by distance, equals by position, with -1 last."""
    squares = np.where(places < 0, np.float32(np.inf), squares)
    if places.shape[1] > 2 * k:  # sorting them all would take longer than finding them did
        near = np.argpartition(squares, k - 1, axis=1)[:, :k]
        squares, places = np.take_along_axis(squares, near, 1), np.take_along_axis(places, near, 1)
    order = np.argsort(squares, axis=1)
    sizes = np.take_along_axis(squares, order, 1)
    # Sorting by two keys takes several times as long, and few queries have rows that are equally near.
    tied = np.flatnonzero((sizes[:, 1:] == sizes[:, :-1]).any(axis=1))
    order[tied] = np.lexsort((places[tied], squares[tied]), axis=-1)
    order = order[:, :k]
    return sizes[:, :k], np.take_along_axis(places, order, 1).astype(np.int64, copy=False)


def _merged(before: Found | None, after: Found, k: int) -> Found:
    if before is None:
        return after
    return ordered(np.hstack([before[0], after[0]]), np.hstack([before[1], after[1]]), k)


def _widened(k: int, count: int) -> int:
    return min(count, k + max(8, k // 2))


def _doubtful(queries: Float32Array, squares: Float32Array, looked_at: Float32Array, rounding: float) -> BoolArray:
    """Return for which queries a row that was no candidate could be nearer than the last one found.

    Such a row has a rough distance of at least `looked_at`. Were it as near as the last one found, its length would
    be at most the query's plus that distance, which bounds how far the rough distance is off.
    """
    last = squares[:, -1].astype(np.float64)
    lengths = (queries.astype(np.float64) ** 2).sum(axis=1)
    return np.asarray(last + rounding * 4.0 * (lengths + last) > looked_at)


def _tensor(array: Any) -> Any:
    """Return a tensor on the memory of an array. Nothing writes to it, so a file that is read only will do."""
    import warnings

    import torch

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)
