"""What was kept of analyses of an evaluation: read once, again when its file changes, left out where it is not ours.

A map is given as it can be drawn: places that a screen can show, how far they can be trusted, and what is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cutaway.analysis.population.applicability import analyses
from cutaway.analysis.population.names import file_name
from cutaway.arrays import Float32Array
from cutaway.run.analyses import KeptTable, read_table
from cutaway.run.evaluated import EvaluatedPopulation
from cutaway.run.evaluated.kept import MAP, METHODS, map_positions, problem_of
from cutaway.run.file_stamp import stamp_of

__all__ = ["KeptTables", "Placed", "placed_map"]

# A larger number has a square that float32, in which screens count, cannot hold.
FARTHEST = 1e18


@dataclass(frozen=True)
class Placed:
    """Where samples lie, a row each; NaN where one has no place."""

    positions: Float32Array
    method: str
    trustworthiness: float | None
    notes: tuple[str, ...]


class KeptTables:
    """The kept tables of one evaluation, by kind."""

    def __init__(self, population: EvaluatedPopulation, ids: Callable[[], pa.Array]) -> None:
        self._population = population
        self._ids = ids
        self._tables: dict[str, tuple[object, KeptTable | None]] = {}
        self._reasons: dict[str, str] = {}

    @property
    def notes(self) -> list[str]:
        """What is there and does not count, and why."""
        return list(self._reasons.values())

    def stamp(self, kind: str) -> object:
        """Return what changes when the file of a kind does; None where there is none."""
        return stamp_of(self._population.name(kind).file(self._population.evaluation, "parquet"))

    def table(self, kind: str) -> KeptTable | None:
        """Return what was kept of a kind, where it is of this evaluation."""
        stamp = self.stamp(kind)
        if kind not in self._tables or self._tables[kind][0] != stamp:
            self._reasons.pop(kind, None)
            self._tables[kind] = stamp, None if stamp is None else self._read(kind)
        return self._tables[kind][1]

    def is_made(self, kind: str) -> bool:
        """Whether something of a kind was kept of this evaluation, by what its file says about itself."""
        stamp = self.stamp(kind)
        if stamp is not None and self._tables.get(kind, (None,))[0] == stamp:
            return self._tables[kind][1] is not None
        return self._population.kept_settings(kind) is not None

    def _read(self, kind: str) -> KeptTable | None:
        population = self._population
        held = read_table(population.evaluation, population.name(kind))
        if held is None:
            reason = "it cannot be read"
        else:
            reason = problem_of(
                population,
                kind,
                held,
                self._ids(),
                its_map=lambda: self.table(MAP),
                is_of_these=self._is_of_these,
            )
        if reason:
            words = kind.replace("_", " ")
            self._reasons[kind] = f"The saved {words!r} is not shown: {reason}. Run it again."
            return None
        return held

    def _is_of_these(self, kind: str, table: pa.Table) -> bool:
        """Whether a table has the samples that one of its kind has; tables of something else have none to compare."""
        name = MAP if kind in METHODS else kind
        made = next((one for one in analyses() if file_name(one.name) == name), None)
        return made is None or made.is_own(table, self._ids(), self._population.answer.classes)


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
