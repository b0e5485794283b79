"""Answers of `cutaway analyze` about what to fix: candidates, insights, and two models side by side."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.analysis import Figure, Population
from cutaway.analysis.population import plotting as plots
from cutaway.analysis.population.candidates import RANKED
from cutaway.analysis.samples.ranked import Ranked
from cutaway.cli.answering import Answer, Asked
from cutaway.errors import AnalysisUnavailable, ConfigurationError
from cutaway.evaluation.progress import Listener

__all__ = ["CANDIDATES"]

Question = Callable[[Population, Asked, Listener | None], Answer]


def _ranked(question: str) -> Question:
    def answer(population: Population, asked: Asked, progress: Listener | None) -> Answer:
        found = population.ranked(question, seed=asked.seed, progress=progress)
        return _answer(population, question, question, found)

    return answer


def _to_label(population: Population, asked: Asked, progress: Listener | None) -> Answer:
    count = 100 if asked.count is None else asked.count
    method = asked.method or "mix"
    found = population.choose_to_label(count, method=method, seed=asked.seed, progress=progress)
    words, notes = found.words, found.notes
    try:
        estimate = population.estimate()
    except AnalysisUnavailable as error:
        notes = (*notes, str(error))
    else:
        words, notes = (*words, estimate.words), (*notes, *estimate.notes)
    return _answer(population, "to-label", f"to label, by {method}", Ranked(found.table, words, notes))


def _insights(population: Population, asked: Asked, progress: Listener | None) -> Answer:
    found = population.ranked_insights(seed=asked.seed, progress=progress)
    words: list[str] = []
    for row in found.table.to_pylist():
        # What to do about it stands below, so that a list of insights is a list of things to do.
        words += [row["reason"], f"  {row['action']} {row['buys']}".rstrip()]
    told = tuple(words) or ("Nothing is systematically wrong, as far as these samples tell.",)
    return Answer("insights", "insights", told, {"insights": found.table}, {}, found.notes)


def _compare(population: Population, asked: Asked, progress: Listener | None) -> Answer:
    if asked.other is None:
        raise ConfigurationError("`compare` needs `--with`, another run or a model file.")
    found = population.comparison(asked.other, seed=asked.seed, progress=progress)
    tables = {"compare": found.table, "slices": found.slices}
    if found.regions is not None:
        tables["regions"] = found.regions

    def draw() -> Figure:
        rows = [population.row(one) for one in found.table["sample"].to_pylist()]
        return plots.plot_map(population, population.map(seed=asked.seed), title="Where they differ", rows=rows)

    return Answer(
        "compare", f"compared with {asked.other}", found.words, tables, {"map": draw}, found.notes, shown="compare"
    )


def _answer(population: Population, name: str, title: str, found: Ranked) -> Answer:
    return Answer(
        name,
        title,
        found.words,
        {name: found.table},
        {name: lambda: plots.plot_ranked(population, title, found)},
        found.notes,
        shown=name,
    )


CANDIDATES: dict[str, Question] = {
    **{question: _ranked(question) for question in RANKED},
    "to-label": _to_label,
    "insights": _insights,
    "compare": _compare,
}
