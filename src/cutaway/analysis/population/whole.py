"""Everything that applies to a population, part by part. What was kept in the run is read, so a rerun goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from cutaway.analysis.population.applicability import analyses
from cutaway.analysis.population.contract import Analysis, AnalysisResult, Draw
from cutaway.analysis.population.population import Population
from cutaway.analysis.samples.origin import Origin
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.progress import Listener

__all__ = ["AnalysisResult", "analyze", "figures_of_part"]


def analyze(
    population: Population, *, only: str | None = None, seed: int = 0, progress: Listener | None = None
) -> Iterator[AnalysisResult]:
    """Yield every analysis of a population as it is done, or one alone; those that do not apply with the reason."""
    for analysis in analyses():
        name = analysis.name
        if analysis.of_single_samples or only not in (None, name):
            continue
        reason = analysis.why_not(population.samples, population.origin)
        if reason:
            yield AnalysisResult(name, reason=reason)
            continue
        try:
            yield _kept_or_made(population, analysis, seed, progress)
        except AnalysisUnavailable as error:
            yield AnalysisResult(name, reason=error.reason.removesuffix("."))


def _kept_or_made(population: Population, analysis: Analysis, seed: int, progress: Listener | None) -> AnalysisResult:
    origin = population.keeping
    if origin is None or analysis.kept_by_population:
        return analysis.make(population, seed, progress)
    kind = analysis.name.replace(" ", "_")
    settings = analysis.settings(population, seed, progress)
    part = _kept(origin, analysis, kind, settings)
    if part is not None:
        return part
    part = analysis.make(population, seed, progress)
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


def figures_of_part(population: Population, part: AnalysisResult, *, seed: int = 0) -> dict[str, Draw]:
    """Return what can be drawn of one part, by name; nothing of a part that does not apply."""
    made = next((one for one in analyses() if one.name == part.analysis), None)
    return {} if part.reason or made is None else made.figures(population, part, seed)
