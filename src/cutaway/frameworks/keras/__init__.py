"""Keras 3 on TensorFlow or torch: `.keras` and `.h5` files, looked into before Keras sees them, and live models."""
