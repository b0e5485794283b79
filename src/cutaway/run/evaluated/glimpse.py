"""`Glimpse`: an evaluation of which only some rows are read, at even distances, for what need not be told exactly.

To describe every column of a million samples takes seconds where all values are read; whole row groups from all over
the file say nearly the same in a tenth of that. What files say about all their rows is taken from there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import pyarrow as pa

from cutaway.run.evaluated.population import EvaluatedPopulation
from cutaway.run.evaluations import Evaluation

__all__ = ["LARGE", "Glimpse", "Told", "glimpse_of", "together", "told_by_files"]

# Up to here all rows are read; beyond, row groups that have about as many rows as half of this.
LARGE = 200_000


class Told(NamedTuple):
    """What the files say about a column of all rows; `missing` counts those without a value, but no NaN."""

    missing: int
    min: float | None
    max: float | None


@dataclass(frozen=True)
class Glimpse(Evaluation):
    """Some rows of an evaluation: every n-th row group of each subset."""

    every: int

    def table(self, subset: str, columns: list[str] | None = None) -> pa.Table:
        """Return some of the samples of a subset."""
        import pyarrow.parquet as pq

        path = self._file(subset, "parquet")
        with self._readable(path), pq.ParquetFile(path) as file:
            return file.read_row_groups(list(range(0, file.num_row_groups, self.every)), columns=columns)

    def count(self, subset: str) -> int:
        """Return how many of the samples of a subset are read."""
        import pyarrow.parquet as pq

        path = self._file(subset, "parquet")
        with self._readable(path):
            about = pq.read_metadata(path)
            return sum(about.row_group(one).num_rows for one in range(0, about.num_row_groups, self.every))


def glimpse_of(population: EvaluatedPopulation) -> EvaluatedPopulation:
    """Return so few rows of a population that they are read in a moment."""
    evaluation, samples = population.evaluation, sum(population.counts.values())
    some = Glimpse(evaluation.run, evaluation.number, max(1, math.ceil(samples / (LARGE // 2))))
    return replace(population, evaluation=some)


def told_by_files(evaluation: Evaluation, subset: str) -> dict[str, Told]:
    """Return what the file of a subset says about its columns; those of which it does not say everything are left out.

    The smallest and largest are those of numbers, None where one of them is infinite.
    """
    import pyarrow.parquet as pq

    path = evaluation.path / f"{subset}.parquet"
    about = pq.read_metadata(path)
    groups = [about.row_group(one) for one in range(about.num_row_groups)]
    found = {}
    for place in range(about.num_columns):
        pieces = [group.column(place).statistics for group in groups]
        if pieces and all(one is not None and one.has_null_count for one in pieces):
            # A group in which every value is missing has no smallest one.
            ranges = [(one.min, one.max) for one in pieces if one.has_min_max]
            found[groups[0].column(place).path_in_schema] = Told(
                sum(one.null_count for one in pieces),
                _finite(min, [low for low, _ in ranges]),
                _finite(max, [high for _, high in ranges]),
            )
    return found


def together(pieces: Sequence[Told]) -> Told:
    """Return what several files say of a column as one; nothing of its ends where one of them does not."""
    ends = [(one.min, one.max) for one in pieces]
    low, high = _finite(min, [one for one, _ in ends]), _finite(max, [one for _, one in ends])
    return Told(sum(one.missing for one in pieces), low, high)


def _finite(of: Callable[[Iterable[float]], float], values: Sequence[object]) -> float | None:
    numbers = [float(one) for one in values if isinstance(one, int | float)]
    found = of(numbers) if numbers and len(numbers) == len(values) else math.nan
    return found if math.isfinite(found) else None
