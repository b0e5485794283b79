"""`Population`: the samples of a run, or of arrays, and every question that can be asked about them.

A thin front: each method finds the rows that are meant and calls the function that does the work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cutaway.analysis.batches import BatchCurves, batch_curves
from cutaway.analysis.classes.confusion import ConfusionCounts, confusion
from cutaway.analysis.classes.distances import Distances, population_distances
from cutaway.analysis.classes.thresholds import THRESHOLD, ThresholdCounts, threshold_counts
from cutaway.analysis.clusters import Clusters, ClusterWords, describe_clusters, find_clusters
from cutaway.analysis.curves import Curve, curve
from cutaway.analysis.filters import Filter, parse_filter, refuse_unknown_values, rows_where
from cutaway.analysis.mapping import Map, place
from cutaway.analysis.neighbours import Index
from cutaway.analysis.neighbours.similar import Similar, find_similar, rows_in_region
from cutaway.analysis.population.applicability import Applies, no_class_distances, what_applies
from cutaway.analysis.population.candidates import Candidates
from cutaway.analysis.population.index import population_index
from cutaway.analysis.population.map import population_map
from cutaway.analysis.samples import LABEL, PREDICTION, SUBSET, Samples
from cutaway.analysis.samples.balancing import balanced_rows
from cutaway.analysis.samples.coding import coded
from cutaway.analysis.samples.dynamics import Dynamics
from cutaway.analysis.samples.from_run import read_samples
from cutaway.analysis.samples.held_out import rows_of_subsets, subsets_with
from cutaway.analysis.samples.origin import Given, Origin, open_origin
from cutaway.analysis.units import SampleUnits, Units, unit_table, units_of_sample
from cutaway.arrays import Array, BoolArray, Float32Array, IndexArray
from cutaway.errors import AnalysisUnavailable, ConfigurationError, did_you_mean
from cutaway.evaluation.progress import Listener

if TYPE_CHECKING:
    from cutaway.analysis.figures import Figure
    from cutaway.analysis.heat_maps.values import HeatMap
    from cutaway.dataset import Dataset
    from cutaway.models import Limits
    from cutaway.run import Run

__all__ = ["Population"]

One = str | int
Condition = str | Filter


class Population(Candidates):
    """Samples with their latent vectors: of an evaluation (`Population.open`), or of arrays (`from_arrays`).

    Samples are named by their id or their row. What does not apply to these samples raises `AnalysisUnavailable` with
    the reason; `applies()` lists all of it beforehand. What a run's population computes is kept in the run.
    """

    def __init__(self, samples: Samples, origin: Origin | None = None, *, part: bool = False) -> None:
        self.samples = samples
        self._origin = origin
        self._part = part
        self._maps: dict[tuple[Any, ...], Map] = {}
        self._index: Index | None = None
        self._rows: dict[str, int] | None = None

    def __len__(self) -> int:
        return len(self.samples)

    def __repr__(self) -> str:
        where = "arrays" if self._origin is None else repr(self._origin.evaluation)
        return f"Population({len(self):,} samples of {where}, {self.samples.latents.shape[1]} latent units)"

    @classmethod
    def from_arrays(
        cls,
        latents: Array,
        labels: Sequence[Any] | Array | None = None,
        probabilities: Array | None = None,
        columns: Mapping[str, Sequence[Any]] | pa.Table | None = None,
        dynamics: Dynamics | None = None,
    ) -> Self:
        """Return the population of arrays, without a run.

        `latents` has a row for each sample. `labels` are names, or numbers of the columns of `probabilities`, from
        which predictions and losses follow. `columns` are further facts to describe, filter and colour by; `sample`
        among them gives ids (row numbers otherwise) and `subset` the subset. `dynamics` is what a training saw of each.

        >>> Population.from_arrays(np.zeros((3, 2)), labels=["cat", "dog", "cat"])
        Population(3 samples of arrays, 2 latent units)
        """
        return cls(replace(Samples.from_arrays(latents, labels, probabilities, columns), dynamics=dynamics))

    @classmethod
    def open(
        cls,
        run: Run | str | Path,
        *,
        evaluation: int | None = None,
        subsets: Sequence[str] | None = None,
        space: str | None = None,
        layers: Sequence[str] = (),
        prediction: str | None = None,
        dataset: Dataset | None = None,
        model: Any = None,
        trust: bool = False,
        limits: Limits | None = None,
        progress: Listener | None = None,
    ) -> Self:
        """Return the population of an evaluation of a run: by default of its last one, all subsets together.

        `space` names one of its latent spaces; `layers` makes one of the named layers, pooled and joined, by one more
        pass of the model. `prediction` chooses among several outputs. `dataset` and `model` are needed again where
        questions go to the model and the run's files do not bring them back.
        """
        origin = open_origin(
            run,
            number=evaluation,
            subsets=subsets,
            space=space,
            layers=layers,
            prediction=prediction,
            given=Given(dataset, model, trust, limits),
            progress=progress,
        )
        return cls(read_samples(origin), origin)

    def close(self) -> None:
        """End the process of the model, where one was opened; it can be asked again all the same."""
        if self._origin is not None:
            self._origin.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def table(self) -> pa.Table:
        """The samples in rows: `sample`, `subset`, `label`, `prediction`, `correct`, `loss`, metadata, metrics."""
        return self.samples.table

    @property
    def ids(self) -> list[str]:
        """The ids of the samples, in the order of the rows."""
        return self.samples.ids

    @property
    def origin(self) -> Origin | None:
        """The evaluation that this comes from; None for arrays."""
        return self._origin

    def row(self, sample: One) -> int:
        """Return the row of a sample that is named by its id, or by its row."""
        if isinstance(sample, int | np.integer):
            if not -len(self) <= sample < len(self):
                raise ConfigurationError(f"There are {len(self):,} samples, so there is no row {sample}.")
            return int(sample) % len(self)
        if self._rows is None:
            self._rows = {name: row for row, name in enumerate(self.ids)}
        if sample not in self._rows:
            near = did_you_mean(sample, self.ids[:10_000])
            raise ConfigurationError(
                f"There is no sample {sample!r} here.", hint=f"{near} The first is {self.ids[:1]}."
            )
        return self._rows[sample]

    def where(self, *conditions: Condition) -> Self:
        """Return the samples for which all conditions hold, such as `"label = 4"` or `"loss > 1.5"`.

        Raises where a condition asks a column of texts for values that no sample of the whole population has.
        """
        return self._of(self._mask(conditions))

    def judged_by(self, column: str) -> Self:
        """Return the samples that tell how good the model is by a column such as `correct`: held-out ones.

        Those of training are left out wherever a held-out subset has any value of the column.
        """
        subsets = self.samples.column(SUBSET)
        known = np.asarray(self.samples.column(column).is_valid().to_numpy(), np.bool_)
        return self._of(rows_of_subsets(subsets, subsets_with(subsets, known))) if known.any() else self

    def balanced(self, by: str | Sequence[str], count: int, *, seed: int = 0, fill: bool = True) -> Self:
        """Return at most `count` samples, as many of each value of the columns `by` as there are to be had."""
        columns = [by] if isinstance(by, str) else list(by)
        return self._of(balanced_rows(self.table, columns, count, seed=seed, fill=fill))

    def applies(self) -> list[Applies]:
        """Return every analysis, whether it applies to these samples, and where it does not, why."""
        return what_applies(self.samples, self._origin)

    def make_map(
        self,
        method: str = "umap",
        *,
        seed: int = 0,
        neighbours: int = 15,
        align: bool = True,
        device: str | None = None,
        progress: Listener | None = None,
    ) -> Map:
        """Return a map with what is known of it: positions, trustworthiness, notes. `method`: umap, tsne or pca."""
        asked = (method, seed, neighbours, align, device)
        if asked not in self._maps:
            self._maps[asked] = population_map(
                self.samples,
                self.keeping,
                method=method,
                seed=seed,
                neighbours=neighbours,
                device=device,
                progress=progress,
                align=align,
            )
        return self._maps[asked]

    def map(self, method: str = "umap", *, seed: int = 0, progress: Listener | None = None) -> Float32Array:
        """Return the samples in two dimensions, a row each, NaN for those without a usable latent vector."""
        return self.make_map(method, seed=seed, progress=progress).positions

    def place(self, latents: Array, *, seed: int = 0) -> Float32Array:
        """Return where new samples lie on the map, without changing it."""
        return place(np.asarray(latents, np.float32), self.samples.latents, self.map(seed=seed))

    def index(self, progress: Listener | None = None) -> Index:
        """Return the index of nearest neighbours; exact up to 200,000 samples."""
        if self._index is None:
            self._index = population_index(self.samples, self.keeping, progress)
        return self._index

    def find_similar(
        self,
        sample: One | Sequence[One] | Array,
        k: int = 20,
        *,
        where: Sequence[Condition] = (),
        progress: Listener | None = None,
    ) -> Similar:
        """Return the samples nearest to one, to several, or to a latent vector, with what makes them similar."""
        query = self._query(sample)
        among = self._mask(where) if where else None
        return find_similar(self.samples, self.index(progress), query, k, among=among)

    def similar(self, sample: One | Sequence[One] | Array, k: int = 20, *, where: Sequence[Condition] = ()) -> pa.Table:
        """Return the samples nearest to one (by id or row), to several, or to a latent vector: sample, distance, ..."""
        return self.find_similar(sample, k, where=where).table

    def similar_to_input(
        self, inputs: Array | Mapping[str, Array], k: int = 20, *, where: Sequence[Condition] = ()
    ) -> Similar:
        """Return the samples nearest to a new input: one sample as the encoders give it, without a batch axis."""
        from cutaway.analysis.population.asking_model import latent_of_input

        origin = self._asked("similar samples of an input")
        return self.find_similar(latent_of_input(origin, inputs), k, where=where)

    def in_region(self, region: Array, *, method: str = "umap", seed: int = 0) -> Self:
        """Return the samples in a region of the map: a box (two corners) or a polygon (three corners or more)."""
        return self._of(rows_in_region(self.map(method, seed=seed), np.asarray(region)))

    def clusters(
        self, method: str = "hdbscan", *, count: int | None = None, seed: int = 0, progress: Listener | None = None
    ) -> Clusters:
        """Return clusters: `hdbscan` on the map, which leaves out what belongs to none, or `kmeans` on the latents."""
        positions = self.map(seed=seed, progress=progress) if method == "hdbscan" else None
        return find_clusters(
            self.samples.latents, method=method, positions=positions, count=count, seed=seed, progress=progress
        )

    def describe(self, clusters: Clusters) -> tuple[ClusterWords, ...]:
        """Return what distinguishes each cluster, in words and figures."""
        return describe_clusters(clusters, self.samples)

    def class_distances(self) -> pa.Table:
        """Return the distance of each sample to the centre of each class, a column for each class.

        The centres are those of the training samples where there are some. `distances()` also says them in words.
        """
        return self.distances().table

    def distances(self) -> Distances:
        """Return the distances to the classes with what they say about single samples and about errors."""
        reason = no_class_distances(self.samples, self._origin)
        if reason:
            raise AnalysisUnavailable("class distances", f"{reason}.")
        return population_distances(self.samples)

    def units(self, *, top: int = 10, progress: Listener | None = None) -> Units:
        """Return the feature view: for each latent unit what drives it most and which classes it serves."""
        return unit_table(self.samples, top=top, progress=progress)

    def units_of(self, sample: One, *, top: int = 10) -> SampleUnits:
        """Return the latent units behind the answer for a sample; by gradient where the model can be asked."""
        from cutaway.analysis.population.asking_model import latent_gradient

        row = self.row(sample)
        if self._origin is None:
            return units_of_sample(self.samples, row, top=top)
        gradient, why = latent_gradient(self._origin, self.samples, row)
        found = units_of_sample(self.samples, row, gradient=gradient, top=top)
        if gradient is not None:
            return found
        return replace(found, notes=(*found.notes, f"These are the most unusual values, not those behind: {why}"))

    def curve(self, x: str, y: str = "loss", *, bins: int = 10, by: str | None = None) -> Curve:
        """Return a metric, or the loss, against a column: means with counts and intervals."""
        return curve(self.samples, x, y, bins=bins, by=by)

    def confusion(self, *, by: str | None = None, subsets: Sequence[str] | None = None) -> ConfusionCounts:
        """Return which classes are predicted as which, where asked also for each value of column `by`.

        Held-out samples count, and training only where nothing is held out; `subsets` are those that count together
        instead. Split by `subset`, each has its own part.
        """
        return confusion(self.samples, by=by, subsets=subsets)

    def threshold_confusion(
        self,
        metric: str | None = None,
        threshold: float = THRESHOLD,
        *,
        by: str | None = None,
        subsets: Sequence[str] | None = None,
    ) -> ThresholdCounts:
        """Return how often the model is right about each label at a threshold, by a metric of confusion elements.

        Only where the evaluation has such a metric: `ConfusionMatrixClassification`, or one of your own. `metric` names
        it where there are several. The samples that count are those of `confusion`.
        """
        origin = self._origin
        known = () if origin is None else origin.confusion_metrics
        if origin is None or not known:
            raise AnalysisUnavailable(
                "confusion matrix at a threshold",
                "this evaluation has no metric of confusion elements.",
                hint="Evaluate with `metrics=['ConfusionMatrixClassification']`, or bind a metric of your own.",
            )
        name = known[0] if metric is None else metric.removeprefix("metric.")
        elements = origin.elements(name)
        if self._part:
            # Of some rows: which of them each element belongs to.
            rows = pc.index_in(origin.ids(), value_set=pa.array(self.ids, pa.string()))
            own = rows.fill_null(-1).to_numpy()[elements.rows].astype(np.int64)
            elements = elements._replace(rows=own).of(own >= 0)
        split = None if by is None else coded(by, self.samples.column(by))
        belongs = self.samples.column(SUBSET)
        return threshold_counts(name, elements, belongs, threshold, subsets=subsets, by=by, split=split)

    def batches(self) -> BatchCurves:
        """Return loss and accuracy against batches, from the trace of the run."""
        if self._origin is None:
            raise AnalysisUnavailable("batch curves", "these samples come from arrays, not from a run with a training.")
        return batch_curves(self._origin.evaluation.run)

    def heat_maps(
        self,
        sample: One,
        method: str | None = None,
        *,
        target: int | str | Sequence[int | str] | None = None,
        layer: str | Sequence[str] | None = None,
        loss: bool = False,
        baseline: str | float | None = None,
        sanity: bool = True,
        seed: int = 0,
        progress: Listener | None = None,
    ) -> tuple[HeatMap, ...]:
        """Return where the model looked in a sample, one map for each target and layer.

        `target` is a class, by name or number, or several; the predicted one by default. `layer` is one, or several,
        for methods that go by one. `loss=True` asks what raises and lowers the loss instead. `baseline` is what a place
        holds when it is taken away: "zero", "mean", "blur" or a number. Without a `method` the one whose maps of a few
        samples do best on this model is taken. `sanity=False` leaves out the figures that say how far to trust a map,
        which cost some hundred predictions. The run keeps the maps.
        """
        from cutaway.analysis.population.asking_heat_maps import HeatMapRequest, heat_maps_of

        asked = HeatMapRequest(method, _several(target), _several(layer), loss, sanity, seed, baseline)
        return heat_maps_of(self._asked("heat maps"), self.samples, [self.row(sample)], asked, progress)[0]

    def plot(
        self,
        *,
        color: str | None = None,
        size: str | None = None,
        hover: Sequence[str] = (),
        method: str = "umap",
        seed: int = 0,
        title: str = "",
        selected: Sequence[One] | None = None,
    ) -> Figure:
        """Return the map as a figure: `.save("map.png")`, `.save("map.html")`, or shown by a notebook.

        By default colour is the label and size the loss, where there are such columns.
        """
        from cutaway.analysis.population.plotting import plot_map

        chosen = None if selected is None else [self.row(one) for one in selected]
        positions = self.map(method, seed=seed)
        return plot_map(self, positions, color=color, size=size, hover=hover, title=title, rows=chosen)

    def by_subset(self) -> dict[str, Population]:
        """Return the population of each subset alone."""
        if self._origin is None or self._part:
            names = list(dict.fromkeys(self.samples.column(SUBSET).to_pylist()))
            subset = np.array(self.samples.column(SUBSET).to_pylist(), object)
            return {name: self._of(subset == name) for name in names}
        found = {}
        for name in self._origin.subsets:
            origin = replace(self._origin, subsets=(name,))
            found[name] = type(self)(read_samples(origin), origin)
        return found

    @property
    def keeping(self) -> Origin | None:
        """Where results are kept; None for arrays, and for some rows of a run, whose files are about whole subsets."""
        return None if self._part else self._origin

    def _of(self, rows: IndexArray | BoolArray) -> Self:
        return type(self)(self.samples.take(rows), self._origin, part=True)

    def _mask(self, conditions: Sequence[Condition]) -> BoolArray:
        filters = [one if isinstance(one, Filter) else parse_filter(one) for one in conditions]
        table = self.table
        if any(one.column == "cluster" for one in filters) and "cluster" not in table.column_names:
            table = table.append_column("cluster", pa.array(self.clusters().labels))
        if not self._part:
            # Some samples of a population may well lack a value that others have.
            refuse_unknown_values(table, filters, dict.fromkeys((LABEL, PREDICTION), self.samples.classes))
        return rows_where(table, filters)

    def _query(self, sample: One | Sequence[One] | Array) -> Any:
        if isinstance(sample, str | int | np.integer):
            return self.row(sample)
        if isinstance(sample, np.ndarray) and sample.dtype.kind == "f":
            return sample.astype(np.float32)
        return np.array([self.row(one) for one in sample], np.intp)

    def _asked(self, what: str) -> Origin:
        if self._origin is None:
            raise AnalysisUnavailable(what, "these samples come from arrays, and there is no model to ask.")
        return self._origin


def _several(asked: Any) -> tuple[Any, ...]:
    return tuple(asked) if isinstance(asked, list | tuple) else (asked,)
