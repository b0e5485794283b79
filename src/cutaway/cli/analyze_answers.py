"""The answers of `cutaway analyze`: each question of the command as words, tables and figures. Prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from cutaway.analysis import Figure, Population
from cutaway.analysis.clusters import cluster_table, membership_table, trait_table
from cutaway.analysis.heat_maps.sanity import sanity_words
from cutaway.analysis.heat_maps.values import HeatMap
from cutaway.analysis.population import plotting as plots
from cutaway.analysis.population.whole import analyze as analyze_all
from cutaway.analysis.population.whole import figures_of_part
from cutaway.cli.answering import Answer, Asked
from cutaway.cli.candidate_answers import CANDIDATES
from cutaway.errors import ConfigurationError
from cutaway.evaluation.progress import Listener

__all__ = ["answers"]


def answers(population: Population, asked: Asked, progress: Listener | None = None) -> Iterator[Answer]:
    """Yield the answers to what was asked."""
    chosen = population.where(*asked.where) if asked.where and asked.what != "similar" else population
    if asked.what is None:
        yield from _everything(chosen, asked, progress)
        return
    yield _QUESTIONS[asked.what](chosen, asked, progress)


def _everything(population: Population, asked: Asked, progress: Listener | None) -> Iterator[Answer]:
    for part in analyze_all(population, seed=asked.seed, progress=progress):
        figures = figures_of_part(population, part, seed=asked.seed)
        yield Answer(part.analysis, part.analysis, part.words, part.tables, figures, part.notes, reason=part.reason)


def _map(population: Population, asked: Asked, progress: Listener | None) -> Answer:
    if asked.balance_by and asked.count is None:
        raise ConfigurationError("`--balance-by` needs `--count`, the number of samples to choose.")
    if asked.count is not None:
        population = population.balanced(list(asked.balance_by), asked.count, seed=asked.seed)
    made = population.make_map(asked.method or "umap", seed=asked.seed, device=asked.device, progress=progress)
    trust = "" if made.trustworthiness is None else f", trustworthiness {made.trustworthiness:.4f}"
    x, y = made.positions.T
    table = pa.table({"sample": population.ids, "x": x, "y": y})

    def draw() -> Figure:
        return plots.plot_map(population, made.positions, color=asked.color, size=asked.size)

    return Answer(
        "map",
        f"map by {made.method}",
        (f"{len(population):,} samples{trust}",),
        {"map": table},
        {"map": draw},
        made.notes,
        shown="map",
    )


def _similar(population: Population, asked: Asked, progress: Listener | None) -> Answer:
    ways = [bool(asked.samples), asked.region is not None, asked.input_file is not None]
    if sum(ways) != 1:
        raise ConfigurationError("`similar` needs one of `--sample`, `--region` and `--input` to be similar to.")
    if asked.input_file is not None:
        found = population.similar_to_input(_array(asked.input_file), asked.k, where=asked.where)
        ids, query = [], Path(asked.input_file).name
    else:
        ids = list(asked.samples) or population.in_region(_corners(str(asked.region)), seed=asked.seed).ids
        if not ids:
            raise ConfigurationError(f"No sample lies in the region {asked.region!r} of the map.")
        found = population.find_similar(ids if len(ids) > 1 else ids[0], asked.k, where=asked.where, progress=progress)
        query = ids[0] if len(ids) == 1 else f"{len(ids):,} samples"
    counts = ", ".join(f"{count} x {name}" for name, count in found.counts.items())
    alike = ", ".join(f"{one['unit']} ({one['share']:.0%})" for one in found.units.slice(0, 3).to_pylist())
    said = (f"labels among them: {counts}" if counts else "", f"most alike in units {alike}" if alike else "")
    words = tuple(line for line in said if line)
    tables = {"similar": found.table, "units": found.units}
    figures = {"similar": lambda: plots.plot_similar(population, ids, found, f"Similar to {query}")}
    return Answer(
        "similar", f"{found.table.num_rows} nearest to {query}", words, tables, figures, found.notes, shown="similar"
    )


def _heat_maps(population: Population, asked: Asked, progress: Listener | None) -> Answer:
    if not asked.samples:
        raise ConfigurationError("`heatmap` needs `--sample`, the id of a sample.")
    found = {
        sample: population.heat_maps(
            sample,
            asked.method,
            target=list(asked.targets) or None,
            layer=list(asked.layers) or None,
            loss=asked.loss,
            baseline=asked.baseline,
            sanity=asked.sanity,
            seed=asked.seed,
            progress=progress,
        )
        for sample in asked.samples
    }
    words = [f"{sample}: {_said(population, one)}" for sample, maps in found.items() for one in maps]
    notes = dict.fromkeys(note for maps in found.values() for one in maps for note in one.notes)
    figures = {
        sample: lambda sample=sample, maps=maps: plots.plot_heat_maps(population, sample, maps)
        for sample, maps in found.items()
    }
    return Answer(
        "heatmap", "heat maps", tuple(words), {"heatmap": _map_table(population, found)}, figures, tuple(notes)
    )


def _said(population: Population, one: HeatMap) -> str:
    about = "loss" if one.loss is not None else f"class {_class(population, one)}"
    by = f" by {one.layer}" if one.layer else ""
    trust = "" if one.sanity is None else f" {sanity_words(one.sanity)}"
    complete = "" if one.completeness is None else f" Completeness error {one.completeness:.2%}."
    score = f"score {one.score:.4g}" if np.isfinite(one.score) else "whose score is not finite"
    return f"{one.method}{by} of {about}, {score}.{complete}{trust}"


def _class(population: Population, one: HeatMap) -> str:
    classes = population.samples.classes
    if one.target is None:
        return "as a whole"
    return classes[one.target] if one.target < len(classes) else str(one.target)


def _map_table(population: Population, found: Mapping[str, tuple[HeatMap, ...]]) -> pa.Table:
    rows = []
    for sample, maps in found.items():
        for one in maps:
            sanity = one.sanity
            rows.append(
                {
                    "sample": sample,
                    "method": one.method,
                    "class": _class(population, one) if one.loss is None else None,
                    "loss": one.loss,
                    "layer": one.layer,
                    "score": one.score,
                    "completeness": one.completeness,
                    "deletion": None if sanity is None else sanity.deletion,
                    "best_random": None if sanity is None else min(sanity.random, default=None),
                    "magnitude": None if sanity is None else sanity.magnitude,
                    "random_weights": None if sanity is None else sanity.random_weights,
                    "better_than_random": None if sanity is None else sanity.better_than_random,
                }
            )
    return pa.Table.from_pylist(rows)


def _clusters(population: Population, asked: Asked, progress: Listener | None) -> Answer:
    method = asked.method or "hdbscan"
    found = population.clusters(method, count=asked.count, seed=asked.seed, progress=progress)
    described = population.describe(found)
    words = [f"cluster {one.cluster}: {one.words}" for one in described]
    tables = {
        "clusters": membership_table(found, population.ids),
        "words": cluster_table(found, described),
        "traits": trait_table(described),
    }
    figures = {"clusters": lambda: plots.plot_clusters(population, found, seed=asked.seed)}
    return Answer("clusters", f"{len(found)} clusters by {found.method}", tuple(words), tables, figures, found.notes)


def _distances(population: Population, asked: Asked, _: Listener | None) -> Answer:
    found = population.distances()
    rows = [population.row(one) for one in asked.samples]
    words = [f"{population.ids[row]}: {found.in_words(row)}" for row in rows] or [found.said]
    figures = {population.ids[row]: lambda row=row: plots.plot_distances(population, found, row) for row in rows}
    return Answer(
        "distances",
        "distances to the classes",
        tuple(words),
        {"distances": found.table},
        figures,
        found.notes,
    )


def _units(population: Population, asked: Asked, progress: Listener | None) -> Answer:
    if asked.samples:
        of = [population.units_of(one, top=asked.top) for one in asked.samples]
        table = pa.concat_tables(
            [one.table.append_column("sample", pa.array([one.sample] * one.table.num_rows)) for one in of]
        )
        words = tuple(f"{one.sample}: {one.words()}" for one in of)
        return Answer("units", "units behind the answer", words, {"units": table}, notes=of[0].notes, shown="units")
    found = population.units(top=asked.top, progress=progress)
    tables = {"units": found.units, "drivers": found.drivers, "classes": found.classes}
    figures = {"units": lambda: plots.plot_units(population, found)}
    return Answer("units", "units", (found.words(),), tables, figures, found.notes, shown="units")


def _curve(population: Population, asked: Asked, _: Listener | None) -> Answer:
    if asked.x is None:
        columns = [name for name in population.table.column_names if name.startswith("metadata.")]
        raise ConfigurationError(f"`curve` needs `--x`, a column such as {', '.join(columns[:5]) or 'label'}.")
    found = population.curve(asked.x, asked.y or "loss", bins=asked.bins, by=asked.by)
    figures = {"curve": lambda: plots.plot_curve(found)}
    title = f"{found.y} against {found.x}"
    return Answer("curve", title, (found.words(),), {"curve": found.table}, figures, found.notes, shown="curve")


def _confusion(population: Population, asked: Asked, _: Listener | None) -> Answer:
    found = population.confusion(by=asked.by)
    words = [found.words(), *(f"{name}: {one.words()}" for name, one in found.parts.items())]
    tables = {"confusion": found.pairs, "most_confused": found.most_confused(), "classes": found.by_class}
    figures = {"confusion": lambda: plots.plot_confusion(found)}
    return Answer("confusion", "confusion", tuple(words), tables, figures, found.notes, shown="most_confused")


def _batches(population: Population, _: Asked, __: Listener | None) -> Answer:
    found = population.batches()
    figures = {"batches": lambda: plots.plot_batches(found)}
    return Answer(
        "batches", "loss and accuracy against batches", (found.words(),), {"batches": found.table}, figures, found.notes
    )


def _array(file: str) -> np.ndarray:
    try:
        return np.asarray(np.load(file, allow_pickle=False))
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"Cannot read {file!r} as an array: {error}.", hint="Save it with `numpy.save`.", path=file
        ) from error


def _corners(text: str) -> np.ndarray:
    try:
        numbers = [float(one) for one in text.replace(";", ",").split(",")]
    except ValueError:
        numbers = []
    if len(numbers) < 4 or len(numbers) % 2:
        raise ConfigurationError(f"`--region` is x,y,x,y for a box, or more corners for a polygon, but got {text!r}.")
    return np.array(numbers).reshape(-1, 2)


_QUESTIONS: dict[str, Callable[[Population, Asked, Listener | None], Answer]] = {
    "map": _map,
    "similar": _similar,
    "heatmap": _heat_maps,
    "clusters": _clusters,
    "distances": _distances,
    "units": _units,
    "curve": _curve,
    "confusion": _confusion,
    "batches": _batches,
    **CANDIDATES,
}
