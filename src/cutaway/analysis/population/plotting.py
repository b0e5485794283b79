"""Figures of a population: puts together what `figures` draws with the rows, names and previews of the samples."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.batches import BatchCurves
from cutaway.analysis.classes.confusion import ConfusionCounts
from cutaway.analysis.classes.distances import Distances
from cutaway.analysis.classes.thresholds import ThresholdCounts
from cutaway.analysis.clusters import Clusters
from cutaway.analysis.curves import Curve
from cutaway.analysis.figures import (
    Figure,
    Tile,
    batches_figure,
    confusion_figure,
    curve_figure,
    distances_figure,
    heat_map_figure,
    map_figure,
    ranked_figure,
    similar_figure,
    units_figure,
)
from cutaway.analysis.heat_maps.drawing import drawn_map
from cutaway.analysis.heat_maps.sanity import sanity_words
from cutaway.analysis.heat_maps.values import HeatMap
from cutaway.analysis.neighbours.similar import Similar
from cutaway.analysis.samples import LABEL, PREDICTION, SAMPLE, SUBSET
from cutaway.analysis.samples.ranked import Ranked
from cutaway.analysis.units import Units
from cutaway.arrays import Float32Array
from cutaway.errors import AnalysisUnavailable
from cutaway.evaluation.reopening import Reopened, Sample
from cutaway.run.identity import Run
from cutaway.run.sample_merging import preview_key

if TYPE_CHECKING:
    from cutaway.analysis.population.population import Population

__all__ = [
    "plot_batches",
    "plot_clusters",
    "plot_confusion",
    "plot_curve",
    "plot_distances",
    "plot_heat_maps",
    "plot_map",
    "plot_ranked",
    "plot_similar",
    "plot_threshold",
    "plot_units",
    "previews",
    "previews_of",
]

log = logging.getLogger("cutaway.analysis")

# No figure of ranked samples shows more.
MOST_PICTURES = 60


def plot_map(
    population: Population,
    positions: Float32Array,
    *,
    color: str | None = None,
    size: str | None = None,
    hover: Sequence[str] = (),
    title: str = "",
    rows: Sequence[int] | None = None,
) -> Figure:
    """Return the map of a population, with the previews of its run; samples other than those of `rows` are dimmed."""
    return map_figure(
        positions,
        population.table,
        color=color,
        size=size,
        hover=hover,
        previews=previews_of(population),
        title=title or _title(population),
        selected=None if rows is None else [population.ids[row] for row in rows],
        classes=population.samples.classes,
    )


def previews_of(population: Population, ids: Sequence[str] | None = None) -> dict[str, bytes]:
    """Return the previews of the samples, or of some, by id; empty where there is no run."""
    if population.origin is None:
        return {}
    run = population.origin.evaluation.run
    wanted = population.ids if ids is None else list(ids)
    found: dict[str, bytes] = {}
    for subset in population.table[SUBSET].unique().to_pylist():
        if not (run.path / preview_key(subset)).is_file():
            continue
        try:
            found |= {name: png for name, png in previews(run, subset, wanted) if isinstance(png, bytes)}
        except (OSError, ValueError, IndexError, pa.ArrowException) as error:
            # Damaged previews cost the pictures of a figure, never the figure.
            log.warning("The previews of %s cannot be read, so figures lack them: %s", subset, error)
    return found


def previews(run: Run, subset: str, ids: Collection[str] | None = None) -> Iterator[tuple[str, bytes | None]]:
    """Yield the id and the PNG of each sample, or of those of some ids; None where it could not be drawn."""
    wanted = None if ids is None else pa.array(ids, pa.string())
    with pa.memory_map(str(run.path / preview_key(subset))) as source:
        reader = pa.ipc.open_file(source)
        for i in range(reader.num_record_batches):
            batch = reader.get_batch(i)
            if wanted is not None:
                batch = batch.filter(pc.is_in(batch.column(0), wanted))
            yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)


def plot_similar(population: Population, queries: Sequence[str], found: Similar, title: str) -> Figure:
    """Return the samples that were asked for, and those that are similar, as pictures."""
    asked = population.table.filter(pc.is_in(population.table[SAMPLE], pa.array(queries, pa.string())))
    shown = previews_of(population, [*asked[SAMPLE].to_pylist(), *found.table[SAMPLE].to_pylist()])
    return similar_figure(asked, found.table, shown, title=title)


def plot_ranked(population: Population, title: str, found: Ranked) -> Figure:
    """Return ranked samples as pictures, beside the other sample where each row has one."""
    shown = [name for name in (SAMPLE, "other") if name in found.table.column_names]
    ids = dict.fromkeys(one for name in shown for one in found.table[name].slice(0, MOST_PICTURES).to_pylist())
    words = found.words[0] if found.words else ""
    return ranked_figure(found.table, previews_of(population, list(ids)), title=title, words=words)


def plot_clusters(population: Population, clusters: Clusters, *, seed: int = 0) -> Figure:
    """Return the map, coloured by cluster."""
    names = [f"cluster {one}" if one >= 0 else "none" for one in clusters.labels.tolist()]
    table = population.table.append_column("cluster", pa.array(names))
    return map_figure(
        population.map(seed=seed), table, color="cluster", previews=previews_of(population), title=_title(population)
    )


def plot_distances(population: Population, distances: Distances, row: int) -> Figure:
    """Return how far one sample lies from each class."""
    if distances.values is None:
        raise AnalysisUnavailable("figure of distances", f"{len(distances.classes):,} classes are too many to draw.")
    one = population.table.slice(row, 1).to_pylist()[0]
    preview = previews_of(population, [one[SAMPLE]]).get(one[SAMPLE])
    return distances_figure(
        distances.values[row],
        distances.classes,
        sample=one[SAMPLE],
        label=one.get(LABEL),
        prediction=one.get(PREDICTION),
        preview=preview,
        title=f"{one[SAMPLE]}: distance to each class",
    )


def plot_units(population: Population, units: Units) -> Figure:
    """Return what drives each unit most, as pictures."""
    shown = previews_of(population, list(dict.fromkeys(units.drivers[SAMPLE].to_pylist())))
    return units_figure(units.drivers, shown, classes=units.classes, title="Units", words=units.words())


def plot_curve(curve: Curve) -> Figure:
    """Return a metric along a column."""
    return curve_figure(
        curve.table, x=curve.x, y=curve.y, by=curve.by, title=f"{curve.y} against {curve.x}", words=curve.words()
    )


def plot_confusion(confusion: ConfusionCounts, title: str = "Confusion") -> Figure:
    """Return which classes are predicted as which."""
    return confusion_figure(confusion.pairs, confusion.classes, title=title, words=confusion.words())


def plot_threshold(counts: ThresholdCounts) -> Figure:
    """Return what a model decided at a threshold, over all labels: what holds against what it says."""
    return confusion_figure(
        counts.matrix(),
        ["holds", "does not"],
        title=f"{counts.metric} above {counts.threshold:g}",
        words=counts.words(),
        noun="decision",
    )


def plot_batches(batches: BatchCurves) -> Figure:
    """Return loss and accuracy along the batches of the training."""
    modes = batches.table["mode"].unique().to_pylist()
    mode = "TRAIN" if "TRAIN" in modes else modes[0]
    own = batches.of(mode)
    # The figure says `smoothed`, the table `smooth`.
    own = own.rename_columns([name.replace("_smooth", "_smoothed") for name in own.column_names])
    return batches_figure(own, title=f"{batches.run}: {mode} batches", words=batches.words())


def plot_heat_maps(population: Population, sample: str, maps: Sequence[HeatMap]) -> Figure:
    """Return the maps of one sample beside it, each with how far it is to be trusted."""
    from cutaway.analysis.population.asking_model import encoded_samples

    row = population.row(sample)
    origin = population.origin
    if origin is None:
        raise AnalysisUnavailable(
            "figure of heat maps", "these samples come from arrays, and there is no model to ask."
        )
    found = encoded_samples(origin, population.samples, [row])[0]
    reopened = origin.reopened()
    for each in maps:
        _refuse_strange(each, reopened, found)
    drawn = [drawn_map(reopened.dataset, reopened.wiring, found, one).png() for one in maps]
    one = population.table.slice(row, 1).to_pylist()[0]
    about = [f"{name} {one[name]}" for name in (LABEL, PREDICTION) if one.get(name) is not None]
    shown = previews_of(population, [sample]).get(sample)
    if maps and maps[0].values.ndim == 1:
        # A preview of a text or a series is too small to be read; beside its maps it is drawn as they are.
        plain = replace(maps[0], values=np.zeros_like(maps[0].values), attribution=None)
        shown = drawn_map(reopened.dataset, reopened.wiring, found, plain).png()
    first = Tile(shown, sample, tuple(about))
    tiles = [
        Tile(png, _map_title(population, each), _map_lines(each), "wrong" if _doubtful(each) else "")
        for png, each in zip(drawn, maps, strict=True)
    ]
    return heat_map_figure(first, tiles, title=f"Where the model looked: {sample}")


def _refuse_strange(one: HeatMap, reopened: Reopened, sample: Sample) -> None:
    """Refuse a map that cannot be one of this sample: a run that came from anybody may hold such."""
    wired = reopened.wiring.inputs.get(one.input)
    if wired is None:
        raise AnalysisUnavailable("figure of heat maps", f"the model has no input {one.input!r}.")
    places, shape = one.values.shape, sample.inputs[wired.encoder].shape
    if len(places) > len(shape) or one.values.size > max(math.prod(shape), 1):
        raise AnalysisUnavailable("figure of heat maps", f"the map has places {places}, but the sample {shape}.")


def _map_title(population: Population, one: HeatMap) -> str:
    classes = population.samples.classes
    if one.loss is not None:
        about = "loss"
    elif one.target is None:
        about = "whole output"
    else:
        about = classes[one.target] if one.target < len(classes) else str(one.target)
    return f"{about}, {one.method}" + (f" by {one.layer}" if one.layer else "")


def _map_lines(one: HeatMap) -> tuple[str, ...]:
    trust = () if one.sanity is None else (sanity_words(one.sanity),)
    score = f"score {one.score:.4g}" if math.isfinite(one.score) else "The score is not finite."
    return (score, *trust)


def _doubtful(one: HeatMap) -> bool:
    return one.sanity is not None and not one.sanity.better_than_random


def _title(population: Population) -> str:
    counts = population.table[SUBSET].value_counts().to_pylist()
    listed = ", ".join(f"{one['counts']:,} {one['values']}" for one in counts)
    where = "" if population.origin is None else f"{population.origin.evaluation.run.name}: "
    return f"{where}{listed}"
