"""TensorFlow: SavedModel folders as models, and what Keras on TensorFlow shares with them."""
