"""`Index`: the nearest of many vectors, and the choice of how they are found. How they are found is not its."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.analysis.counting import Counter
from cutaway.analysis.devices import choose_device
from cutaway.analysis.neighbours.exact import ByFaiss, ByTorch, Finder
from cutaway.analysis.neighbours.library import faiss_is_there
from cutaway.analysis.neighbours.parts import arrays_of, cells_of
from cutaway.analysis.neighbours.quantized import Quantized, learn
from cutaway.analysis.neighbours.rows import Rows, prepare
from cutaway.analysis.neighbours.tuning import NEAREST, Effort, tune
from cutaway.arrays import Array, BoolArray, Float32Array, Int64Array
from cutaway.errors import ConfigurationError, MissingExtraError
from cutaway.evaluation.progress import Listener

__all__ = ["Index", "Nearest", "build_index", "index_from_parts"]

# Up to so many rows, or as many numbers as so many rows of a usual width have, every row is compared.
EXACT_ROWS, EXACT_NUMBERS = 200_000, 200_000 * 128
# Fewer rows are not worth importing torch to ask for a GPU, and too few to learn lists and codes from.
SMALL, TINY = 20_000, 1_000
# Where a mask leaves fewer rows, or more neighbours are asked for, comparing every row is as quick, and certain.
FEW_LEFT, MANY_ASKED = 50_000, 500
# How many queries are searched between two words of progress.
QUERIES = 4_096


@dataclass(frozen=True)
class Nearest:
    """The nearest rows of each query, or the nearest others of each sample: (queries, k), nearest first.

    `indices` are row numbers, -1 where there are fewer than `k` rows; `distances` are Euclidean, infinite there.
    """

    indices: Int64Array
    distances: Float32Array


class Index:
    """Finds the nearest of some vectors. Made by `build_index` or `index_from_parts`.

    `exact` says whether every row is compared. Where not, `recall` is the share of the 10 nearest that was found for a
    sample of the rows. `notes` say in words what a person should know of it.
    """

    def __init__(
        self,
        rows: Rows,
        flat: Finder,
        quantized: Quantized | None = None,
        effort: Effort | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self._rows, self._flat, self._quantized, self._effort = rows, flat, quantized, effort
        self.notes = notes

    def __len__(self) -> int:
        return self._rows.total

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return self._rows.width

    @property
    def exact(self) -> bool:
        """Whether every row is compared with a query."""
        return self._quantized is None

    @property
    def recall(self) -> float | None:
        """Which share of the 10 nearest was found, measured when the index was built; None for an exact index."""
        return None if self._effort is None else self._effort.recall

    def search(
        self, queries: Array, k: int, *, among: BoolArray | None = None, progress: Listener | None = None
    ) -> Nearest:
        """Return the `k` nearest rows of each query; rows as near as each other in the order of their numbers.

        `queries` is (queries, width), or one vector. A row that is not finite is never found. `among` is a mask over
        all rows; only those that it lets through are found. A query that is itself a row finds itself first.
        """
        if k < 1:
            raise ConfigurationError(f"`k >= 1` must hold, but got k={k}.")
        wanted = self._rows.conditioned(queries)
        chosen = None if among is None else self._rows.positions(among)
        count = min(k, len(self._rows) if chosen is None else len(chosen))
        indices = np.full((len(wanted), k), -1, np.int64)
        distances = np.full((len(wanted), k), np.inf, np.float32)
        counter = Counter(progress, len(wanted), "queries", "finding neighbours")
        for start in range(0, len(wanted) if count else 0, QUERIES):
            part = slice(start, start + QUERIES)
            squares, places = self._nearest(wanted[part], count, chosen)
            indices[part, :count] = self._rows.named(places)
            distances[part, :count] = np.sqrt(squares) * np.float32(self._rows.scale)
            counter.advance(len(squares))
        return Nearest(indices, distances)

    def parts(self) -> dict[str, Array]:
        """Return what an approximate index learned, as arrays for `index_from_parts`; nothing for an exact one."""
        if self._quantized is None or self._effort is None:
            return {}
        return arrays_of(self._quantized.cells, self._effort, self._rows)

    def _nearest(self, queries: Float32Array, k: int, chosen: Int64Array | None) -> tuple[Float32Array, Int64Array]:
        left = len(self._rows) if chosen is None else len(chosen)
        if self._quantized is None or self._effort is None or left < FEW_LEFT or k > MANY_ASKED:
            return self._flat.nearest(queries, k, chosen)
        probes = -(-self._effort.probes_for(k) * len(self._rows) // left)
        candidates = self._effort.candidates * max(k, NEAREST)
        found = self._quantized.nearest(queries, k, probes=probes, candidates=candidates, chosen=chosen)
        short = np.flatnonzero(found[1][:, -1] < 0)
        if len(short):
            found[0][short], found[1][short] = self._flat.nearest(queries[short], k, chosen)
        return found


def build_index(
    vectors: Array,
    *,
    seed: int = 0,
    exact: bool | None = None,
    device: str | None = None,
    progress: Listener | None = None,
) -> Index:
    """Return an index of vectors, a row each: (n, d) numbers in memory or in a file that is mapped into it.

    Every row is compared up to 200,000 rows, and on a GPU as long as the vectors fit in half of its free memory. Above,
    rows lie in lists with short codes, and how many lists a query looks through is measured: until 99 % of the 10
    nearest are found. `exact` forces one or the other. Vectors are used where they lie if they are float32 and finite,
    and copied once otherwise. Rows that are not finite are left out. The same seed gives the same index.
    """
    rows = prepare(vectors)
    place = _place(rows, device)
    if place != "cpu":
        return Index(rows, ByTorch(rows.vectors, place), notes=_left_out(rows))
    flat, notes = _flat(rows)
    if exact is None:
        exact = len(rows) <= EXACT_ROWS or rows.vectors.size <= EXACT_NUMBERS
    if exact or len(rows) < TINY or not isinstance(flat, ByFaiss):
        slow = (_without_faiss(),) if not exact and not isinstance(flat, ByFaiss) else ()
        return Index(rows, flat, notes=notes + slow)
    quantized = Quantized(rows.vectors, learn(rows.vectors, seed=seed, progress=progress))
    effort = tune(rows.vectors, quantized, flat, seed=seed, progress=progress)
    return Index(rows, flat, quantized, effort, notes + _said(effort, quantized))


def index_from_parts(vectors: Array, parts: dict[str, Array]) -> Index:
    """Return the approximate index that `Index.parts` was asked of, for the same vectors.

    The arrays are checked: damaged ones, and those of other vectors, raise a ConfigurationError.
    """
    rows = prepare(vectors)
    flat, notes = _flat(rows)
    if not isinstance(flat, ByFaiss):
        raise MissingExtraError("An index of neighbours from a file", "analysis")
    cells, effort = cells_of(parts, rows)
    quantized = Quantized(rows.vectors, cells)
    return Index(rows, flat, quantized, effort, notes + _said(effort, quantized))


def _place(rows: Rows, device: str | None) -> str:
    """Return where to search: on a GPU where it is worth it and holds the vectors, or where it is asked for."""
    if device == "cpu" or (device is None and len(rows) < SMALL):
        return "cpu"
    try:
        place = choose_device(device)
    except MissingExtraError:
        if device is not None:
            raise
        return "cpu"
    if place != "cpu" and device is None:
        import torch

        if rows.vectors.nbytes * 2 > torch.cuda.mem_get_info()[0]:
            return "cpu"
    return place


def _flat(rows: Rows) -> tuple[Finder, tuple[str, ...]]:
    if faiss_is_there():
        return ByFaiss(rows.vectors), _left_out(rows)
    try:
        return ByTorch(rows.vectors, "cpu"), _left_out(rows)
    except ImportError as error:
        raise MissingExtraError("Finding neighbours", "analysis") from error


def _without_faiss() -> str:
    return (
        "faiss is not installed, so every row is compared with every query, which is slower. "
        "Run: pip install 'cutaway[analysis]'"
    )


def _left_out(rows: Rows) -> tuple[str, ...]:
    lost = rows.total - len(rows)
    return (f"{lost} of {rows.total} rows are not finite and are never found.",) if lost else ()


def _said(effort: Effort, quantized: Quantized) -> tuple[str, ...]:
    said = (
        f"Approximate: {effort.recall:.1%} of the {NEAREST} nearest were found for a sample of the rows, looking "
        f"through {effort.probes} of {quantized.lists} lists."
    )
    if effort.reached:
        return (said,)
    return (said, "That is less than 99 %. Build it with `exact=True` where every neighbour matters.")
