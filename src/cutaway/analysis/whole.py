"""Everything that applies to a population, part by part. What was kept in the run is read, so a rerun goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa

from cutaway.analysis.candidates import RANKED
from cutaway.analysis.clusters import cluster_table, membership_table, trait_table
from cutaway.analysis.curves import Curve
from cutaway.analysis.origin import Origin
from cutaway.analysis.population import Population
from cutaway.analysis.samples import LOSS, SUBSET
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.progress import Listener

__all__ = ["ANALYSES", "Part", "analyze"]

# Of clusters and curves, so many are put into words; the tables have all.
MOST_SAID = 8
# So many unlabelled samples are proposed where nobody says how many.
MOST_TO_LABEL = 100


@dataclass(frozen=True)
class Part:
    """One analysis: what it says in words, its tables by name, and where it does not apply, why."""

    analysis: str
    words: tuple[str, ...] = ()
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    reason: str = ""


def analyze(
    population: Population, *, only: str | None = None, seed: int = 0, progress: Listener | None = None
) -> Iterator[Part]:
    """Yield every analysis of a population as it is done, or one alone; those that do not apply with the reason."""
    for applies in population.applies():
        name = applies.analysis
        if name not in _PARTS or only not in (None, name):
            continue
        if not applies.applies:
            yield Part(name, reason=applies.reason)
            continue
        try:
            yield _kept_or_made(population, name, seed, progress)
        except AnalysisUnavailable as error:
            yield Part(name, reason=error.reason.removesuffix("."))


def _kept_or_made(population: Population, name: str, seed: int, progress: Listener | None) -> Part:
    origin = population.keeping
    make = _PARTS[name]
    if origin is None or name in _KEEP_THEMSELVES:
        return make(population, seed, progress)
    kind = name.replace(" ", "_")
    settings: dict[str, Any] = {"seed": seed}
    if name == "clusters":
        # They are clusters of the map, which is another one once there is an earlier map to align it to.
        settings["map"] = hashlib.sha256(population.map(seed=seed, progress=progress).tobytes()).hexdigest()
    part = _kept(origin, name, kind, settings)
    if part is not None:
        return part
    part = make(population, seed, progress)
    main, *rest = part.tables
    for table in rest:
        origin.keep(f"{kind}_{table}", settings, part.tables[table])
    # Last, since it says that the others are there.
    origin.keep(kind, settings, part.tables[main], part.notes, words=list(part.words), tables=rest)
    return part


def _kept(origin: Origin, name: str, kind: str, settings: Mapping[str, Any]) -> Part | None:
    """Return a part that was kept whole; None where something of it is missing, or is not as it was written."""
    held = origin.kept(kind, settings)
    if held is None:
        return None
    words, notes, rest = (held.about.get(one) for one in ("words", "notes", "tables"))
    if not (_are_words(words) and _are_words(notes) and _are_words(rest)):
        return None
    tables = {name: held.table}
    for table in rest:
        other = origin.kept(f"{kind}_{table}", settings) if table in _FURTHER.get(name, ()) else None
        if other is None:
            return None
        tables[table] = other.table
    return Part(name, tuple(words), tables, tuple(notes))


def _are_words(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _map(population: Population, seed: int, progress: Listener | None) -> Part:
    """The map of each subset, and of all together."""
    words: list[str] = []
    notes: list[str] = []
    tables: dict[str, pa.Table] = {}
    each = population.by_subset()
    for name, part in each.items() if len(each) == 1 else [*each.items(), ("joint", population)]:
        try:
            made = part.make_map(seed=seed, progress=progress)
        except AnalysisUnavailable as error:
            # A subset of which every sample failed costs the others nothing.
            notes.append(f"{name}: {error}")
            continue
        placed = int(np.isfinite(made.positions).all(axis=1).sum())
        trust = "" if made.trustworthiness is None else f", trustworthiness {made.trustworthiness:.4f}"
        words.append(f"{name}: {placed:,} samples{trust}")
        notes += [f"{name}: {note}" for note in made.notes]
        x, y = made.positions.T
        tables[name] = pa.table({"sample": part.ids, "x": x, "y": y})
    return Part("map", tuple(words), tables, tuple(notes))


def _clusters(population: Population, seed: int, progress: Listener | None) -> Part:
    found = population.clusters(seed=seed, progress=progress)
    described = population.describe(found)
    words = [f"{len(found)} clusters by {found.method}"]
    words += [f"cluster {one.cluster}: {one.words}" for one in described[:MOST_SAID]]
    if len(described) > MOST_SAID:
        words.append(f"and {len(described) - MOST_SAID} more in the table")
    tables = {
        "clusters": membership_table(found, population.ids),
        "words": cluster_table(found, described),
        "traits": trait_table(described),
    }
    return Part("clusters", tuple(words), tables, found.notes)


def _class_distances(population: Population, seed: int, progress: Listener | None) -> Part:  # noqa: ARG001 - as all parts
    found = population.distances()
    return Part("class distances", (found.said,) if found.said else (), {"class distances": found.table}, found.notes)


def _units(population: Population, seed: int, progress: Listener | None) -> Part:  # noqa: ARG001 - as all parts
    found = population.units(progress=progress)
    tables = {"units": found.units, "drivers": found.drivers, "classes": found.classes}
    return Part("units", (found.words(),), tables, found.notes)


def _curve(population: Population, seed: int, progress: Listener | None) -> Part:  # noqa: ARG001 - as all parts
    """The loss, or the first metric, against every metadata column; the strongest first."""
    columns = population.table.column_names
    y = LOSS if population.samples.has(LOSS) else next(one for one in columns if one.startswith("metric."))
    found: list[Curve] = []
    unsaid: list[AnalysisUnavailable] = []
    for x in columns:
        if not x.startswith("metadata."):
            continue
        try:
            found.append(population.curve(x, y))
        except AnalysisUnavailable as error:
            unsaid.append(error)
    if not found:
        reason = unsaid[0].reason if unsaid else f"there is no metadata to set the {y} against."
        raise AnalysisUnavailable("curve", reason)
    found.sort(key=lambda one: -abs(one.strength.value) if one.strength else 0.0)
    tables = {
        "curve": pa.concat_tables(
            [one.table.append_column("x", pa.array([one.x] * one.table.num_rows)) for one in found],
            promote_options="permissive",
        )
    }
    return Part("curve", tuple(one.words() for one in found[:MOST_SAID]), tables, tuple(map(str, unsaid)))


def _confusion(population: Population, seed: int, progress: Listener | None) -> Part:  # noqa: ARG001 - as all parts
    found = population.confusion(by=SUBSET)
    words = [f"{name}: {one.words()}" for name, one in found.parts.items()] or [found.words()]
    tables = {"confusion": found.pairs, "classes": found.by_class}
    return Part("confusion", tuple(words), tables, found.notes)


def _batches(population: Population, seed: int, progress: Listener | None) -> Part:  # noqa: ARG001 - as all parts
    found = population.batches()
    return Part("batches", (found.words(),), {"batches": found.table}, found.notes)


def _ranked(question: str) -> Callable[[Population, int, Listener | None], Part]:
    def make(population: Population, seed: int, progress: Listener | None) -> Part:
        found = population.ranked(question, seed=seed, progress=progress)
        return Part(question, found.words, {question: found.table}, found.notes)

    return make


def _to_label(population: Population, seed: int, progress: Listener | None) -> Part:
    found = population.choose_to_label(MOST_TO_LABEL, seed=seed, progress=progress)
    words, notes = list(found.words), list(found.notes)
    try:
        estimate = population.estimate()
    except AnalysisUnavailable as error:
        notes.append(str(error))
    else:
        words.append(estimate.words)
        notes += estimate.notes
    return Part("to label", tuple(words), {"to label": found.table}, tuple(notes))


def _insights(population: Population, seed: int, progress: Listener | None) -> Part:
    found = population.ranked_insights(seed=seed, progress=progress)
    words = list(found.words[:MOST_SAID])
    if len(found) > MOST_SAID:
        words.append(f"and {len(found) - MOST_SAID} more in the table")
    return Part("insights", tuple(words or ["nothing is systematically wrong"]), {"insights": found.table}, found.notes)


# The tables that a part has beside its own; what a file says about others is not followed.
_FURTHER = {"clusters": ("words", "traits"), "units": ("drivers", "classes"), "confusion": ("classes",)}
_PARTS: dict[str, Callable[[Population, int, Listener | None], Part]] = {
    "map": _map,
    "clusters": _clusters,
    "class distances": _class_distances,
    "units": _units,
    "curve": _curve,
    "confusion": _confusion,
    "batches": _batches,
    **{question: _ranked(question) for question in RANKED},
    "to label": _to_label,
    "insights": _insights,
}
ANALYSES = tuple(_PARTS)
"""The names of all analyses that `analyze` knows."""
# The population keeps these, whoever asks for them.
_KEEP_THEMSELVES = ("map", *RANKED, "insights")
