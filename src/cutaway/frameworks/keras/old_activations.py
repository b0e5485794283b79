"""Activations that have the same name in Keras 2 and in Keras 3, and give other numbers."""

from __future__ import annotations

from typing import Any

import keras

__all__ = ["hard_sigmoid_of_keras_2"]


def hard_sigmoid_of_keras_2(x: Any) -> Any:
    """Return `0.2 x + 0.5` between 0 and 1; Keras 3 takes `x / 6 + 0.5`. Old recurrent layers have it by default."""
    return keras.ops.clip(0.2 * x + 0.5, 0.0, 1.0)
