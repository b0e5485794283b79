"""Columns that an evaluation's files do not have: what analyses found about each sample, and what people decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.errors import OverlayError
from cutaway.run.decisions import decisions_stamp, read_decisions
from cutaway.run.evaluated import EvaluatedPopulation
from cutaway.run.evaluated.glimpse import glimpse_of

if TYPE_CHECKING:
    from cutaway.studio.populations.loaded import Loaded

__all__ = [
    "CLUSTER",
    "COLUMNS",
    "DECISION",
    "PROBABILITY",
    "SUGGESTED",
    "SUSPICION",
    "has_probabilities",
    "some_values",
]

CLUSTER, SUSPICION, SUGGESTED, PROBABILITY, DECISION = "cluster", "suspicion", "suggested", "probability", "decision"
_MISLABELED, _CLUSTERS = "mislabeled", "clusters"
_OF_MISLABELED = {SUSPICION: "score", SUGGESTED: "suggested"}


class DerivedColumn(NamedTuple):
    """How a column is told to be there, to have changed, and is made."""

    is_there: Callable[[Loaded], bool]
    stamp: Callable[[Loaded], object]
    make: Callable[[Loaded], pa.ChunkedArray]


def some_values(loaded: Loaded, name: str) -> pa.ChunkedArray:
    """Return values by which a column of very many samples can be described: not all of them, nor in their order."""
    held = loaded.kept(_MISLABELED) if name in _OF_MISLABELED else None
    if held is not None:
        return held.table[_OF_MISLABELED[name]]
    if name == PROBABILITY:
        return _likeliest(loaded, glimpse_of(loaded.population))
    return COLUMNS[name].make(loaded)


def _cluster(loaded: Loaded) -> pa.ChunkedArray:
    """The cluster of each sample, -1 where it belongs to none."""
    held = loaded.kept(_CLUSTERS)
    if held is None:
        return pa.chunked_array([pa.nulls(len(loaded), pa.int64())])
    return held.table["cluster"].fill_null(-1)


def _from_mislabeled(name: str) -> Callable[[Loaded], pa.ChunkedArray]:
    def make(loaded: Loaded) -> pa.ChunkedArray:
        held = loaded.kept(_MISLABELED)
        if held is None:
            return pa.chunked_array([pa.nulls(len(loaded))])
        rows = pc.index_in(loaded.ids, value_set=held.table["sample"])
        return pa.chunked_array([held.table[name].combine_chunks().take(rows)])

    return make


def has_probabilities(loaded: Loaded) -> bool:
    """Whether the evaluation kept how likely the model holds each class."""
    population = loaded.population
    return bool(population.answer.classes) and population.answer.score_column in population.file_columns


def _probability(loaded: Loaded) -> pa.ChunkedArray:
    """The probability of the class that was predicted; missing where there are too many classes to read them."""
    return _likeliest(loaded, loaded.population)


def _likeliest(loaded: Loaded, population: EvaluatedPopulation) -> pa.ChunkedArray:
    likely = population.probabilities(len(loaded))
    if likely is None or not likely.size:
        return pa.chunked_array([pa.nulls(len(loaded), pa.float32())])
    return pa.chunked_array([pa.array(likely.max(axis=1).astype(np.float32))])


def _decision_stamp(loaded: Loaded) -> object:
    return decisions_stamp(loaded.population.evaluation.run)


def _decision(loaded: Loaded) -> pa.ChunkedArray:
    try:
        decided = read_decisions(loaded.population.evaluation.run).words()
    except OverlayError:
        return pa.chunked_array([pa.nulls(len(loaded), pa.string())])
    said = np.full(len(loaded), None, object)
    for sample, row in loaded.rows_of(list(decided)).items():
        said[row] = decided[sample]
    return pa.chunked_array([pa.array(said, pa.string())])


def _where_kept(kind: str) -> tuple[Callable[[Loaded], bool], Callable[[Loaded], object]]:
    return lambda loaded: loaded.kept(kind) is not None, lambda loaded: loaded.kept_stamp(kind)


COLUMNS: dict[str, DerivedColumn] = {
    CLUSTER: DerivedColumn(*_where_kept(_CLUSTERS), _cluster),
    SUSPICION: DerivedColumn(*_where_kept(_MISLABELED), _from_mislabeled(_OF_MISLABELED[SUSPICION])),
    SUGGESTED: DerivedColumn(*_where_kept(_MISLABELED), _from_mislabeled(_OF_MISLABELED[SUGGESTED])),
    PROBABILITY: DerivedColumn(has_probabilities, lambda _: 0, _probability),
    DECISION: DerivedColumn(lambda loaded: _decision_stamp(loaded) is not None, _decision_stamp, _decision),
}
