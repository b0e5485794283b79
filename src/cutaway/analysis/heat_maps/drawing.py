"""Draws a heat map over its sample, through the binding's own heat-map visualizer where there is one.

A heat-map visualizer takes what its visualizer takes, with the map in the place of the explained input, and maps it
through the same geometry: a crop, a flip, a choice of words. What fails in somebody's function costs its picture only;
the map is then drawn over the sample's own numbers, and a note says why.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from cutaway.analysis.heat_maps.drawing_overlay import (
    DrawnMap,
    default_picture,
    ends_of,
    finite,
    joined,
    spread_over,
)
from cutaway.analysis.heat_maps.values import HeatMap
from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.dataset.calling import Failed, call_theirs
from cutaway.dataset.enums import LeapDataType
from cutaway.dataset.functions import Visualizer
from cutaway.dataset.visualizer_classes import LeapImageWithHeatmap, LeapText
from cutaway.evaluation.reopening import Sample
from cutaway.evaluation.scoring import Values
from cutaway.evaluation.wiring import Wiring

__all__ = ["DrawnMap", "drawn_map"]

_RAW_INPUTS = "RawInputsForHeatmap"
# The first of these shows best where the model looked.
_KINDS = (
    LeapDataType.Image,
    LeapDataType.Text,
    LeapDataType.Graph,
    LeapDataType.ImageMask,
    LeapDataType.ImageWithBBox,
    LeapDataType.ImageWithHeatmap,
    LeapDataType.TextMask,
)


def drawn_map(dataset: Dataset, wiring: Wiring, sample: Sample, one: HeatMap) -> DrawnMap:
    """Return a heat map over its sample: by a visualizer of the binding that shows the input, else by default."""
    encoder = wiring.inputs[one.input].encoder
    notes: list[str] = []
    for visualizer in _fitting(dataset, wiring, encoder):
        try:
            drawn = _call_of(visualizer, dataset, wiring, sample, encoder).drawn(one)
        except Failed as failure:
            notes.append(f"{failure.place}: visualizer {visualizer.name!r}: {failure.reason}")
            continue
        if drawn is not None:
            return DrawnMap(drawn.visual, drawn.ends, drawn.heat, (*drawn.notes, *notes))
    field = next(each for each in dataset.inputs if each.name == encoder)
    drawn = default_picture(field, sample.inputs[encoder], one)
    return DrawnMap(drawn.visual, drawn.ends, drawn.heat, (*drawn.notes, *notes))


def _fitting(dataset: Dataset, wiring: Wiring, encoder: str) -> list[Visualizer]:
    """The visualizers that show an input and need no prediction; those with a heat-map function first."""
    source = f"input.{encoder}"
    found = []
    for one in dataset.visualizers:
        sources = wiring.functions.get(f"visualizer.{one.name}", {}).values()
        predicted = any(each.startswith("prediction.") for each in sources)
        if source in sources and not predicted and one.visualizer_type in _KINDS:
            found.append(one)
    return sorted(found, key=lambda one: (one.heatmap is None, _KINDS.index(one.visualizer_type)))


@dataclass(frozen=True)
class _Call:
    """One visualizer and what it is given of one sample; the map takes the place of the argument `explained`."""

    visualizer: Visualizer
    arguments: Mapping[str, Any]
    explained: str
    inputs: Mapping[str, Array]

    def drawn(self, one: HeatMap) -> DrawnMap | None:
        """Return the map as the visualizer shows it; None where its picture has other places than the map."""
        visual = call_theirs(partial(self.visualizer.function, **self.arguments))
        sample = self.arguments[self.explained]
        if self.visualizer.heatmap is None:
            return joined(visual, finite(one.values), one, sample)
        returned = self._mapped(self.visualizer.heatmap, spread_over(sample, one))
        if isinstance(returned, LeapText | LeapImageWithHeatmap):
            return DrawnMap(returned, ends_of(one))
        return joined(visual, call_theirs(partial(np.asarray, returned, np.float32)), one, sample)

    def _mapped(self, function: Callable[..., Any], heat: Array) -> Any:
        """Call a heat-map function: the map in the place of the input, and all inputs where it asks for them."""
        raw = {
            name: dict(self.inputs)
            for name, parameter in inspect.signature(function).parameters.items()
            if _RAW_INPUTS in str(parameter.annotation)
        }
        return call_theirs(partial(function, **{**self.arguments, self.explained: heat, **raw}))


def _call_of(visualizer: Visualizer, dataset: Dataset, wiring: Wiring, sample: Sample, encoder: str) -> _Call:
    wired = wiring.functions[f"visualizer.{visualizer.name}"]
    arrays = {
        **{f"input.{name}": values for name, values in sample.inputs.items()},
        **{f"ground_truth.{name}": values for name, values in sample.ground_truths.items()},
    }
    missing = sorted(set(wired.values()) - arrays.keys())
    if missing:
        raise Failed(f"the sample has no {', '.join(missing)}.", visualizer.place)
    arguments: dict[str, Any] = {name: arrays[source] for name, source in wired.items()}
    if visualizer.injected is not None:
        values = Values({}, dataset.subsets[sample.subset], [sample.index])
        arguments[visualizer.injected] = call_theirs(values.samples)
    explained = next(name for name, source in wired.items() if source == f"input.{encoder}")
    return _Call(visualizer, arguments, explained, sample.inputs)
