"""Where a model looked in a sample, as values: the maps, how far to trust them, and what else can be asked for."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cutaway.analysis.heat_maps.choosing import IN_TURN
from cutaway.analysis.heat_maps.drawing import drawn_map
from cutaway.analysis.heat_maps.making import heat_map, layers_with_places
from cutaway.analysis.heat_maps.methods import METHODS, method_for
from cutaway.analysis.heat_maps.places import chosen_input, input_axes, named_arrays
from cutaway.analysis.heat_maps.values import HeatMap, Sanity
from cutaway.analysis.population.population import Population
from cutaway.arrays import Array
from cutaway.dataset.rendering.typed import array_data
from cutaway.errors import AnalysisUnavailable, CutawayError
from cutaway.evaluation.progress import Listener
from cutaway.evaluation.reopening import Reopened, Sample
from cutaway.models import Model
from cutaway.studio.workers.questions.visuals import data_row

__all__ = ["first_map", "map_value", "model_choices", "sample_heat_maps"]


def sample_heat_maps(
    population: Population, reopened: Reopened, sample: Sample, arguments: Mapping[str, Any], progress: Listener
) -> dict[str, Any]:
    """Return the maps that were asked for, a row each."""
    began = time.monotonic()
    classes = population.origin.answer.classes if population.origin is not None else ()
    maps = population.heat_maps(
        sample.id,
        arguments.get("method") or None,
        target=list(arguments.get("targets") or ()) or None,
        layer=list(arguments.get("layers") or ()) or None,
        loss=bool(arguments.get("loss")),
        sanity=bool(arguments.get("sanity")),
        progress=progress,
    )
    rows = [map_value(one, classes, reopened, sample) for one in maps]
    return {"maps": rows, "classes": list(classes), "seconds": time.monotonic() - began}


def map_value(one: HeatMap, classes: Sequence[str], reopened: Reopened, sample: Sample) -> dict[str, Any]:
    """Return a map as a row, drawn over its sample as well: by the binding's own visualizers where they show it."""
    notes = list(one.notes)
    visual = data_row("heat map", lambda: _drawn(reopened, sample, one, notes))
    target = None
    if one.target is not None:
        target = classes[one.target] if one.target < len(classes) else str(one.target)
    return {
        "target": target,
        "layer": one.layer,
        "method": one.method,
        "input": one.input,
        "score": one.score,
        "signed": one.signed,
        "values": array_data(np.asarray(one.values, np.float32)),
        "visuals": [visual],
        "sanity": None if one.sanity is None else _sanity(one.sanity),
        "completeness": one.completeness,
        "notes": notes,
    }


def first_map(
    model: Model, batch: Mapping[str, Array], output: str, target: int | None, *, first: str | None = None
) -> tuple[HeatMap | None, list[str]]:
    """Return the map of one sample by the first method that suits the model; where none does, why.

    `first` is the one that was chosen for this model, if any was.
    """
    reasons: list[str] = []
    for method in dict.fromkeys([*([first] if first else ()), *IN_TURN]):
        try:
            (made,) = heat_map(model, dict(batch), method=method, target=target, output=output)
        except CutawayError as error:
            reasons.append(str(error))
            continue
        return made, []
    return None, reasons


def model_choices(model: Model, batch: Mapping[str, Array]) -> dict[str, Any]:
    """Return every method with why it does not apply, empty where it does, and the layers that one can go by."""
    arrays = named_arrays(model, batch)
    name = chosen_input(model, None)
    axes = input_axes(model, name, arrays[name])
    methods = {}
    for one in METHODS:
        methods[one] = ""
        try:
            method_for(model, axes, one)
        except AnalysisUnavailable as error:
            methods[one] = error.reason
    try:
        layers = layers_with_places(model, batch)
    except CutawayError:
        # A model that keeps no places apart has none; the methods that go by layers say so themselves.
        layers = ()
    if not layers:
        for one in ("grad_cam", "layer_cam"):
            methods[one] = methods[one] or "no layer of this model keeps the places of its input apart."
    return {"methods": methods, "layers": list(layers)}


def _drawn(reopened: Reopened, sample: Sample, one: HeatMap, notes: list[str]) -> Any:
    drawn = drawn_map(reopened.dataset, reopened.wiring, sample, one)
    notes += drawn.notes
    return drawn.visual


def _sanity(sanity: Sanity) -> dict[str, Any]:
    drawn = np.asarray(sanity.random, np.float64)
    return {
        "deletion": sanity.deletion,
        "random_best": float(drawn.min()) if drawn.size else None,
        "random_median": float(np.median(drawn)) if drawn.size else None,
        "magnitude": sanity.magnitude,
        "random_weights": sanity.random_weights,
        "verdict": sanity.verdict,
        "sentence": _sentence(sanity),
        "notes": list(sanity.notes),
    }


def _sentence(sanity: Sanity) -> str:
    """Say how far a map can be trusted, in words for people who never heard of the figures."""
    count = len(sanity.random)
    if sanity.verdict == "unknown":
        return "It cannot be told whether this map is better than a random one."
    if sanity.verdict == "worse":
        return f"Worse than random: taking away what any of {count} random maps points at lowers the score more."
    if sanity.verdict == "no different":
        as_good = sum(one <= sanity.deletion for one in sanity.random)
        return f"No different from random: {as_good} of {count} random maps do as well. Do not read much into it."
    said = f"Taking away what this map points at lowers the score more than any of {count} random maps."
    if sanity.random_weights is not None and sanity.random_weights <= sanity.deletion:
        return f"{said} But the same map of a model with random weights does as well: it may show the input alone."
    return said
