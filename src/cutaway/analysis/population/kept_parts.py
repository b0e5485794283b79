"""Parts that a run keeps: read where they were made of the same samples with the same settings, made where not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

from cutaway.analysis.population.names import file_name
from cutaway.analysis.population.result import AnalysisResult
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.population.contract import Analysis
    from cutaway.analysis.population.population import Population
    from cutaway.analysis.samples.origin import Origin

__all__ = ["kept_or_made"]


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
