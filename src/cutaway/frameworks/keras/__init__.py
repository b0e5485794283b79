"""Keras 3 on TensorFlow or torch: `.keras` and `.h5` files, looked into before Keras sees them, and live models."""

from __future__ import annotations

__all__: list[str] = []
