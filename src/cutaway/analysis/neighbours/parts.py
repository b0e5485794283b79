"""An approximate index as plain arrays, and back. Trusts nothing that it reads: a run folder may come from anywhere."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cutaway.analysis.neighbours.quantized import (
    CENTROIDS,
    Cells,
    assigned,
    code_bytes,
    may_be_coded,
    pieces,
    projected,
)
from cutaway.analysis.neighbours.rows import Rows
from cutaway.analysis.neighbours.tuning import MOST, Effort
from cutaway.arrays import Array
from cutaway.errors import ConfigurationError

__all__ = ["arrays_of", "cells_of"]

VERSION = 1
# So many rows are coded again when an index is read, and so many of them must come out as they were.
CHECKED, SAME = 256, 0.95


def arrays_of(cells: Cells, effort: Effort, rows: Rows) -> dict[str, Array]:
    """Return arrays from which `cells_of` returns the same; `lists` and `codes` have a line for each row given."""
    lists = np.full(rows.total, -1, np.int32)
    codes = np.zeros((rows.total, cells.codes.shape[1]), np.uint8)
    at = slice(None) if rows.ids is None else rows.ids
    lists[at], codes[at] = cells.lists, cells.codes
    parts: dict[str, Array] = {
        "settings": np.array([VERSION, effort.probes, effort.candidates], np.int64),
        "recall": np.array([effort.recall], np.float64),
        "centroids": cells.centroids,
        "codebooks": cells.codebooks,
        "lists": lists,
        "codes": codes,
    }
    return parts if cells.basis is None else {**parts, "basis": cells.basis}


def cells_of(parts: Mapping[str, Array], rows: Rows) -> tuple[Cells, Effort]:
    """Return what the arrays hold, checked against the rows that they should belong to."""
    basis = _part(parts, "basis", np.float32, (rows.width, None)) if "basis" in parts else None
    width = rows.width + rows.width % 2 if basis is None else basis.shape[1]
    fits = may_be_coded(width, projected_from=None if basis is None else rows.width)
    _must(fits, f"it codes vectors of {rows.width} numbers as {width}")
    cut = pieces(width)
    settings = _part(parts, "settings", np.int64, (3,))
    recall = float(_part(parts, "recall", np.float64, (1,))[0])
    centroids = _part(parts, "centroids", np.float32, (None, width))
    codebooks = _part(parts, "codebooks", np.float32, (cut, CENTROIDS, width // cut))
    lists = _part(parts, "lists", np.int32, (rows.total,))
    codes = _part(parts, "codes", np.uint8, (rows.total, code_bytes(width)))
    version, probes, candidates = (int(one) for one in settings)
    _must(version == VERSION, f"its version is {version}, but {VERSION} is known")
    _must(1 <= len(centroids) <= max(len(rows), 1), f"it has {len(centroids)} lists for {len(rows)} rows")
    _must(1 <= probes <= len(centroids), f"it looks through {probes} of {len(centroids)} lists")
    _must(1 <= candidates <= MOST, f"it measures {candidates} candidates for each neighbour")
    _must(0.0 <= recall <= 1.0, f"its recall is {recall}")
    if rows.ids is not None:
        lost = np.ones(rows.total, np.bool_)
        lost[rows.ids] = False
        _must(bool((lists[lost] == -1).all()), "it has places for rows that are not finite")
        lists, codes = lists[rows.ids], codes[rows.ids]
    inside = bool(((lists >= 0) & (lists < len(centroids))).all())
    _must(inside, f"it puts rows in lists that are none of its {len(centroids)}")
    cells = Cells(basis, centroids, codebooks, lists, codes)
    _belongs(cells, rows)
    return cells, Effort(probes, candidates, recall)


def _part(parts: Mapping[str, Array], name: str, dtype: type, shape: tuple[int | None, ...]) -> Array:
    _must(name in parts, f"array {name!r} is missing")
    array = np.asarray(parts[name])
    fits = array.ndim == len(shape) and all(want in (None, got) for got, want in zip(array.shape, shape, strict=True))
    _must(
        fits and array.dtype == dtype,
        f"array {name!r} is {array.dtype} of shape {array.shape}, but {np.dtype(dtype)} of shape "
        f"{tuple('any' if one is None else one for one in shape)} is needed",
    )
    _must(array.dtype.kind != "f" or bool(np.isfinite(array).all()), f"array {name!r} is not finite")
    return np.ascontiguousarray(array)


def _belongs(cells: Cells, rows: Rows) -> None:
    """Code some rows again: an index of other vectors, such as those of the next epoch, has right shapes too."""
    at = np.unique(np.linspace(0, len(rows) - 1, min(CHECKED, len(rows))).astype(np.int64))
    block = projected(np.ascontiguousarray(rows.vectors[at]), cells.basis, cells.centroids.shape[1])
    lists, codes = assigned(block, cells.centroids, cells.codebooks)
    same = (lists == cells.lists[at]) & (codes == cells.codes[at]).all(axis=1)
    _must(bool(same.mean() >= SAME), f"{int((~same).sum())} of {len(same)} rows that were looked at lie elsewhere")


def _must(holds: bool, reason: str) -> None:  # noqa: FBT001  # reads as a sentence: it must hold, or else
    if not holds:
        raise ConfigurationError(
            f"The index of neighbours does not fit these vectors, or is damaged: {reason}.", hint="Build it again."
        )
