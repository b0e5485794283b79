"""TensorFlow: SavedModel folders as models, and what Keras on TensorFlow shares with them."""

from __future__ import annotations

__all__: list[str] = []
