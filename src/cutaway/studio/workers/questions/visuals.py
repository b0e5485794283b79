"""A sample as the visualizers of its binding show it, or where it has none, as its inputs suggest.

Predictions are those that the evaluation kept, so that nothing has to be asked of a model. What fails in somebody's
visualizer costs its own picture only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.dataset.calling import Failed, call_theirs
from cutaway.dataset.default_visualizers import guess_visualizer
from cutaway.dataset.functions import Field, Visualizer
from cutaway.dataset.printed import captured_prints
from cutaway.dataset.results import wrong_visual
from cutaway.errors import BindingError, CutawayError
from cutaway.evaluation.arguments import Sources, wire_arguments
from cutaway.evaluation.reopening import Sample
from cutaway.evaluation.scoring import Values
from cutaway.run.evaluations import Evaluation
from cutaway.studio.workers.questions.bounding import MOST_BYTES, bounded_data

__all__ = ["data_row", "guessed_row", "sample_visuals"]

_MOST_VISUALS = 50


def sample_visuals(evaluation: Evaluation, dataset: Dataset, sample: Sample) -> list[dict[str, Any]]:
    """Return a row for each visualizer: its name, and what it returned as data, or why not."""
    sources = Sources.between(dataset, list(evaluation.source.predictions.values()))
    visualizers = [one for one in dataset.visualizers if not one.uncalled or _says_what_it_takes(one, sources)]
    if not visualizers:
        return [guessed_row(one, sample.inputs[one.name]) for one in dataset.inputs]
    arrays = _arrays(evaluation, sample)
    rows, room = [], MOST_BYTES
    for visualizer in visualizers[:_MOST_VISUALS]:
        row = data_row(visualizer.name, partial(_drawn, visualizer, dataset, sample, arrays, sources))
        room -= _size(row["data"])
        if room < 0:
            row = {**row, "data": {}, "error": "The visuals before it fill the answer already; it is left out."}
        rows.append(row)
    return rows


def data_row(name: str, draw: Callable[[], Any]) -> dict[str, Any]:
    """Return what a function of somebody's draws as a row, with what it printed, or why it failed."""
    data: dict[str, Any] = {}
    error = ""
    with captured_prints() as printed:
        try:
            data = bounded_data(call_theirs(draw))
        except Failed as failure:
            error = f"{failure.place}: {failure.reason}"
        except (CutawayError, ValueError, TypeError) as problem:
            # What it returned is no picture: arrays that do not fit each other, or too much of it.
            error = str(problem)
    return {"name": name, "type": str(data.pop("type", "")), "data": data, "printed": printed.text, "error": error}


def guessed_row(field: Field, values: Array) -> dict[str, Any]:
    """Return one sample of an input as what it seems to be is drawn."""
    return data_row(field.name, lambda: guess_visualizer(field, values).function(values))


def _says_what_it_takes(visualizer: Visualizer, sources: Sources) -> bool:
    """Whether the arguments of a visualizer that the integration test never calls say what it is given."""
    try:
        wire_arguments("visualizer", visualizer, sources)
    except BindingError:
        return False
    return True


def _drawn(visualizer: Visualizer, dataset: Dataset, sample: Sample, arrays: dict[str, Array], sources: Sources) -> Any:
    wired = wire_arguments("visualizer", visualizer, sources)
    missing = sorted(set(wired.values()) - arrays.keys())
    if missing:
        raise BindingError(f"The sample has no {', '.join(missing)}, which this visualizer takes.")
    arguments: dict[str, Any] = {name: arrays[source] for name, source in wired.items()}
    if visualizer.injected is not None:
        arguments[visualizer.injected] = Values({}, dataset.subsets[sample.subset], [sample.index]).samples()
    visual = visualizer.function(**arguments)
    reason = wrong_visual(visualizer.visualizer_type, visual)
    if reason:
        raise BindingError(f"{visualizer.place}: {reason}")
    return visual


def _arrays(evaluation: Evaluation, sample: Sample) -> dict[str, Array]:
    found = {f"input.{name}": values for name, values in sample.inputs.items()}
    found |= {f"ground_truth.{name}": values for name, values in sample.ground_truths.items()}
    there = set(evaluation.column_names(sample.subset))
    for name in [f"prediction.{one}" for one in evaluation.source.predictions.values()]:
        values = evaluation.values(sample.subset, name, sample.index) if name in there else None
        if values is not None:
            found[name] = np.asarray(values)
    return found


def _size(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return len(value) if isinstance(value, str) else 8 * len(value) if isinstance(value, list) else 8
