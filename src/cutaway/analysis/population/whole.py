"""Everything that applies to a population, part by part. What was kept in the run is read, so a rerun goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cutaway.analysis.population.applicability import analyses, analysis_named
from cutaway.analysis.population.kept import kept_or_made
from cutaway.analysis.population.options import with_options
from cutaway.analysis.population.population import Population
from cutaway.analysis.population.result import AnalysisResult, Draw
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.progress import Listener

__all__ = ["analyze", "answer", "figures_of_part"]


def analyze(
    population: Population, *, only: str | None = None, seed: int = 0, progress: Listener | None = None
) -> Iterator[AnalysisResult]:
    """Yield every analysis of a population as it is done, or one alone; those that do not apply with the reason."""
    for analysis in analyses():
        name = analysis.name
        if only not in (None, name) or (analysis.asked_alone and (only is None or not analysis.prepares)):
            continue
        reason = analysis.why_not(population.samples, population.origin)
        if reason:
            yield AnalysisResult(name, reason=reason)
            continue
        try:
            yield kept_or_made(population, analysis, seed, progress)
        except AnalysisUnavailable as error:
            yield AnalysisResult(name, reason=error.reason.removesuffix("."))


def answer(
    population: Population,
    name: str,
    options: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
    progress: Listener | None = None,
) -> AnalysisResult:
    """Return the answer of one analysis to what it is asked with, options by their names, and its figures."""
    analysis = analysis_named(name)
    return analysis.answer(population, with_options(analysis.name, analysis.options, options or {}), seed, progress)


def figures_of_part(population: Population, part: AnalysisResult, *, seed: int = 0) -> dict[str, Draw]:
    """Return what can be drawn of one part, by name; nothing of a part that does not apply."""
    made = next((one for one in analyses() if one.name == part.analysis), None)
    return {} if part.reason or made is None else made.figures(population, part, seed)
