"""Trains a small network on the binding's own training subset and saves it as a Keras file.

    python train_model.py

writes `model.keras`. Seeds are fixed: the file that lies here came from it.
"""

import os
from pathlib import Path

# One thread adds up in one order.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from leap_binder import preprocess, state, vibration
from machine import CHANNELS, LABELS, LENGTH

HERE = Path(__file__).parent
EPOCHS = 50


def network() -> keras.Model:
    """Three convolutions over time, and the mean over all times."""
    return keras.Sequential(
        [
            keras.Input((LENGTH, CHANNELS), name="vibration"),
            keras.layers.Conv1D(16, 9, strides=2, padding="same", activation="relu", name="waves_1"),
            keras.layers.Conv1D(24, 7, strides=2, padding="same", activation="relu", name="waves_2"),
            keras.layers.Conv1D(32, 5, padding="same", activation="relu", name="waves_3"),
            keras.layers.GlobalAveragePooling1D(name="mean"),
            keras.layers.Dense(len(LABELS), activation="softmax", name="prediction"),
        ]
    )


def main() -> None:
    """Train, print how good the network is, and write it."""
    arrays = {
        subset.state.name: (
            np.stack([vibration(index, subset) for index in range(subset.length)]),
            np.stack([state(index, subset) for index in range(subset.length)]),
        )
        for subset in preprocess()
    }
    keras.utils.set_random_seed(0)
    model = network()
    loss = keras.losses.CategoricalCrossentropy(label_smoothing=0.05)
    model.compile(keras.optimizers.Adam(3e-3), loss=loss, metrics=["accuracy"])
    model.fit(*arrays["training"], batch_size=64, epochs=EPOCHS, verbose=0)
    for name, (x, y) in arrays.items():
        print(f"{name}: {model.evaluate(x, y, verbose=0)[1]:.1%} of {len(y):,} as labelled")
    # A copy that was never compiled: nobody needs the optimizer's state.
    bare = network()
    bare.set_weights(model.get_weights())
    bare.save(HERE / "model.keras")


if __name__ == "__main__":
    main()
