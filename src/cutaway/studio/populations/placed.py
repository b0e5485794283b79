"""A map as it is drawn: places that a screen can show, how far they can be trusted, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cutaway.arrays import Float32Array
from cutaway.run.analyses import KeptTable
from cutaway.run.evaluated.kept import map_positions

__all__ = ["Placed", "placed_map"]

# A larger number has a square that float32, in which screens count, cannot hold.
FARTHEST = 1e18


@dataclass(frozen=True)
class Placed:
    """Where samples lie, a row each; NaN where one has no place."""

    positions: Float32Array
    method: str
    trustworthiness: float | None
    notes: tuple[str, ...]


def placed_map(held: KeptTable | None, samples: int, method: str) -> Placed | None:
    """Return a map that was kept of so many samples, as it can be drawn."""
    if held is None or len(held.table) != samples:
        return None
    positions = map_positions(held.table)
    told, trust = held.about.get("notes"), held.about.get("trustworthiness")
    notes = [str(one) for one in told] if isinstance(told, list) else []
    with np.errstate(invalid="ignore"):
        far = np.asarray((np.abs(positions) > FARTHEST).any(axis=1))
    if far.any():
        notes.append(f"{int(far.sum()):,} samples lie farther out than can be drawn, and are left out of the map.")
    unplaced = np.asarray(~np.isfinite(positions).all(axis=1))
    count = int((unplaced & ~far).sum())
    if count:
        notes.append(f"{count:,} samples have no place on the map: they failed, or their latent vector is not finite.")
    positions[far | unplaced] = np.nan
    known = float(trust) if isinstance(trust, float) and np.isfinite(trust) else None
    return Placed(positions, method, known, tuple(notes))
