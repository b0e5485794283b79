"""Answers that a run keeps: read where they were made of the same samples with the same settings, made where not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

import pyarrow as pa

from cutaway.analysis.population.names import file_name
from cutaway.analysis.population.result import AnalysisResult
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.contract import Analysis
    from cutaway.analysis.population.population import Population
    from cutaway.analysis.samples.origin import Origin

__all__ = ["kept_or_made", "kept_ranked"]


def kept_or_made(population: Population, analysis: Analysis, seed: int, progress: Listener | None) -> AnalysisResult:
    """Return a part from the run that keeps it, or make it and let the run keep it."""
    origin = population.keeping
    if origin is None or analysis.kept_by_population:
        return analysis.make(population, seed, progress)
    kind = file_name(analysis.name)
    settings = analysis.settings(population, seed, progress)
    part = _kept(origin, analysis, kind, settings)
    if part is not None:
        return part
    part = analysis.make(population, seed, progress)
    if part.tables:
        main, *rest = part.tables
        for table in rest:
            origin.keep(f"{kind}_{table}", settings, part.tables[table])
        # Last, since it says that the others are there.
        origin.keep(kind, settings, part.tables[main], part.notes, words=list(part.words), tables=rest)
    return part


def kept_ranked(
    origin: Origin | None,
    analysis: Analysis,
    settings: Mapping[str, Any],
    samples: Samples,
    make: Callable[[], Ranked],
) -> Ranked:
    """Return the ranked table that a run keeps of an analysis; where it keeps nothing of the same, make and keep it."""
    if origin is None:
        return make()
    kind = file_name(analysis.name)
    held = origin.kept(kind, settings)
    if held is not None and analysis.is_own(held.table, pa.array(samples.ids, pa.string()), samples.classes):
        words, notes = (held.about.get(one) for one in ("words", "notes"))
        if _are_words(words) and _are_words(notes):
            return Ranked(held.table, tuple(words), tuple(notes))
    made = make()
    origin.keep(kind, settings, made.table, made.notes, words=list(made.words))
    return made


def _kept(origin: Origin, analysis: Analysis, kind: str, settings: Mapping[str, Any]) -> AnalysisResult | None:
    """Return a part that was kept whole; None where something of it is missing, or is not as it was written."""
    held = origin.kept(kind, settings)
    if held is None:
        return None
    words, notes, rest = (held.about.get(one) for one in ("words", "notes", "tables"))
    if not (_are_words(words) and _are_words(notes) and _are_words(rest)):
        return None
    tables = {analysis.name: held.table}
    for table in rest:
        other = origin.kept(f"{kind}_{table}", settings) if table in analysis.further else None
        if other is None:
            return None
        tables[table] = other.table
    return AnalysisResult(analysis.name, tuple(words), tables, tuple(notes))


def _are_words(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
