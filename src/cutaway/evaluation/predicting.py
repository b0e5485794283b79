"""Asks the model for the predictions and latent vectors of a batch, and finds the sample on which it fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from cutaway.arrays import Array, BoolArray, Float32Array
from cutaway.errors import CutawayError, LayerUnavailable, ModelCrashed, ModelTimeout, place_of
from cutaway.evaluation.prepared import rows_not_finite
from cutaway.evaluation.wiring import Wiring
from cutaway.models import Model

__all__ = ["Predicted", "Predictor", "latent_layer_of"]


@dataclass(frozen=True)
class Predicted:
    """What the model said of a batch: a row for each sample where `good`; `errors` says why of the others."""

    good: BoolArray
    outputs: Mapping[str, Array] = field(default_factory=dict)
    latents: Float32Array | None = None
    errors: Mapping[int, str] = field(default_factory=dict)

    @property
    def not_finite(self) -> BoolArray:
        """Which of the good rows have a prediction that is not finite."""
        return rows_not_finite(self.outputs.values(), int(self.good.sum()))


def latent_layer_of(model: Model, asked: str | None) -> tuple[str | None, str]:
    """Return the layer of the latent space, and where there is none in words why. Raises for one that was asked for."""
    if asked is not None:
        known = [layer.name for layer in model.layers]
        if asked not in known:
            raise LayerUnavailable(asked, known)
        return asked, ""
    try:
        return model.latent_layer, ""
    except LayerUnavailable as error:
        return None, f"No latent vectors: {error}"


class Predictor:
    """A model, what goes into it, and the layer of its latent space."""

    def __init__(self, model: Model, wiring: Wiring, layer: str | None) -> None:
        self._model = model
        self._wiring = wiring
        self._layer = layer

    def batch_of(self, encoded: Mapping[str, Array]) -> dict[str, Array]:
        """Return what the encoders gave as the model takes it: by its inputs' names, channels where it has them."""
        return {name: _placed(encoded[wire.encoder], wire.move) for name, wire in self._wiring.inputs.items()}

    def predict(self, encoded: Mapping[str, Array]) -> Predicted:
        """Return what the model says of every sample; one on which it fails is found by asking for each alone."""
        rows = len(next(iter(encoded.values()))) if encoded else 0
        if not rows:
            return Predicted(np.zeros(0, np.bool_))
        try:
            outputs, latents = self._predict_batch(encoded)
        except (ModelCrashed, ModelTimeout):
            raise
        except Exception as error:  # noqa: BLE001 - a live model may raise anything; which sample it was comes out next
            return (
                Predicted(np.zeros(1, np.bool_), errors={0: said(error)}) if rows == 1 else self._singly(encoded, rows)
            )
        return Predicted(np.ones(rows, np.bool_), outputs, latents)

    def _singly(self, encoded: Mapping[str, Array], rows: int) -> Predicted:
        singles = [
            self.predict({name: values[row : row + 1] for name, values in encoded.items()}) for row in range(rows)
        ]
        good = np.array([bool(single.good[0]) for single in singles])
        errors = {row: single.errors[0] for row, single in enumerate(singles) if single.errors}
        kept = [single for single in singles if single.good[0]]
        if not kept:
            return Predicted(good, errors=errors)
        outputs = {name: np.concatenate([one.outputs[name] for one in kept]) for name in kept[0].outputs}
        latents = [one.latents for one in kept if one.latents is not None]
        return Predicted(good, outputs, np.concatenate(latents) if latents else None, errors)

    def _predict_batch(self, encoded: Mapping[str, Array]) -> tuple[dict[str, Array], Float32Array | None]:
        batch = self.batch_of(encoded)
        named = self._wiring.predictions
        if self._layer is None:
            outputs = self._model.predict(batch)
            return {named[name]: values for name, values in outputs.items()}, None
        outputs, layers = self._model.predict_with(batch, [self._layer])
        latents = self._model.vectors(self._layer, layers[self._layer])
        return {named[name]: values for name, values in outputs.items()}, latents


def said(error: Exception) -> str:
    """Return why the model failed, in words."""
    if isinstance(error, CutawayError):
        return f"the model failed: {error}"
    return f"the model failed: {place_of(error)}: {type(error).__name__}: {error}"


def _placed(values: Array, move: str) -> Array:
    """Return a batch with its channels where the model has them."""
    if not move:
        return values
    return np.moveaxis(values, -1, 1) if move == "first" else np.moveaxis(values, 1, -1)
