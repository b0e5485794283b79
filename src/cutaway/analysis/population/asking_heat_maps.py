"""Heat maps of samples of a run: names classes and loss, lets the methods run, adds sanity figures, keeps the maps."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from cutaway.analysis.heat_maps.choosing import MethodChoice
from cutaway.analysis.heat_maps.kept import read_heat_maps, write_heat_maps
from cutaway.analysis.heat_maps.making import heat_map
from cutaway.analysis.heat_maps.sanity import check_sanity
from cutaway.analysis.heat_maps.values import HeatMap
from cutaway.analysis.population.asking_model import encoded_samples, loss_and_labels, output_of
from cutaway.analysis.population.heat_map_choice import choice_of
from cutaway.analysis.samples import SUBSET, Samples
from cutaway.analysis.samples.origin import Origin
from cutaway.arrays import Array
from cutaway.errors import AnalysisUnavailable, ConfigurationError, GradientUnavailable, did_you_mean
from cutaway.evaluation.progress import Listener
from cutaway.evaluation.reopening import Sample
from cutaway.models import Model

__all__ = ["HeatMapRequest", "heat_maps_of"]

# Counted up when the same question is answered otherwise, so that what an older version kept is made anew.
VERSION = 4
# By a layer these are tried where nobody names a method.
BY_LAYER = ("grad_cam", "input_gradient")


@dataclass(frozen=True)
class HeatMapRequest:
    """What is asked about a sample: one map for each target and layer. None leaves the choice to the model."""

    method: str | None = None
    targets: tuple[int | str | None, ...] = (None,)
    layers: tuple[str | None, ...] = (None,)
    loss: bool = False
    sanity: bool = True
    seed: int = 0
    baseline: str | float | None = None


def heat_maps_of(
    origin: Origin, samples: Samples, rows: Sequence[int], asked: HeatMapRequest, progress: Listener | None = None
) -> list[tuple[HeatMap, ...]]:
    """Return the maps of each sample; those that were kept in the run at once."""
    keys = [_key(origin, samples.ids[row], asked) for row in rows]
    subsets = [str(samples.table[SUBSET][row].as_py()) for row in rows]
    found = [read_heat_maps(origin.evaluation, *one) for one in zip(subsets, keys, strict=True)]
    missing = [i for i, one in enumerate(found) if one is None]
    if missing:
        choice = None
        if asked.method is None and None in asked.layers:
            choice = choice_of(origin, samples, loss=asked.loss, baseline=asked.baseline, progress=progress)
        encoded = encoded_samples(origin, samples, [rows[i] for i in missing])
        question = _Question.of(origin, encoded, asked, choice, progress)
        for i, maps in zip(missing, question.answers(), strict=True):
            write_heat_maps(origin.evaluation, subsets[i], keys[i], maps)
            found[i] = maps
    return [one for one in found if one is not None]


@dataclass(frozen=True)
class _Question:
    """A request about samples that are encoded: what every map of it has in common."""

    origin: Origin
    model: Model
    batch: dict[str, Array]
    asked: HeatMapRequest
    choice: MethodChoice | None
    output: str
    loss: str | None
    labels: Array | None
    progress: Listener | None

    @classmethod
    def of(
        cls,
        origin: Origin,
        encoded: Sequence[Sample],
        asked: HeatMapRequest,
        choice: MethodChoice | None,
        progress: Listener | None,
    ) -> _Question:
        """Put together what is needed to ask about some samples."""
        reopened = origin.reopened()
        loss, labels = loss_and_labels(origin, encoded) if asked.loss else (None, None)
        output = output_of(origin, reopened)
        return cls(origin, reopened.model, reopened.batch(encoded), asked, choice, output, loss, labels, progress)

    def answers(self) -> list[tuple[HeatMap, ...]]:
        """Return the maps, sample by sample."""
        wanted = itertools.product(self.asked.targets, self.asked.layers)
        each = [self._one(None if target is None else _number(self.origin, target), layer) for target, layer in wanted]
        return list(zip(*each, strict=True))

    def _one(self, target: int | None, layer: str | None) -> tuple[HeatMap, ...]:
        maps = self._by_the_method(target, layer)
        if not self.asked.sanity:
            return maps
        # The same classes, whatever the model with random weights would predict.
        classes = None if maps[0].target is None else [one.target or 0 for one in maps]
        remake = partial(self._make, maps[0].method, classes, layer)
        figures = check_sanity(
            self.model,
            self.batch,
            maps,
            seed=self.asked.seed,
            baseline=self.asked.baseline,
            labels=self.labels,
            remake=remake,
            progress=self.progress,
        )
        return tuple(replace(one, sanity=figure) for one, figure in zip(maps, figures, strict=True))

    def _by_the_method(self, target: int | None, layer: str | None) -> tuple[HeatMap, ...]:
        if self.asked.method is not None:
            return self._make(self.asked.method, target, layer, self.model)
        if self.choice is not None and layer is None:
            maps = self._make(self.choice.method, target, None, self.model)
            return tuple(replace(one, notes=(*one.notes, self.choice.words)) for one in maps)
        reasons: list[str] = []
        for name in BY_LAYER:
            try:
                maps = self._make(name, target, layer, self.model)
            except (AnalysisUnavailable, GradientUnavailable) as error:
                reasons.append(str(error))
                continue
            note = " ".join([f"{name} was chosen.", *reasons])
            return tuple(replace(one, notes=(*one.notes, note)) for one in maps)
        raise AnalysisUnavailable("heat map", " ".join(reasons))

    def _make(
        self, method: str, target: int | list[int] | None, layer: str | None, model: Model
    ) -> tuple[HeatMap, ...]:
        return heat_map(
            model,
            self.batch,
            method=method,
            target=target,
            output=self.output,
            layer=layer,
            loss=self.loss,
            labels=self.labels,
            baseline=self.asked.baseline,
            seed=self.asked.seed,
            progress=self.progress,
        )


def _number(origin: Origin, target: int | str) -> int:
    if isinstance(target, int | np.integer):
        return int(target)
    classes = origin.answer.classes
    if target in classes:
        return classes.index(target)
    if target.isdigit() and not classes:
        return int(target)
    raise ConfigurationError(
        f"There is no class {target!r}.",
        hint=f"{did_you_mean(target, classes)} There are {', '.join(classes[:20]) or 'none'}.",
    )


def _key(origin: Origin, name: str, asked: HeatMapRequest) -> str:
    whole = repr((VERSION, origin.evaluation.source.key, origin.answer.prediction, name, asked))
    return hashlib.sha256(whole.encode()).hexdigest()
