"""A Keras model that computes with shuffled weights, while the model itself stays as it is: nothing is assigned."""

from __future__ import annotations

from typing import Any

import keras

from cutaway.models.random_weights import shuffled_all

__all__ = ["Reweighted"]


class Reweighted:
    """A model to be called like the one that it is made of, which then sees other values in its variables."""

    def __init__(self, model: Any, seed: int) -> None:
        self._model = model
        variables = {str(i): one for i, one in enumerate(model.weights) if keras.backend.is_float_dtype(one.dtype)}
        anew = shuffled_all({key: keras.ops.convert_to_numpy(one) for key, one in variables.items()}, seed)
        self._state = [(variables[key], keras.ops.convert_to_tensor(values)) for key, values in anew.items()]

    @property
    def run_eagerly(self) -> bool:
        """Whether the model is never compiled."""
        return bool(getattr(self._model, "run_eagerly", False))

    def __call__(self, given: Any, *, training: bool) -> Any:
        """Return what the model returns with these weights."""
        with keras.StatelessScope(state_mapping=self._state):
            return self._model(given, training=training)
