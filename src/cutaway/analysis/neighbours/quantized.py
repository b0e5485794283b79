"""Approximate search: rows in lists around centroids, with short codes, by faiss. Measures no recall, knows no files.

A query looks through the lists whose centroids are nearest (`probes`), compares codes of 4 bits a dimension or two, and
measures the best candidates on the vectors themselves. Everything that was learned or assigned is in `Cells`, plain
arrays, from which faiss's own structures are packed in a moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.neighbours.exact import measured
from cutaway.analysis.neighbours.library import load_faiss, threads_for
from cutaway.arrays import Float32Array, Int32Array, Int64Array, UInt8Array
from cutaway.evaluation.progress import Listener

__all__ = ["CENTROIDS", "Cells", "Quantized", "assigned", "code_bytes", "learn", "may_be_coded", "pieces", "projected"]


# A piece of a vector is coded by the nearest of so many centroids: 4 bits, which faiss compares by table in registers.
CENTROIDS = 16
# Vectors are projected to their first principal components before they are coded: to the fewest of these numbers of
# them that keep most of the variance. What that loses the measuring of candidates makes up for.
WIDTHS, KEPT = (32, 64, 128), 0.97
# Up to this width a dimension has a code of its own, above each two have one.
ONE_BY_ONE = 64
# Up to this width the distance from the list's centroid is coded: there are too few codes to tell rows apart otherwise.
NARROW = 16
# Rows that k-means sees for each list, how often it passes over them, and rows that other statistics are made from.
ROWS_A_LIST, PASSES, ROWS_OF_STATISTICS = 40, 8, 20_000
BLOCK = 32_768


@dataclass(frozen=True)
class Cells:
    """What an approximate index learned, and where it put each row: plain arrays."""

    basis: Float32Array | None  # (d, width), where vectors are projected
    centroids: Float32Array  # (lists, width)
    codebooks: Float32Array  # (pieces, 16, width of a piece)
    lists: Int32Array  # (n,): the list of each row
    codes: UInt8Array  # (n, bytes)


def may_be_coded(width: int, *, projected_from: int | None) -> bool:
    """Whether vectors that are coded can be so wide, as they are or as a projection of wider ones."""
    if projected_from is None:
        return width % 2 == 0 and width <= WIDTHS[-1]
    return width in WIDTHS and width < projected_from


def pieces(width: int) -> int:
    """Return into how many pieces a coded vector of this width is cut."""
    return width if width <= ONE_BY_ONE else width // 2


def code_bytes(width: int) -> int:
    """Return how many bytes the code of a vector of this width has."""
    return (pieces(width) + 1) // 2


def projected(vectors: Float32Array, basis: Float32Array | None, width: int) -> Float32Array:
    """Return vectors as they are coded: projected, or filled up with zeros to `width`."""
    if basis is not None:
        return np.ascontiguousarray(vectors @ basis)
    if vectors.shape[1] == width:
        return np.ascontiguousarray(vectors)
    return np.pad(vectors, ((0, 0), (0, width - vectors.shape[1])))


def learn(vectors: Float32Array, *, seed: int, progress: Listener | None = None) -> Cells:
    """Return lists and codes for vectors, the same for the same seed."""
    count = len(vectors)
    random = np.random.default_rng(seed)
    lists = 2 ** round(np.log2(2 * np.sqrt(count)))
    counter = Counter(progress, PASSES * lists * ROWS_A_LIST + count, "rows", "indexing")
    basis = _basis(_some(vectors, ROWS_OF_STATISTICS, random), random)
    width = vectors.shape[1] + vectors.shape[1] % 2 if basis is None else basis.shape[1]
    seen = projected(_some(vectors, lists * ROWS_A_LIST, random), basis, width)
    centroids = _centroids(seen, lists, seed, counter)
    codebooks = _codebooks(seen[:ROWS_OF_STATISTICS], centroids, seed)
    own = np.empty(count, np.int32)
    codes = np.empty((count, code_bytes(width)), np.uint8)
    for start in range(0, count, BLOCK):
        part = slice(start, start + BLOCK)
        own[part], codes[part] = assigned(projected(vectors[part], basis, width), centroids, codebooks)
        counter.advance(len(own[part]))
    return Cells(basis, centroids, codebooks, own, codes)


def assigned(block: Float32Array, centroids: Float32Array, codebooks: Float32Array) -> tuple[Int32Array, UInt8Array]:
    """Return the nearest list and the code of each of some coded vectors."""
    faiss = load_faiss()

    own = faiss.knn(block, centroids, 1)[1][:, 0].astype(np.int32)
    return own, _quantizer(codebooks).compute_codes(_coded(block, centroids, own))


class Quantized:
    """Searches `Cells` for candidates, and measures them on the vectors that they were made from."""

    def __init__(self, vectors: Float32Array, cells: Cells) -> None:
        self._vectors, self.cells = vectors, cells
        # faiss holds the other two by address only.
        self._packed, *self._kept = _packed(cells)

    @property
    def lists(self) -> int:
        """How many lists there are."""
        return len(self.cells.centroids)

    def nearest(
        self, queries: Float32Array, k: int, *, probes: int, candidates: int, chosen: Int64Array | None = None
    ) -> tuple[Float32Array, Int64Array]:
        """Return squared distances and positions, nearest first; -1 where the lists held fewer than `k`."""
        faiss = load_faiss()

        selector = None if chosen is None else faiss.IDSelectorBitmap(_bits(chosen, len(self._vectors)))
        options = faiss.SearchParametersIVF(nprobe=min(probes, self.lists), sel=selector)
        with threads_for(len(queries)):
            coded = projected(queries, self.cells.basis, self.cells.centroids.shape[1])
            places = self._packed.search(coded, min(candidates, len(self._vectors)), params=options)[1]
            return measured(self._vectors, queries, places, k)


def _some(vectors: Float32Array, count: int, random: np.random.Generator) -> Float32Array:
    """Return some rows in random order; read in the order in which they lie, which a file on a disk needs."""
    if count >= len(vectors):
        return random.permutation(np.asarray(vectors))
    rows = np.sort(random.choice(len(vectors), count, replace=False))
    return random.permutation(vectors[rows])


def _basis(seen: Float32Array, random: np.random.Generator) -> Float32Array | None:
    """Return the principal components, turned at random so that each piece of a code has as much to say.

    None where the vectors are coded as they are.
    """
    centred = seen.astype(np.float64) - seen.mean(axis=0, dtype=np.float64)
    sizes, components = np.linalg.eigh(centred.T @ centred)
    kept = np.cumsum(sizes[::-1]) >= KEPT * sizes.sum()
    fit = [one for one in WIDTHS if one < len(sizes) and (kept[one - 1] or one == WIDTHS[-1])]
    if not fit:
        return None
    turn = np.linalg.qr(random.standard_normal((fit[0], fit[0])))[0]
    return np.asarray(components[:, ::-1][:, : fit[0]] @ turn, np.float32)


def _centroids(seen: Float32Array, lists: int, seed: int, counter: Counter) -> Float32Array:
    faiss = load_faiss()

    found = None
    for _ in range(PASSES):  # one at a time, so that progress can be told
        means = faiss.Kmeans(seen.shape[1], lists, niter=1, seed=seed, min_points_per_centroid=1)
        means.train(seen, init_centroids=found)
        found = means.centroids
        counter.advance(lists * ROWS_A_LIST)
    return np.ascontiguousarray(found, np.float32)


def _codebooks(seen: Float32Array, centroids: Float32Array, seed: int) -> Float32Array:
    faiss = load_faiss()

    width = seen.shape[1]
    own = faiss.knn(seen, centroids, 1)[1][:, 0] if width <= NARROW else np.zeros(len(seen), np.int64)
    quantizer = faiss.ProductQuantizer(width, pieces(width), 4)
    quantizer.cp.seed = seed
    quantizer.cp.min_points_per_centroid = 1
    with threads_for(1):  # many tiny searches, which threads only make slower
        quantizer.train(_coded(seen, centroids, own))
    learned = faiss.vector_to_array(quantizer.centroids)
    return np.asarray(learned, np.float32).reshape(pieces(width), CENTROIDS, -1)


def _coded(block: Float32Array, centroids: Float32Array, own: Any) -> Float32Array:
    """Return what is coded of each vector: all of it, or its distance from the centroid where it is narrow."""
    return block - centroids[own] if block.shape[1] <= NARROW else block


def _quantizer(codebooks: Float32Array) -> Any:
    faiss = load_faiss()

    count, _, piece = codebooks.shape
    quantizer = faiss.ProductQuantizer(count * piece, count, 4)
    faiss.copy_array_to_vector(codebooks.ravel(), quantizer.centroids)
    return quantizer


def _packed(cells: Cells) -> tuple[Any, Any, Any]:
    """Return faiss's index of 4-bit codes, packed as its vector instructions want them, and what it refers to."""
    faiss = load_faiss()

    lists, width = cells.centroids.shape
    coarse = faiss.IndexFlatL2(width)
    coarse.add(cells.centroids)
    plain = faiss.IndexIVFPQ(coarse, width, lists, pieces(width), 4)
    plain.by_residual = width <= NARROW
    faiss.copy_array_to_vector(cells.codebooks.ravel(), plain.pq.centroids)
    plain.is_trained = True
    order = np.argsort(cells.lists, kind="stable").astype(np.int64)
    ends = np.cumsum(np.bincount(cells.lists, minlength=lists))
    for number, end in enumerate(ends):
        rows = order[ends[number - 1] if number else 0 : end]
        if len(rows):
            codes = np.ascontiguousarray(cells.codes[rows])
            plain.invlists.add_entries(number, len(rows), faiss.swig_ptr(rows), faiss.swig_ptr(codes))
    plain.ntotal = len(order)
    return faiss.IndexIVFPQFastScan(plain), coarse, plain


def _bits(chosen: Int64Array, count: int) -> UInt8Array:
    mask = np.zeros(count, np.bool_)
    mask[chosen] = True
    return np.packbits(mask, bitorder="little")
