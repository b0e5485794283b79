"""Questions about single samples that go to the model of a run: the gradient of its latent layer, and new inputs.

Finds the samples and encodes them anew; heat maps are asked for in `asking_heat_maps`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cutaway.analysis.samples import SUBSET, Samples
from cutaway.analysis.samples.origin import Origin
from cutaway.arrays import Array, Float32Array
from cutaway.errors import (
    AnalysisUnavailable,
    BindingError,
    ConfigurationError,
    EvaluationError,
    GradientUnavailable,
    ModelError,
)
from cutaway.evaluation.defaults import default_loss
from cutaway.evaluation.reopening import Reopened, Sample
from cutaway.models.backend import LOSSES
from cutaway.run.evaluations import LATENT, added_spaces
from cutaway.run.layer_spaces import are_scales
from cutaway.run.sources import Pair, SpaceSource

__all__ = ["encoded_samples", "latent_gradient", "latent_of_input", "loss_and_labels", "output_of"]


def encoded_samples(origin: Origin, samples: Samples, rows: Sequence[int]) -> list[Sample]:
    """Encode samples anew, checked to have the content that was evaluated."""
    reopened = origin.reopened()
    subsets = [str(samples.table[SUBSET][row].as_py()) for row in rows]
    tables = {name: origin.evaluation.ids(name) for name in set(subsets)}
    return [
        reopened.sample(subset, tables[subset].index(samples.ids[row]))
        for row, subset in zip(rows, subsets, strict=True)
    ]


def output_of(origin: Origin, reopened: Reopened) -> str:
    """Return the output of the model that the population's predictions come from."""
    by_prediction = {prediction: output for output, prediction in reopened.wiring.predictions.items()}
    first = next(iter(by_prediction.values()))
    return by_prediction.get(origin.answer.prediction or "", first)


def latent_of_input(origin: Origin, inputs: Array | Mapping[str, Array]) -> Float32Array:
    """Return the latent vector of a new sample, given as the encoders give one."""
    reopened = origin.reopened()
    names = [one.name for one in reopened.dataset.inputs]
    given = dict(inputs) if isinstance(inputs, Mapping) else {names[0]: inputs}
    missing = [name for name in names if name not in given]
    if missing:
        raise ConfigurationError(
            f"A new sample needs the inputs {', '.join(names)}, but {', '.join(missing)} is missing."
        )
    batch = reopened.batch_of({name: np.asarray(given[name])[np.newaxis] for name in names})
    layers, scales = _layers(origin)
    found = reopened.model.activations(batch, layers)
    parts = [reopened.model.vectors(name, found[name])[0] / scale for name, scale in zip(layers, scales, strict=True)]
    return np.concatenate(parts).astype(np.float32)


def latent_gradient(origin: Origin, samples: Samples, row: int) -> tuple[Float32Array | None, str]:
    """Return the gradient of a sample's score by its latent vector; None, and why, where there is none to be had."""
    try:
        layers, scales = _layers(origin)
        reopened = origin.reopened()
        batch = reopened.batch(encoded_samples(origin, samples, [row]))
        parts = []
        for name, scale in zip(layers, scales, strict=True):
            gradient = reopened.model.gradient(batch, output_of(origin, reopened), wrt=name).gradient
            # A latent vector is the mean over places: what it passes on is the sum of the gradients over them.
            axis = next(layer.channel_axis for layer in reopened.model.layers if layer.name == name)
            channels = np.moveaxis(gradient, axis, 1) if gradient.ndim > 1 else gradient[:, None]
            parts.append(channels.reshape(*channels.shape[:2], -1).sum(axis=2)[0] * scale)
    except (AnalysisUnavailable, GradientUnavailable, ModelError, BindingError, EvaluationError) as error:
        return None, str(error)
    found = np.concatenate(parts).astype(np.float32)
    return (found, "") if np.isfinite(found).all() else (None, "The gradient is not finite.")


def _layers(origin: Origin) -> tuple[list[str], list[float]]:
    """Return the layers of the latent space and how each was scaled. Raises for spaces of users' own functions."""
    added: dict[str, Any]
    if origin.space == LATENT:
        layer = origin.evaluation.source.spaces.get(LATENT, SpaceSource()).layer
        added = {"layers": [layer], "scales": [1.0]}
    else:
        added = added_spaces(origin.evaluation).get(origin.space, {})
    layers, scales = added.get("layers"), added.get("scales")
    if not isinstance(layers, list) or not all(isinstance(one, str) for one in layers):
        raise AnalysisUnavailable(
            "latent vector of an input",
            f"space {origin.space!r} is a function of the binding, not layers of the model.",
        )
    if not are_scales(scales, len(layers)):
        raise EvaluationError(f"'spaces.json' of evaluation {origin.evaluation.number} has no scales of the layers.")
    return layers, [float(one) for one in scales or ()]


def loss_and_labels(origin: Origin, encoded: Sequence[Sample]) -> tuple[str, Array]:
    """Return the loss that can be differentiated, and the ground truths of some samples."""
    truth = origin.answer.truth
    if truth is None or any(truth not in one.ground_truths for one in encoded):
        raise AnalysisUnavailable("loss heat map", "there is no ground truth that the prediction is compared with.")
    source = origin.evaluation.source
    named = next((one for one in source.losses if one in LOSSES), None)
    loss = named or default_loss(source.pairs.get(origin.answer.prediction or "", Pair()))
    if loss is None or loss not in LOSSES:
        raise AnalysisUnavailable(
            "loss heat map", f"the loss of this evaluation, {loss}, is none of {', '.join(LOSSES)}."
        )
    return loss, np.stack([one.ground_truths[truth] for one in encoded])
