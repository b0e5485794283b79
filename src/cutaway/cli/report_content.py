"""Gathers what a report tells from a run folder: facts, findings, analyses, pictures, tests, overlays. Prints nothing.

Whatever cannot be had costs its own section and is named with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from cutaway.analysis.population.result import AnalysisResult
from cutaway.analysis.report import Drawn, Fix, Head, ReportContent, ReportSeries, ReportTest, scores_of, small_figure
from cutaway.analysis.report.cards import Room
from cutaway.analysis.report.sections import shown_as
from cutaway.cli.run_facts import Facts, show_facts
from cutaway.cli.words import damage_in_words
from cutaway.errors import CutawayError
from cutaway.run.findings import Finding
from cutaway.run.layout import TESTS_FILE
from cutaway.run.overlays import overlays
from cutaway.run.slice_tests import read_tests
from cutaway.run.sources import BindingSource, ModelSource, Source

if TYPE_CHECKING:
    from cutaway.analysis import Figure, Population
    from cutaway.evaluation.progress import Listener
    from cutaway.run import Run

__all__ = ["gather"]

FIGURE_SIZE = (1000, 620)


@dataclass
class _Samples:
    """What is known of the samples of an evaluation, as far as it could be read."""

    content: dict[str, Any] = field(default_factory=dict)
    missing: list[tuple[str, str]] = field(default_factory=list)


def gather(
    run: Run, *, evaluation: int | None = None, seed: int = 0, progress: Listener | None = None
) -> ReportContent:
    """Return all that a report of a run may tell. Analyses that the run keeps are read, the others are made."""
    samples = _samples(run, evaluation, seed, progress)
    # After the analyses: they record what they find.
    facts = show_facts(run)
    return ReportContent(
        head=_head(facts, samples.content.pop("source", Source()), samples.content.pop("number", None)),
        findings=[Finding(**one) for one in facts["findings"]],
        series=[
            ReportSeries(one["name"], one["mode"], one["series"], one["first"], one["last"], one["step"])
            for one in facts["scalars"]
            if one["series"]
        ],
        fixes=_fixes(run),
        damage=[
            *(damage_in_words(one) for one in facts["damage"]),
            *(one["unreadable"] for one in facts["evaluations"] if "unreadable" in one),
        ],
        missing=samples.missing,
        limits=_limits(facts),
        **samples.content,
    )


def _samples(run: Run, evaluation: int | None, seed: int, progress: Listener | None) -> _Samples:
    from cutaway.analysis import Population

    found = _Samples()
    try:
        population = Population.open(run, evaluation=evaluation, progress=progress)
    except CutawayError as error:
        if evaluation is not None:
            # It was asked for by its number.
            raise
        found.missing.append(("samples", str(error)))
        return found
    with population:
        _fill(found, population, run, seed, progress)
    return found


def _fill(found: _Samples, population: Population, run: Run, seed: int, progress: Listener | None) -> None:
    from cutaway.analysis.population.plotting import previews_of
    from cutaway.analysis.population.whole import analyze

    origin = population.origin
    if origin is not None:
        found.content |= {"source": origin.evaluation.source, "number": origin.evaluation.number}
    parts: list[AnalysisResult] = []
    try:
        found.content["scores"] = scores_of(population.samples)
        for part in analyze(population, seed=seed, progress=progress):
            parts.append(part)  # noqa: PERF402 - what was made before an error stays
    except CutawayError as error:
        found.missing.append(("further analyses", str(error)))
    found.content["parts"] = parts
    found.content["figures"] = [drawn for part in parts for drawn in _figures(population, part, seed)]
    found.content["previews"] = previews_of(population, list(_pictured(parts)))
    tests, reason = _tests(population, run)
    found.content["tests"] = tests
    if reason:
        found.missing.append(("tests on slices", reason))


def _figures(population: Population, part: AnalysisResult, seed: int) -> list[Drawn]:
    from cutaway.analysis.population.whole import figures_of_part

    # Of parts that have a figure for each subset or column, the first ones are drawn.
    most = shown_as(part.analysis).figures
    if not most:
        return []
    each = figures_of_part(population, part, seed=seed)
    # The map of all samples together says more than that of one subset.
    wanted = ["joint"] if "joint" in each else list(each)[:most]
    drawn = []
    for name in wanted:
        try:
            drawn.append(_drawn(part.analysis, each[name]()))
        except CutawayError as error:
            drawn.append(Drawn(part.analysis, name, "", reason=str(error)))
    return drawn


def _drawn(part: str, figure: Figure) -> Drawn:
    # The page has title and caption as texts, which can be read aloud and follow the reader's letter size.
    wide, high = FIGURE_SIZE
    png = replace(figure, title="", caption="").png(width=wide, height=high)
    return Drawn(part, figure.title, figure.caption, small_figure(png))


def _pictured(parts: Iterable[AnalysisResult]) -> dict[str, None]:
    """Return the ids of the samples that a report may show, in the order of the sections."""
    ids: dict[str, None] = {}
    for part in parts:
        if not shown_as(part.analysis).cards or not part.tables:
            continue
        table = next(iter(part.tables.values())).slice(0, Room().cards)
        for column in ("sample", "other"):
            if column in table.column_names:
                ids |= dict.fromkeys(str(one) for one in table[column].to_pylist() if one)
    return ids


def _tests(population: Population, run: Run) -> tuple[Sequence[ReportTest], str]:
    from cutaway.analysis.slice_tests import parse_test, run_tests

    try:
        written = read_tests(run.path / TESTS_FILE)
        tests = [parse_test(one.line, one.name) for one in written]
        done = run_tests(population.samples, tests)
    except CutawayError as error:
        return (), str(error)
    return [ReportTest(one.test.title, str(one.verdict), one.reason) for one in done], ""


def _fixes(run: Run) -> list[Fix]:
    found = []
    for one in overlays(run):
        counts = ", ".join(f"{count:,} of the {name}" for name, count in one.counts.items())
        rows = [(each.sample, f"{each.field}: {each.old} → {each.new}", each.reason) for each in one.corrections]
        found.append(Fix(one.name, f"Corrections: {counts or 'none'}. Digest {one.digest[:12]}.", rows))
    return found


def _head(facts: Facts, source: Source, number: int | None) -> Head:
    from cutaway.trial.summary import flatten

    trained = facts.get("kind") != "evaluation"
    created = str(facts.get("created", "")).replace("T", " ").replace("+00:00", " UTC")
    steps, attempts = facts["steps"], facts["attempts"]
    pairs = [
        ("created", created),
        ("model", _model(source.model)),
        ("data", _data(source.binding)),
        ("evaluation", "" if number is None else f"{number}{_epoch(source)}"),
        ("steps", f"{steps['recorded']:,}" if trained else ""),
        ("attempts", f"{len(attempts)}" if len(attempts) > 1 else ""),
        ("commit", str(facts.get("git") or "")[:12]),
        ("evaluated with", _versions(source.versions)),
        ("trained with", _versions(facts.get("versions", {})) if trained else ""),
    ]
    health = facts["health"]
    return Head(
        facts["name"],
        state=facts["state"] if trained else "evaluation",
        facts=[(name, value) for name, value in pairs if value],
        config={name: value for name, value in flatten(facts["config"]).items() if value is not None},
        health=health["sentence"] if trained else "",
        verdict=health["verdict"],
        errors=health["errors"],
        warnings=health["warnings"],
    )


def _model(about: ModelSource) -> str:
    # Of a file only its name: a report that is mailed tells nothing of the folders of whoever made it.
    size = "" if about.parameters is None else f"{about.parameters:,} parameters"
    return ", ".join(one for one in (PurePath(about.file).name, about.format, size) if one)


def _data(about: BindingSource) -> str:
    name = PurePath(about.entry_file or about.path or "").name
    total = sum(about.samples.values())
    size = f"{total:,} samples" if total else ""
    return ", ".join(one for one in (name or about.kind, size) if one)


def _versions(versions: Mapping[str, Any]) -> str:
    return " · ".join(f"{name} {version}" for name, version in list(versions.items())[:3])


def _epoch(source: Source) -> str:
    return "" if source.epoch is None else f", epoch {source.epoch}"


def _limits(facts: Facts) -> list[str]:
    """Return what was not recorded, or not all of it."""
    found = []
    if facts["steps"]["thinned"]:
        found.append(f"{facts['steps']['thinned']:,} steps were thinned out and are not in the numbers of the training")
    for one in facts["evaluations"]:
        failed = sum(subset["failed"] for subset in one["subsets"].values())
        if failed:
            found.append(f"{failed:,} samples of evaluation {one['evaluation']} failed, and no analysis knows them")
    return found
