"""Which pictures of samples a page carries: as many as keep the file small, the telling ones first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cutaway.analysis.figures.packing import pack
from cutaway.analysis.figures.pictures import is_small_png
from cutaway.arrays import Array

__all__ = ["Previews", "choose_previews"]

MOST_PREVIEWS = 5_000
MOST_BYTES = 4_000_000


@dataclass(frozen=True)
class Previews:
    """Pictures of some samples: `rows` in rising order, and one PNG for each. `known` counts those that there were."""

    rows: tuple[int, ...] = ()
    pictures: tuple[bytes, ...] = ()
    known: int = 0

    def said(self) -> str:
        """Return what a reader must know about them, or nothing where all are there."""
        if len(self.rows) == self.known:
            return ""
        return f"As a page it carries the pictures of {len(self.rows):,} of {self.known:,} samples, to stay small."

    def packed(self) -> dict[str, Any]:
        """Return them as JSON: the rows, where each picture ends, and the bytes of all."""
        ends = np.cumsum([len(one) for one in self.pictures], dtype=np.uint32)
        everything = np.frombuffer(b"".join(self.pictures), np.uint8)
        return {"rows": pack(np.array(self.rows, np.uint32)), "ends": pack(ends), "bytes": pack(everything)}


def choose_previews(ids: Sequence[str], previews: Mapping[str, bytes] | None, importance: Array) -> Previews:
    """Return the pictures of the most important samples, as many as there is room for."""
    if not previews:
        return Previews()
    # A page hands them to a browser as they are: one of a size that no preview has would take its memory.
    known = [row for row, one in enumerate(ids) if is_small_png(previews.get(one) or b"")]
    chosen: list[int] = []
    room = MOST_BYTES
    for row in sorted(known, key=lambda one: -float(importance[one]))[:MOST_PREVIEWS]:
        room -= len(previews[ids[row]])
        if room < 0:
            break
        chosen.append(row)
    chosen.sort()
    return Previews(tuple(chosen), tuple(previews[ids[row]] for row in chosen), len(known))
