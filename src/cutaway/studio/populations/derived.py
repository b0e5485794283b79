"""Columns that an evaluation's files do not have: what analyses found about each sample, and what people decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.errors import OverlayError
from cutaway.run.analyses import KeptTable
from cutaway.run.decisions import decisions_stamp, read_decisions
from cutaway.run.evaluated import EvaluatedPopulation
from cutaway.run.evaluated.glimpse import glimpse_of

__all__ = [
    "CLUSTER",
    "DECISION",
    "NAMES",
    "PROBABILITY",
    "SUGGESTED",
    "SUSPICION",
    "column",
    "is_there",
    "some_values",
    "stamp",
]

CLUSTER, SUSPICION, SUGGESTED, PROBABILITY, DECISION = "cluster", "suspicion", "suggested", "probability", "decision"
_MISLABELED, _CLUSTERS = "mislabeled", "clusters"
_OF_MISLABELED = {SUSPICION: "score", SUGGESTED: "suggested"}


class AnalysedSamples(Protocol):
    """What these columns are made from: samples, their files, and what analyses kept of them."""

    @property
    def population(self) -> EvaluatedPopulation:
        """The samples in their files."""

    @property
    def ids(self) -> pa.Array:
        """The ids of the samples, in the order of the rows."""

    def __len__(self) -> int: ...

    def kept(self, kind: str) -> KeptTable | None:
        """Return what was kept of an analysis."""

    def kept_stamp(self, kind: str) -> object:
        """Return what changes when another result of an analysis is kept."""

    def rows_of(self, samples: Sequence[str]) -> dict[str, int]:
        """Return the rows of some samples by their ids."""


class _DerivedColumn(NamedTuple):
    """How a column is told to be there, to have changed, and is made."""

    is_there: Callable[[AnalysedSamples], bool]
    stamp: Callable[[AnalysedSamples], object]
    make: Callable[[AnalysedSamples], pa.ChunkedArray]


def is_there(loaded: AnalysedSamples, name: str) -> bool:
    """Whether a column can be had."""
    return _COLUMNS[name].is_there(loaded)


def stamp(loaded: AnalysedSamples, name: str) -> object:
    """Return what changes when a column has to be made anew."""
    return _COLUMNS[name].stamp(loaded)


def column(loaded: AnalysedSamples, name: str) -> pa.ChunkedArray:
    """Return a column that is there."""
    return _COLUMNS[name].make(loaded)


def some_values(loaded: AnalysedSamples, name: str) -> pa.ChunkedArray:
    """Return values by which a column of very many samples can be described: not all of them, nor in their order."""
    held = loaded.kept(_MISLABELED) if name in _OF_MISLABELED else None
    if held is not None:
        return held.table[_OF_MISLABELED[name]]
    if name == PROBABILITY:
        return _likeliest(loaded, glimpse_of(loaded.population))
    return column(loaded, name)


def _cluster(loaded: AnalysedSamples) -> pa.ChunkedArray:
    """The cluster of each sample, -1 where it belongs to none."""
    held = loaded.kept(_CLUSTERS)
    if held is None:
        return pa.chunked_array([pa.nulls(len(loaded), pa.int64())])
    return held.table["cluster"].fill_null(-1)


def _from_mislabeled(name: str) -> Callable[[AnalysedSamples], pa.ChunkedArray]:
    def make(loaded: AnalysedSamples) -> pa.ChunkedArray:
        held = loaded.kept(_MISLABELED)
        if held is None:
            return pa.chunked_array([pa.nulls(len(loaded))])
        rows = pc.index_in(loaded.ids, value_set=held.table["sample"])
        return pa.chunked_array([held.table[name].combine_chunks().take(rows)])

    return make


def _has_probabilities(loaded: AnalysedSamples) -> bool:
    return loaded.population.answer.score_column in loaded.population.file_columns and bool(
        loaded.population.answer.classes
    )


def _probability(loaded: AnalysedSamples) -> pa.ChunkedArray:
    """The probability of the class that was predicted; missing where there are too many classes to read them."""
    return _likeliest(loaded, loaded.population)


def _likeliest(loaded: AnalysedSamples, population: EvaluatedPopulation) -> pa.ChunkedArray:
    likely = population.probabilities(len(loaded))
    if likely is None or not likely.size:
        return pa.chunked_array([pa.nulls(len(loaded), pa.float32())])
    return pa.chunked_array([pa.array(likely.max(axis=1).astype(np.float32))])


def _decision_stamp(loaded: AnalysedSamples) -> object:
    return decisions_stamp(loaded.population.evaluation.run)


def _decision(loaded: AnalysedSamples) -> pa.ChunkedArray:
    try:
        decided = read_decisions(loaded.population.evaluation.run).words()
    except OverlayError:
        return pa.chunked_array([pa.nulls(len(loaded), pa.string())])
    said = np.full(len(loaded), None, object)
    for sample, row in loaded.rows_of(list(decided)).items():
        said[row] = decided[sample]
    return pa.chunked_array([pa.array(said, pa.string())])


def _where_kept(kind: str) -> tuple[Callable[[AnalysedSamples], bool], Callable[[AnalysedSamples], object]]:
    return lambda loaded: loaded.kept(kind) is not None, lambda loaded: loaded.kept_stamp(kind)


_COLUMNS: dict[str, _DerivedColumn] = {
    CLUSTER: _DerivedColumn(*_where_kept(_CLUSTERS), _cluster),
    SUSPICION: _DerivedColumn(*_where_kept(_MISLABELED), _from_mislabeled(_OF_MISLABELED[SUSPICION])),
    SUGGESTED: _DerivedColumn(*_where_kept(_MISLABELED), _from_mislabeled(_OF_MISLABELED[SUGGESTED])),
    PROBABILITY: _DerivedColumn(_has_probabilities, lambda _: 0, _probability),
    DECISION: _DerivedColumn(lambda loaded: _decision_stamp(loaded) is not None, _decision_stamp, _decision),
}
NAMES = tuple(_COLUMNS)
