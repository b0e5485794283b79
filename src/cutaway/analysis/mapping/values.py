"""What a map is, and what an earlier one is to the next. Computes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from cutaway.arrays import Array, Float32Array

__all__ = ["Map", "PreviousMap"]


@dataclass(frozen=True)
class Map:
    """Samples in the plane: `positions` (n, 2), NaN for rows whose latent vector is not finite.

    Near means alike; the axes mean nothing, except for `method="pca"`. `trustworthiness` is None until somebody
    measures it. `notes` say in words what a reader should know of this map.
    """

    positions: Float32Array
    method: str
    seed: int
    trustworthiness: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PreviousMap:
    """An earlier map of the same samples: their latent vectors then, and their positions.

    Rows stand as in the new latent vectors; a sample that is new has NaN in its row. The vectors may be of another
    width than the new ones.
    """

    latents: Array
    positions: Array
