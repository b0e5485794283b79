"""Where on the map flips lie more densely than elsewhere. Says where, not which model is better there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from cutaway.analysis.comparing.differences import LEVEL
from cutaway.analysis.comparing.paired import adjusted
from cutaway.analysis.libraries import library
from cutaway.arrays import BoolArray, Float64Array, IndexArray

__all__ = ["region_table"]


# The map is halved so many times, across its longer side, into cells of as many samples each.
HALVINGS = 6
FEWEST = 20
_TYPES = {
    "flip": pa.string(), "x": pa.float64(), "y": pa.float64(), "width": pa.float64(), "height": pa.float64(),
    "count": pa.int64(), "flips": pa.int64(), "expected": pa.float64(), "p": pa.float64(),
}  # fmt: skip


def region_table(places: Float64Array, flips: dict[str, BoolArray]) -> pa.Table:
    """Return the cells of the map in which more samples flipped than overall, for each kind of flip.

    Cells of several sizes lie in each other; of those that share samples the surest is kept.
    """
    hypergeom = library("scipy.stats", "Regions of a map").hypergeom
    known = np.isfinite(places).all(axis=1)
    rows = []
    for cell in _cells(places, np.flatnonzero(known), HALVINGS):
        for kind, mask in flips.items():
            total, inside = int((mask & known).sum()), int(mask[cell].sum())
            p = float(hypergeom.sf(inside - 1, int(known.sum()), total, len(cell))) if inside else 1.0
            rows.append((cell, _row(places[cell], kind, inside, total / known.sum() * len(cell), p)))
    ps = adjusted([row["p"] for _, row in rows])
    kept: list[int] = []
    taken = {kind: np.zeros(len(places), np.bool_) for kind in flips}
    for place in np.argsort([row["p"] for _, row in rows], kind="stable").tolist():
        cell, row = rows[place]
        if row["flips"] > row["expected"] and not taken[row["flip"]][cell].any():
            taken[row["flip"]][cell] = True
            kept.append(place)
    columns: dict[str, Any] = {
        name: pa.array([rows[place][1][name] for place in kept], kind) for name, kind in _TYPES.items()
    }
    chosen = ps[kept] if kept else np.zeros(0)
    return pa.table(
        {**columns, "p_adjusted": pa.array(chosen, pa.float64()), "found": pa.array(chosen <= LEVEL, pa.bool_())}
    )


def _cells(places: Float64Array, rows: IndexArray, halvings: int) -> Iterator[IndexArray]:
    if not halvings or len(rows) < 2 * FEWEST:
        return
    spread = np.ptp(places[rows], axis=0)
    order = rows[np.argsort(places[rows, int(np.argmax(spread))], kind="stable")]
    for half in (order[: len(order) // 2], order[len(order) // 2 :]):
        yield half
        yield from _cells(places, half, halvings - 1)


def _row(places: Float64Array, kind: str, flips: int, expected: float, p: float) -> dict[str, Any]:
    low, high = places.min(axis=0), places.max(axis=0)
    middle, size = (low + high) / 2, high - low
    return {
        "flip": kind, "x": float(middle[0]), "y": float(middle[1]), "width": float(size[0]), "height": float(size[1]),
        "count": len(places), "flips": flips, "expected": float(expected), "p": p,
    }  # fmt: skip
