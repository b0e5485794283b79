"""What a model says to a file that somebody brought: its answer, where it looked, and which samples are like it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cutaway.analysis.population.asking_model import output_of
from cutaway.analysis.population.heat_map_choice import kept_choice
from cutaway.analysis.population.population import Population
from cutaway.arrays import Array
from cutaway.errors import ConfigurationError, CutawayError, did_you_mean
from cutaway.evaluation.reopening import Reopened, Sample
from cutaway.evaluation.wiring import first_sample
from cutaway.run.evaluated import ModelAnswer
from cutaway.studio.workers.questions.heat_maps import first_map, map_value
from cutaway.studio.workers.questions.latents import similar_value
from cutaway.studio.workers.questions.uploads import fitted_upload
from cutaway.studio.workers.questions.visuals import guessed_row

__all__ = ["tried"]

MOST_VALUES = 1_000
_SIMILAR = 20


def tried(population: Population, reopened: Reopened, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the model says to `body`; `target` names the class that is explained instead of the predicted one."""
    inputs = reopened.dataset.inputs
    if len(inputs) != 1:
        raise ConfigurationError(
            f"The model takes {len(inputs)} inputs at once, and a file is one.", hint="Try a sample instead."
        )
    field = inputs[0]
    values, notes = fitted_upload(bytes(arguments["body"]), field, first_sample(reopened.dataset).inputs[field.name])
    origin = population.origin
    assert origin is not None  # it is a run's population
    batch = reopened.batch_of({field.name: values[np.newaxis]})
    outputs = reopened.model.predict(batch)
    output = output_of(origin, reopened)
    classes = origin.answer.classes
    scores = _scores(origin.answer, outputs[output][0])
    sample = Sample("the file", next(iter(reopened.dataset.subsets)), 0, {field.name: values}, {})
    target = str(arguments.get("target") or "")
    choice = kept_choice(origin)
    first = None if choice is None else choice.method
    heat, why = _heat(reopened, batch, sample, output=output, classes=classes, target=target, first=first)
    similar, alike = _similar(population, {field.name: values})
    return {
        "prediction": None if scores is None else classes[int(np.argmax(scores))],
        "scores": [] if scores is None else [float(one) for one in scores],
        "classes": list(classes),
        "outputs": {
            reopened.wiring.predictions[name]: np.asarray(one[0], np.float64).reshape(-1)[:MOST_VALUES].tolist()
            for name, one in outputs.items()
        },
        "input": guessed_row(field, values),
        "heat_map": heat,
        "similar": similar,
        "notes": [*notes, *why, *alike],
    }


def _scores(answer: ModelAnswer, given: Array) -> Array | None:
    """Return the probabilities of the classes; None where the answer is not one class."""
    values = np.asarray(given, np.float64).reshape(-1)
    if not answer.classes or values.size != len(answer.classes) or not np.isfinite(values).all():
        return None
    return answer.likely(values)


def _heat(
    reopened: Reopened,
    batch: dict[str, Array],
    sample: Sample,
    *,
    output: str,
    classes: Sequence[str],
    target: str,
    first: str | None,
) -> tuple[dict[str, Any] | None, list[str]]:
    if target and target not in classes:
        raise ConfigurationError(f"There is no class {target!r}.", hint=did_you_mean(target, classes))
    made, reasons = first_map(reopened.model, batch, output, classes.index(target) if target else None, first=first)
    if made is None:
        return None, [f"No heat map: {' '.join(reasons)}"]
    return map_value(made, classes, reopened, sample), []


def _similar(population: Population, inputs: Mapping[str, Array]) -> tuple[dict[str, Any] | None, list[str]]:
    try:
        return similar_value(population.similar_to_input(inputs, _SIMILAR)), []
    except CutawayError as error:
        return None, [str(error)]
